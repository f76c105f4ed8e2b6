"""The kubelet's limiter over HTTP (S12.1): of QPS 50 and burst 100, 100 + 50 t are served by t."""

from __future__ import annotations

import asyncio
import time
from functools import partial

import pytest

from simulator.api.client.endpoint import endpoint_at
from simulator.core.instants import SECOND, Instant
from simulator.core.pods import PodUid
from simulator.core.transitions import PodIdentity
from simulator.engine.api_requests import GetPod, PodRead, RequestReply
from simulator.live.remote.settings import RemoteSettings
from tests.api.serving.running import running_api
from tests.live.remote.proxy import Proxy
from tests.live.worlds import NODE, WITHIN, a_spec, a_world

TRIES = 20
"""A machine that stands still for a tenth of a second just then gets other ones."""
NOBODY = PodIdentity(PodUid("u"), "default", "nobody")


async def answer_times(url: str, *, rate: int, count: int, speed: float) -> list[float]:
    """Return when each of `count` requests at a rate is answered, in the node's seconds."""
    remote = RemoteSettings(endpoint_at(url))
    spec = a_spec(persistence="checkpoint", plugins=())
    async with a_world(spec, api=remote, start=Instant(time.time_ns()), speed=speed) as world:
        kubelet = world.nodes[NODE].kubelet
        assert kubelet is not None
        found: list[float] = []
        begun = world.now

        def answered(reply: RequestReply) -> None:
            assert reply == PodRead(None)
            found.append((world.now - begun) / SECOND)

        for number in range(count):
            due = Instant(begun + number * SECOND // rate)
            ask = partial(kubelet.api.main.send, GetPod(NOBODY), answered)
            world.timeline.call_at(due, ask)
        assert await world.until(lambda: len(found) == count, WITHIN)
        return found


def due(number: int) -> float:
    """Return when the bucket has a token for the n-th request."""
    return max(0.0, (number - 100) / 50)


async def times_on_the_wire(url: str, *, rate: int, count: int, speed: float) -> list[float]:
    """Return when each request comes to the server, in the node's seconds."""
    proxy = Proxy(url)
    async with proxy.serving() as through:
        answered = await answer_times(through, rate=rate, count=count, speed=speed)
    assert len(answered) == count
    came = [
        at
        for at, (_, path) in zip(proxy.came, proxy.requests, strict=True)
        if path.endswith(NOBODY.name)
    ]
    assert len(came) == count
    return [(at - came[0]) * speed for at in sorted(came)]


def test_the_limiter_lets_through_what_the_bucket_has() -> None:
    last = 0.0
    with running_api() as api:
        for _ in range(TRIES):
            came = asyncio.run(times_on_the_wire(api.url, rate=200, count=300, speed=2))
            last = came[-1]
            if last == pytest.approx(due(300), rel=0.05):
                return
    pytest.fail(f"the last of 300 came after {last} s instead of {due(300)} s")


@pytest.mark.soak
@pytest.mark.parametrize("rate", [100, 200])
def test_for_15_seconds_the_limiter_lets_through_what_the_bucket_has(rate: int) -> None:
    with running_api() as api:
        found = asyncio.run(answer_times(api.url, rate=rate, count=rate * 15, speed=1))

    for seconds in (5, 10, 15):
        served = sum(each <= seconds for each in found)
        assert served == pytest.approx(100 + 50 * seconds, rel=0.05)
