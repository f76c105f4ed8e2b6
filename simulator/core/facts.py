"""What the device manager is told by its kubelet: time, pods, and the runtime's snapshot.

The driver owns these facts and brings `now` up to date before every entry into the device manager
and before every resume of a decision.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableMapping
from dataclasses import dataclass, field

from typing_extensions import override

from simulator.core.instants import Instant
from simulator.core.pods import ContainerName, Pod, PodUid


@dataclass(frozen=True, slots=True)
class ContainerInstance:
    """A container that the runtime knew when the kubelet started (S5.5).

    Attributes:
        container_id: Several ids for one name are possible: an exited and a running one.
    """

    pod: PodUid
    container: ContainerName
    container_id: str
    running: bool


class ActivePods(MutableMapping[PodUid, Pod]):
    """The active pods in the order in which they became active (S6.5, S6.6).

    It remembers which pods left, so that releasing their devices costs what changed and not what
    the node runs.
    """

    __slots__ = ("_departed", "_pods")

    def __init__(self, pods: Iterable[Pod] = ()) -> None:
        self._pods: dict[PodUid, Pod] = {pod.uid: pod for pod in pods}
        self._departed: dict[PodUid, None] = {}

    @override
    def __getitem__(self, uid: PodUid) -> Pod:
        """Return the active pod `uid`."""
        return self._pods[uid]

    @override
    def __setitem__(self, uid: PodUid, pod: Pod) -> None:
        """Make `pod` active, at the end of the order if it is new."""
        self._pods[uid] = pod
        self._departed.pop(uid, None)

    @override
    def __delitem__(self, uid: PodUid) -> None:
        """Make the pod inactive; its devices are freed by the next release (S6.3)."""
        del self._pods[uid]
        self._departed[uid] = None

    @override
    def __contains__(self, uid: object) -> bool:
        """Tell whether the pod is active."""
        return uid in self._pods

    @override
    def __iter__(self) -> Iterator[PodUid]:
        """Iterate over the uids in order."""
        return iter(self._pods)

    @override
    def __len__(self) -> int:
        """Return the number of active pods."""
        return len(self._pods)

    def add(self, pod: Pod) -> None:
        """Make `pod` active."""
        self[pod.uid] = pod

    def take_departed(self) -> tuple[PodUid, ...]:
        """Return the pods that left and did not come back since the last call, in order."""
        departed = tuple(self._departed)
        self._departed.clear()
        return departed


@dataclass(slots=True)
class KubeletFacts:
    """What a kubelet process knows beside its device manager.

    Attributes:
        now: The present instant.
        sources_ready: Whether every pod source has delivered (S5.4).
        active_pods: See `ActivePods`.
        instances: The runtime's snapshot, taken once at kubelet start and never refreshed (S5.5).
    """

    now: Instant = Instant(0)
    sources_ready: bool = False
    active_pods: ActivePods = field(default_factory=ActivePods)
    instances: tuple[ContainerInstance, ...] = ()
