"""The way of the kubelets' requests to their API server, watched.

Counts requests as they pass, beside the count that each kubelet keeps itself, and tells when the
devices of a pod can be read there: when the write that says them was answered.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Final

from typing_extensions import override

from benchmarks.results.rows import ApiCallCount
from simulator.core.api_calls import (
    ApiAnsweredEach,
    ApiStored,
    BindDevices,
    BindManyDevices,
    PutDeviceBinding,
)
from simulator.core.pods import ContainerName, PodUid
from simulator.core.resources import ResourceName
from simulator.core.transitions import DeviceBinding, NodeName
from simulator.engine.api_requests import ApiRequest, PatchPodStatus, RequestReply, name_of
from simulator.engine.ports import ApiTransport

Shown = tuple[PodUid, frozenset[tuple[ContainerName, ResourceName]]]
"""A pod, and for which of its containers and resources the devices can be read."""


_SAYING: Final = (BindManyDevices, BindDevices, PutDeviceBinding, PatchPodStatus)
"""Requests that may say something of pods' devices; most others are many."""


class WatchedApi(ApiTransport):
    """A transport around another one.

    Args:
        inner: The other one.
        calls: Counts requests by verb and kind.
        shown: Told of devices that can be read from now on.
    """

    def __init__(
        self, inner: ApiTransport, calls: Counter[str], shown: Callable[[Shown], None]
    ) -> None:
        self._inner = inner
        self._calls = calls
        self._shown = shown

    @override
    def send(
        self, node: NodeName, request: ApiRequest, reply: Callable[[RequestReply], None]
    ) -> None:
        """Send a request."""
        self._calls[name_of(request)] += 1
        if isinstance(request, _SAYING) and any(True for _ in _said(request)):
            reply = partial(self._answered, request, reply)
        self._inner.send(node, request, reply)

    def _answered(
        self, request: ApiRequest, reply: Callable[[RequestReply], None], answer: RequestReply
    ) -> None:
        if isinstance(answer, ApiStored):
            for shown in _said(request):
                self._shown(shown)
        elif isinstance(answer, ApiAnsweredEach):
            for shown, each in zip(_said(request), answer.replies, strict=True):
                if isinstance(each, ApiStored):
                    self._shown(shown)
        reply(answer)


def _said(request: ApiRequest) -> Iterator[Shown]:
    """Iterate over what a request says of pods' devices."""
    if isinstance(request, BindManyDevices):
        for each in request.requests:
            yield from _said(each)
    elif isinstance(request, BindDevices | PutDeviceBinding):
        yield request.pod.uid, _keys(request.bindings)
    elif isinstance(request, PatchPodStatus) and request.devices:
        yield request.pod.uid, _keys(request.devices)


def _keys(
    bindings: Iterable[DeviceBinding],
) -> frozenset[tuple[ContainerName, ResourceName]]:
    return frozenset((binding.container, binding.resource) for binding in bindings)


def counted(calls: Counter[str], before: Counter[str]) -> tuple[ApiCallCount, ...]:
    """Return what was called since `before`, by verb and kind, in order of name."""
    found = []
    for name, count in sorted((calls - before).items()):
        verb, _, kind = name.partition(" ")
        found.append(ApiCallCount(verb.lower(), kind, count))
    return tuple(found)
