"""A kubelet's own view of its pods: the pod manager, which pods are active, and their statuses.

Kubelet: podManager, podWorkers' knowledge of termination, statusManager, and filterOutInactivePods
(S6.5).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum

from simulator.core.facts import ActivePods
from simulator.core.instants import Duration
from simulator.core.pods import Pod, PodUid
from simulator.core.resources import ResourceName
from simulator.engine.api import ApiPod, PodStatus
from simulator.engine.faults import Op
from simulator.engine.host import Host
from simulator.engine.latencies import STATUS_PATCH
from simulator.engine.spec import PodSpec
from simulator.engine.timeline import Process


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
        status: The kubelet's cached status.
        deleting: Whether the kubelet has seen a deletion timestamp.
        starting: Whether a container start is under way.
    """

    api: ApiPod
    status: PodStatus
    stage: Stage = Stage.QUEUED
    deleting: bool = False
    starting: bool = False

    @property
    def pod(self) -> Pod:
        """The pod's identity and containers."""
        return self.api.pod

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
        """Forget a pod: it is not active any more (a force-deleted one, S6.5)."""
        self._pods.pop(pod.uid, None)
        self._touch()
        self._leave(pod)

    def move(self, pod: LocalPod, stage: Stage) -> None:
        """Bring a pod to another stage."""
        pod.stage = stage
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


class StatusReporter:
    """Caches pod statuses and patches them into the API (S12.3, S12.4)."""

    def __init__(self, host: Host, process: Process) -> None:
        self._host = host
        self._process = process
        self._unsent: dict[PodUid, LocalPod] = {}

    @property
    def is_waiting(self) -> bool:
        """Whether a status that was changed is not in the API yet."""
        return bool(self._unsent)

    def set(self, pod: LocalPod, status: PodStatus) -> None:
        """Change a pod's status and send it, unless it is as it was."""
        if status != pod.status:
            pod.status = status
            self.send(pod)

    def send(self, pod: LocalPod) -> None:
        """Send a pod's cached status; several changes at once are one patch."""
        if pod.uid not in self._unsent:
            self._unsent[pod.uid] = pod
            self._process.after(STATUS_PATCH, lambda: self._when_reachable(pod))

    def finish(self, pod: LocalPod) -> None:
        """Delete the pod from the API for good, with its last status (S12.4)."""
        self._process.after(STATUS_PATCH, lambda: self._delete_when_reachable(pod))

    def _when_reachable(self, pod: LocalPod) -> None:
        self._host.api.when_reachable(self._host.name, lambda: self._patch(pod))

    def _patch(self, pod: LocalPod) -> None:
        if not self._process.is_alive():
            return
        verdict = self._host.injector.begin(Op.STATUS_PATCH, pod.pod.name)
        if not self._process.is_alive() or verdict.hung:
            return
        if verdict.error:
            self._process.after(
                Duration(verdict.delay + STATUS_PATCH), lambda: self._when_reachable(pod)
            )
            return
        self._unsent.pop(pod.uid, None)
        self._host.api.set_status(pod.uid, pod.status)
        self._host.injector.end(verdict)

    def _delete_when_reachable(self, pod: LocalPod) -> None:
        self._host.api.when_reachable(self._host.name, lambda: self._delete(pod))

    def _delete(self, pod: LocalPod) -> None:
        if self._process.is_alive():
            self._host.api.remove(pod.uid)
