"""A kubelet's clients of the API server, each with a limit of its own (S12.1, S12.2).

Ordinary requests share one token bucket, events have another, and the heartbeat (node status and
lease) has none. Requests go out in the order in which they were made; one that waits for its token
holds up those behind it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from simulator.core.api_calls import (
    ApiUnavailable,
    BindDevices,
    BindManyDevices,
    GetDeviceBinding,
    ListDeviceBindings,
    PutDeviceBinding,
    RemoveDeviceBinding,
)
from simulator.core.behavior import Behavior
from simulator.core.instants import Duration
from simulator.core.records import EventEmitted
from simulator.core.token_bucket import TokenBucket
from simulator.engine.api_requests import (
    ApiRequest,
    CreateEvent,
    PatchNodeStatus,
    PatchPodStatus,
    RenewLease,
    RequestReply,
    name_of,
)
from simulator.engine.faults import Op
from simulator.engine.host import Host
from simulator.engine.spec import ClientLimit
from simulator.engine.timeline import Process

_EFFECTS: Final[dict[type[object], Op]] = {
    PatchPodStatus: Op.STATUS_PATCH,
    BindDevices: Op.BIND_DEVICES,
    BindManyDevices: Op.BIND_DEVICES,
    PutDeviceBinding: Op.DEVICE_BINDING,
    GetDeviceBinding: Op.DEVICE_BINDING,
    RemoveDeviceBinding: Op.DEVICE_BINDING,
    ListDeviceBindings: Op.DEVICE_BINDING,
}
"""What faults know requests by; the others are no effects."""

_OF_NO_POD: Final = (
    BindManyDevices,
    ListDeviceBindings,
    PatchNodeStatus,
    RenewLease,
    CreateEvent,
)


class ApiClient:
    """One client: it holds requests back, counts them, and lets faults strike them.

    Args:
        host: Where the kubelet runs.
        process: Its life; what it has asked ends with it.
        limit: None for no limit.
    """

    def __init__(self, host: Host, process: Process, limit: ClientLimit | None) -> None:
        self._host = host
        self._process = process
        self._bucket: TokenBucket | None = None
        if limit is not None and limit.qps > 0:
            self._bucket = TokenBucket.full(
                per_second=limit.qps, burst=limit.burst, now=host.timeline.now()
            )

    def send(self, request: ApiRequest, reply: Callable[[RequestReply], None]) -> None:
        """Send a request when its turn has come."""
        wait = Duration(0)
        if self._bucket is not None:
            wait, self._bucket = self._bucket.reserve(self._host.timeline.now())
        self._process.delayed(wait, lambda: self._send(request, reply))

    def _send(self, request: ApiRequest, reply: Callable[[RequestReply], None]) -> None:
        host = self._host
        host.api_calls[name_of(request)] += 1
        op, target = _effect_of(request)
        if op is None:
            host.transport.send(host.name, request, self._if_alive(reply))
        else:
            host.injector.call(
                op,
                lambda answer: host.transport.send(host.name, request, answer),
                process=self._process,
                failure=_lost,
                resume=reply,
                target=target,
            )

    def _if_alive(self, reply: Callable[[RequestReply], None]) -> Callable[[RequestReply], None]:
        def answered(answer: RequestReply) -> None:
            if self._process.is_alive():
                reply(answer)

        return answered


class KubeletApi:
    """The clients of one kubelet process.

    Attributes:
        main: For everything that has no client of its own, pod status among it.
        heartbeat: For node status and lease.
    """

    def __init__(self, host: Host, process: Process, behavior: Behavior) -> None:
        chosen = host.run.api
        main = chosen.client or ClientLimit(behavior.api_qps, behavior.api_burst)
        self._host = host
        self.main = ApiClient(host, process, main)
        self.heartbeat = ApiClient(host, process, None)
        self._events = ApiClient(
            host, process, ClientLimit(behavior.event_qps, behavior.event_burst)
        )

    def post(self, event: EventEmitted) -> None:
        """Post an event; nobody waits for it, and one that fails is lost."""
        self._events.send(CreateEvent(self._host.name, event), lambda _: None)


def _lost(message: str) -> RequestReply:
    return ApiUnavailable(message)


def _effect_of(request: ApiRequest) -> tuple[Op | None, str]:
    """Return the effect that faults know a request by, and its target; None for none."""
    op = _EFFECTS.get(type(request))
    pod = None if isinstance(request, _OF_NO_POD) else request.pod
    return op, "" if pod is None else pod.name
