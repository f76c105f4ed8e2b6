"""The API server of a cluster that has no real one: how long it takes, and when it cannot be asked.

It answers from the world's own objects (`simulator.engine.api`). A request is carried out at the
end of its latency; one whose node is cut off then is answered with an error, and was not.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from typing_extensions import override

from simulator.core.api_calls import ApiStored, ApiUnavailable
from simulator.core.instants import Duration
from simulator.core.transitions import NodeName
from simulator.engine.api import ApiServer
from simulator.engine.api_devices import not_found
from simulator.engine.api_objects import ApiPod
from simulator.engine.api_requests import (
    ApiRequest,
    CreateEvent,
    DeletePod,
    GetPod,
    PatchNodeStatus,
    PatchPodStatus,
    PodRead,
    RenewLease,
    RequestReply,
)
from simulator.engine.ports import ApiTransport
from simulator.engine.spec import SimulationSpec
from simulator.engine.streams import RandomStreams
from simulator.engine.timeline import Timeline

UNREACHABLE: Final = "the API server cannot be reached"

_Z_99: Final = 2.3263478740408408
"""The 99th percentile of the standard normal distribution."""


class ModelledApi(ApiTransport):
    """Carries the requests of all nodes of a world to its own objects.

    Args:
        run: The run's choices; how long a request takes is one of them.
        timeline: Its time.
        api: The objects.
    """

    def __init__(self, run: SimulationSpec, timeline: Timeline, api: ApiServer) -> None:
        self._timeline = timeline
        self._api = api
        self._latency = run.api
        self._streams = RandomStreams(run.seed)

    @override
    def send(
        self, node: NodeName, request: ApiRequest, reply: Callable[[RequestReply], None]
    ) -> None:
        def arrived() -> None:
            if self._api.is_reachable(node):
                reply(self._answer(request))
            else:
                reply(ApiUnavailable(UNREACHABLE))

        self._timeline.call_after(self._draw(node), arrived)

    def _draw(self, node: NodeName) -> Duration:
        """Draw from the lognormal distribution through the two percentiles."""
        latency = self._latency
        if latency.p99 <= latency.p50:
            return latency.p50
        sigma = math.log(latency.p99 / latency.p50) / _Z_99
        chance = self._streams.stream(f"api/{node}")
        return Duration(round(latency.p50 * math.exp(sigma * chance.gauss(0, 1))))

    def _answer(self, request: ApiRequest) -> RequestReply:
        match request:
            case GetPod() | PatchPodStatus() | DeletePod():
                return self._answer_about(self._api.pod(request.pod.uid), request)
            case PatchNodeStatus() | RenewLease() | CreateEvent():
                self._take(request)
                return ApiStored(self._api.revision)
            case _:
                return self._api.devices.answer(request)

    def _answer_about(
        self, pod: ApiPod | None, request: GetPod | PatchPodStatus | DeletePod
    ) -> RequestReply:
        if isinstance(request, GetPod):
            return PodRead(None) if pod is None else PodRead(pod.status, pod.status_devices)
        if pod is None:
            return not_found("pods", request.pod.name, gone=True)
        if isinstance(request, PatchPodStatus):
            self._api.set_status(pod.uid, request.status, request.devices)
        else:
            self._api.remove(pod.uid)
        return ApiStored(pod.revision)

    def _take(self, request: PatchNodeStatus | RenewLease | CreateEvent) -> None:
        """Take what a node says of itself; events are kept as records already."""
        match request:
            case PatchNodeStatus():
                self._api.report_node(
                    request.node,
                    capacity=request.capacity,
                    allocatable=request.allocatable,
                    boot_id=request.boot_id,
                )
            case RenewLease():
                self._api.renew_lease(request.node)
            case CreateEvent():
                pass
