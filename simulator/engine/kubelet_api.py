"""A kubelet's clients of the API server, each with a limit of its own (S12.1, S12.2).

Ordinary requests share one token bucket, events have another, and the heartbeat (node status and
lease) has none. Requests go out in the order in which they were made; one that waits for its token
holds up those behind it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from simulator.core.api_calls import (
    ApiAnsweredEach,
    ApiUnavailable,
    BindDevices,
    BindManyDevices,
    GetDeviceBinding,
    ListDeviceBindings,
    PutDeviceBinding,
    RemoveDeviceBinding,
    SentCall,
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
        self.when_allowed(lambda: self.send_now(request, reply))

    def when_allowed(self, action: Callable[[], None]) -> None:
        """Take a token and do `action` when it is there."""
        wait = Duration(0)
        if self._bucket is not None:
            wait, self._bucket = self._bucket.reserve(self._host.timeline.now())
        self._process.delayed(wait, action)

    def send_now(self, request: ApiRequest, reply: Callable[[RequestReply], None]) -> None:
        """Send a request whose token was taken."""
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


class BulkBinds:
    """Requests to bind devices that wait for a token together, and go out as one (`bulkBind`).

    Args:
        client: By which they go.
        most: Requests in one.
    """

    def __init__(self, client: ApiClient, most: int) -> None:
        self._client = client
        self._most = most
        self._waiting: deque[tuple[BindDevices, Callable[[RequestReply], None]]] = deque()
        self._is_planned = False

    def send(self, request: BindDevices, reply: Callable[[RequestReply], None]) -> None:
        """Send a request with those that wait with it."""
        self._waiting.append((request, reply))
        if not self._is_planned:
            self._is_planned = True
            self._client.when_allowed(self._send)

    def _send(self) -> None:
        taken = [self._waiting.popleft() for _ in range(min(self._most, len(self._waiting)))]
        self._is_planned = bool(self._waiting)
        if self._is_planned:
            self._client.when_allowed(self._send)
        if len(taken) == 1:
            self._client.send_now(*taken[0])
        else:
            many = BindManyDevices(tuple(request for request, _ in taken))
            self._client.send_now(many, partial(_answer_each, [reply for _, reply in taken]))


def _answer_each(waiting: Sequence[Callable[[RequestReply], None]], answer: RequestReply) -> None:
    """Give each its own answer, or all the failure of the whole."""
    if isinstance(answer, ApiAnsweredEach):
        for reply, own in zip(waiting, answer.replies, strict=True):
            reply(own)
    else:
        for reply in waiting:
            reply(answer)


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
        self._bulk = BulkBinds(self.main, chosen.bulk_bind)

    def ask(self, call: SentCall, reply: Callable[[RequestReply], None]) -> None:
        """Send a request of the persistence."""
        if isinstance(call, BindDevices) and call.bulk:
            self._bulk.send(call, reply)
        else:
            self.main.send(call, reply)

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
