"""Admission of pods by a kubelet: one at a time, in order, each decided for good (S5.7 to S5.9).

The first batch after a start is sorted by creation time and handled while the config sources are
not ready (S5.4). What the device manager admits is still looked at by the node accounting of the
predicates (S5.8, S13.3).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import replace

from simulator.core.instants import Duration, Instant
from simulator.core.node_resources import admit_by_account, counted_requests
from simulator.core.refusals import Admission
from simulator.engine.api_objects import PENDING, ApiPod, PodStatus
from simulator.engine.kubelet_parts import KubeletParts
from simulator.engine.local_pods import LocalPod, Stage
from simulator.engine.refused_pods import fail_refused


class PodAdmission:
    """The admission queue of one kubelet process.

    Args:
        parts: The kubelet.
        admitted: What happens to an admitted pod.
        rejected: What happens to a pod that was refused, after its status is set.
        ended: What happens to a pod that is not admitted, since it has ended already.
        batch_done: Called when the first batch is over and the sources are ready.
    """

    def __init__(
        self,
        parts: KubeletParts,
        *,
        admitted: Callable[[LocalPod], None],
        rejected: Callable[[LocalPod], None],
        ended: Callable[[LocalPod], None],
        batch_done: Callable[[], None],
    ) -> None:
        self._parts = parts
        self._host = parts.host
        self._driver = parts.driver
        self._manager = parts.manager
        self._facts = parts.facts
        self._behavior = parts.behavior
        self._pods = parts.pods
        self._statuses = parts.statuses
        self._loop = parts.loop
        self._admitted = admitted
        self._rejected = rejected
        self._ended = ended
        self._batch_done = batch_done
        self._queue: deque[LocalPod | None] = deque()

    def admit_static_pods(self, pods: Iterable[ApiPod]) -> None:
        """Queue the pods of the node's files, oldest first, before any pod of the API (S5.3).

        A file has no status: how the pod ended before is forgotten [?]; that it ran is not, for the
        runtime has its containers.
        """
        for api in sorted(pods, key=lambda each: each.pod.created):
            phase = PENDING if api.status.is_terminal else api.status.phase
            status = PodStatus(phase, restarts=api.status.restarts)
            local = LocalPod(api, status, deleting=api.deleting)
            self._pods.add(local)
            self._queue.append(local)
        self._next_soon()

    def admit_first_batch(self, pods: Iterable[ApiPod]) -> None:
        """Queue the pods that the API knows for this node, oldest first (S5.3, S5.7).

        One that has ended is not admitted again; if it was deleted while no kubelet ran, nothing
        is left to be done for it but to delete it for good (S12.4).
        """
        for api in sorted(pods, key=lambda each: each.pod.created):
            if api.status.is_terminal and not self._behavior.terminated_pods_readmitted:
                local = LocalPod(api, api.status, deleting=api.deleting)
                self._pods.add(local)
                self._ended(local)
            else:
                self._enqueue(api)
        self._queue.append(None)
        self._next_soon()

    def admit(self, api: ApiPod) -> None:
        """Queue one pod."""
        self._enqueue(api)
        self._next_soon()

    def ask_again(self) -> None:
        """Queue the pods that wait for a plugin once more (`readmission: wait`)."""
        for local in self._pods:
            if local.stage is Stage.WAITING:
                local.stage = Stage.DECIDING
                self._queue.append(local)
        self._next_soon()

    def _enqueue(self, api: ApiPod) -> None:
        local = LocalPod(api, api.status, deleting=api.deleting)
        self._pods.add(local)
        self._queue.append(local)

    def _next_soon(self) -> None:
        """Go on with the queue in a new event, so that long queues do not nest."""
        if self._queue and not self._loop.is_admitting:
            self._loop.begin_admitting()
            self._driver.process.after(Duration(0), self._next)

    def _next(self) -> None:
        local = self._queue.popleft()
        if local is None:
            self._facts.sources_ready = True
            self._host.touch()
            self._batch_done()
            self._finish()
        else:
            self._pods.move(local, Stage.DECIDING)
            begun = self._host.timeline.now()
            self._driver.run(
                self._manager.admit(local.pod),
                lambda admission: self._decided(local, admission, begun),
            )

    def _finish(self) -> None:
        if self._queue:
            self._driver.process.after(Duration(0), self._next)
        else:
            self._loop.end_admitting()

    def _decided(self, local: LocalPod, admission: Admission, begun: Instant) -> None:
        self._host.decided(Duration(self._host.timeline.now() - begun))
        if admission.admitted:
            admission = self._check_node(local)
        self._act(local, admission)
        self._finish()

    def _act(self, local: LocalPod, admission: Admission) -> None:
        if admission.admitted:
            self._pods.move(local, Stage.ADMITTED)
            self._statuses.set(local, replace(local.status, waiting="", taken_up=True))
            self._admitted(local)
        elif admission.retry:
            self._pods.move(local, Stage.WAITING)
            self._statuses.set(local, replace(local.status, waiting=admission.message))
        else:
            self._reject(local, admission)

    def _reject(self, local: LocalPod, admission: Admission) -> None:
        fail_refused(self._parts, local, admission)
        self._rejected(local)

    def _check_node(self, local: LocalPod) -> Admission:
        """Compare with the Node object as the API has it, raised by what is allocated (S2.17)."""
        allocatable = self._manager.raise_allocatable(
            local.pod, self._host.api.node(self._host.name).allocatable
        )
        requests = counted_requests(local.api.request, allocatable=allocatable)
        used = {
            resource: self._pods.requested[resource] - requested
            for resource, requested in requests.items()
        }
        return admit_by_account(requests, used=used, allocatable=allocatable)
