"""A kubelet's own view of its pods: the pod manager, and which pods are active.

Kubelet: podManager, podWorkers' knowledge of termination, and filterOutInactivePods (S6.5).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum

from simulator.core.facts import ActivePods
from simulator.core.pods import Pod, PodUid
from simulator.core.resources import ResourceName
from simulator.engine.api_objects import ApiPod, PodStatus
from simulator.engine.spec import PodSpec


class Stage(Enum):
    """How far a kubelet has come with a pod."""

    QUEUED = "queued"
    """Seen, but not yet in the pod manager (S6.7)."""
    DECIDING = "deciding"
    """Being admitted: in the pod manager, hence active (S6.6)."""
    WAITING = "waiting"
    """Its admission is asked for again when the plugin is back (`readmission: wait`)."""
    ADMITTED = "admitted"
    REJECTED = "rejected"
    """Refused, and no pod worker knows it."""
    TERMINATING = "terminating"
    """A pod worker ends it; it counts as active until that is done (S6.5)."""
    TERMINATED = "terminated"


_ACTIVE = frozenset({Stage.DECIDING, Stage.WAITING, Stage.ADMITTED, Stage.TERMINATING})


@dataclass(eq=False)
class LocalPod:
    """One pod as this kubelet process knows it.

    Attributes:
        pod: Its identity and containers, as the kubelet has seen it last.
        status: The kubelet's cached status.
        deleting: Whether the kubelet has seen a deletion timestamp.
        starting: Whether a container start is under way; a pod that leaves `ADMITTED` gives it up.
        starts: How many container starts were begun so far.
    """

    api: ApiPod
    status: PodStatus
    stage: Stage = Stage.QUEUED
    deleting: bool = False
    starting: bool = False
    starts: int = 0
    pod: Pod = field(init=False)

    def __post_init__(self) -> None:
        """See the pod for the first time."""
        self.pod = self.api.pod

    @property
    def uid(self) -> PodUid:
        """The pod's uid."""
        return self.api.uid

    @property
    def spec(self) -> PodSpec:
        """What the pod was made from."""
        return self.api.spec


class LocalPods:
    """The pods of one kubelet process; keeps `active` in step with their stages.

    Args:
        active: The active pods, as the device manager is told.
        touch: Called when a pod comes to another stage or is forgotten.

    Attributes:
        requested: What the active pods ask for together, by resource (node accounting).
    """

    def __init__(self, active: ActivePods, touch: Callable[[], None]) -> None:
        self.requested: Counter[ResourceName] = Counter()
        self._active = active
        self._touch = touch
        self._pods: dict[PodUid, LocalPod] = {}

    def __iter__(self) -> Iterator[LocalPod]:
        """Iterate over the pods in the order in which they became known."""
        return iter(list(self._pods.values()))

    def get(self, uid: PodUid) -> LocalPod | None:
        """Return a pod; None when this kubelet does not know it."""
        return self._pods.get(uid)

    def is_active(self, uid: PodUid) -> bool:
        """Tell whether a pod counts as active (S6.5)."""
        return uid in self._active

    def add(self, pod: LocalPod) -> None:
        """Take up a pod."""
        self._pods[pod.uid] = pod

    def drop(self, pod: LocalPod) -> None:
        """Forget a pod: it is not active any more (a force-deleted one, S6.5).

        What is still under way for it, such as the start of a container, comes to nothing.
        """
        self._pods.pop(pod.uid, None)
        self.move(pod, Stage.TERMINATED)

    def move(self, pod: LocalPod, stage: Stage) -> None:
        """Bring a pod to another stage."""
        pod.stage = stage
        if stage is not Stage.ADMITTED:
            pod.starting = False
        self._touch()
        if stage not in _ACTIVE:
            self._leave(pod)
        elif pod.uid not in self._active:
            self._active.add(pod.pod)
            self.requested.update(pod.api.request)

    def _leave(self, pod: LocalPod) -> None:
        if pod.uid in self._active:
            del self._active[pod.uid]
            self.requested.subtract(pod.api.request)
