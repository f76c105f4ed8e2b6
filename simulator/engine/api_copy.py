"""The world's objects as a copy of those of a real API server: what its watches show is put here.

It stands for the cache that each kubelet fills from its own watch (S12.7). A pod's revision is the
server's, so a kubelet knows its own write when it comes back. Nothing is put here but by a watch,
not even what a kubelet has just written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from simulator.core.instants import Duration
from simulator.core.pods import Pod, PodUid
from simulator.core.transitions import DeviceBinding, NodeName
from simulator.engine.api import ApiServer
from simulator.engine.api_objects import ApiPod, PodStatus
from simulator.engine.spec import PodSpec


@dataclass(frozen=True, slots=True)
class SeenPod:
    """A pod as a real API server shows it.

    Attributes:
        pod: Identity, containers, and the devices that the spec binds to them.
        node: None while it is bound to none.
        termination: How long its containers take to end.
        devices: What its status says of its devices.
        deleting: Whether it has a deletion timestamp.
        revision: Its resourceVersion.
    """

    pod: Pod
    node: NodeName | None
    restart_policy: str
    termination: Duration
    status: PodStatus
    devices: tuple[DeviceBinding, ...]
    deleting: bool
    revision: int


def pod_seen(seen: SeenPod) -> ApiPod:
    """Return the pod that is shown."""
    spec = PodSpec(
        seen.pod.name,
        replace(seen.pod, uid=PodUid("")),
        node=seen.node,
        restart_policy=seen.restart_policy,
        termination_grace=seen.termination,
    )
    return ApiPod(
        spec,
        seen.pod,
        seen.node,
        seen.status,
        deleting=seen.deleting,
        status_devices=seen.devices,
        revision=seen.revision,
    )


class ApiCopy:
    """Keeps a world's objects in step with a real API server.

    Args:
        api: The objects.
    """

    def __init__(self, api: ApiServer) -> None:
        self._api = api
        self._awaited: dict[tuple[str, str], ApiPod] = {}

    def await_pod(self, pod: ApiPod) -> None:
        """Know that a pod is being created there; the first one of its name is this one."""
        self._awaited[pod.pod.namespace, pod.pod.name] = pod

    def await_no_more(self, pod: ApiPod) -> None:
        """Know that a pod is not created after all."""
        key = (pod.pod.namespace, pod.pod.name)
        if self._awaited.get(key) is pod:
            del self._awaited[key]

    def saw(self, seen: SeenPod, *, is_list: bool = False) -> ApiPod:
        """Take over what is shown of a pod; an older state than the one that is known is not.

        Args:
            seen: The pod.
            is_list: Whether a list shows it: that is the truth whatever its revision, which is a
                lower one in a cluster that was set back to a backup of its store.
        """
        pod = self._api.pod(seen.pod.uid)
        if pod is None:
            return self._new(seen)
        if pod.revision < seen.revision or (is_list and pod.revision != seen.revision):
            self._update(pod, seen)
            self._api.tell(pod)
        return pod

    def gone(self, uid: PodUid, revision: int = 0) -> None:
        """Take over that a pod is not there any more."""
        pod = self._api.pod(uid)
        if pod is not None:
            pod.revision = max(pod.revision, revision)
            self._api.drop(uid)

    def keep_only(self, uids: Iterable[PodUid], within: Callable[[ApiPod], bool]) -> None:
        """Take over that of the pods `within`, no others than these are there any more."""
        there = set(uids)
        for pod in self._api.pods():
            if pod.uid not in there and within(pod) and not pod.spec.static:
                self.gone(pod.uid)

    def _new(self, seen: SeenPod) -> ApiPod:
        shown = pod_seen(seen)
        pod = self._awaited.pop((seen.pod.namespace, seen.pod.name), shown)
        if pod is not shown:
            pod.pod, pod.node = shown.pod, shown.node
            pod.status, pod.status_devices = shown.status, shown.status_devices
            pod.deleting, pod.revision = shown.deleting, shown.revision
            if shown.deleting:
                pod.spec = replace(pod.spec, termination_grace=seen.termination)
        self._api.place(pod)
        return pod

    def _update(self, pod: ApiPod, seen: SeenPod) -> None:
        if pod.pod != seen.pod:
            pod.pod = seen.pod
        if seen.node is not None and pod.node is None:
            self._api.put_on(pod, seen.node)
        if seen.deleting and not pod.deleting:
            pod.spec = replace(pod.spec, termination_grace=seen.termination)
        pod.deleting, pod.revision = seen.deleting, seen.revision
        self._api.revision = max(self._api.revision, seen.revision)
        if (pod.status, pod.status_devices) != (seen.status, seen.devices):
            self._api.note_status(pod, seen.status, seen.devices)
