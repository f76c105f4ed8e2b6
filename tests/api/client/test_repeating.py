"""What a server refuses for now is asked for again when it says so."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import pytest

from simulator.api.client.backing_off import BackOff
from simulator.api.client.endpoint import ApiEndpoint, endpoint_at
from simulator.api.client.http import Answer, HttpClient
from tests.live.remote.strict import Refuse, StrictCluster, strict_server


def answered(cluster: StrictCluster) -> Answer:
    """Ask once for a pod that is there."""
    cluster.put(("pods", "default", "a"), {"spec": {}})

    async def run(url: str) -> Answer:
        client = HttpClient(endpoint_at(url))
        try:
            return await client.ask("GET", "/api/v1/namespaces/default/pods/a")
        finally:
            await client.close()

    with strict_server(cluster) as url:
        return asyncio.run(run(url))


@pytest.mark.parametrize(
    ("code", "headers", "asked"),
    [
        (429, {"Retry-After": "0"}, 2),
        (503, {"Retry-After": "0"}, 2),
        (503, {}, 1),
        (503, {"Retry-After": "Tue, 01 Dec 2026 10:00:00 GMT"}, 1),
        (429, {"Retry-After": "3600"}, 1),
        (409, {"Retry-After": "0"}, 1),
    ],
)
def test_who_is_told_when_to_come_again_does(
    code: int, headers: Mapping[str, str], asked: int
) -> None:
    """As client-go: 429 and 5xx with `Retry-After` in seconds; an hour is not waited for."""
    cluster = StrictCluster()
    cluster.then("get pods", Refuse(code, headers=headers))

    answer = answered(cluster)

    assert cluster.counted()["get pods"] == asked
    assert answer.code == (200 if asked > 1 else code)


def test_the_pause_is_what_the_server_asks_for() -> None:
    cluster = StrictCluster()
    cluster.then("get pods", Refuse(429, headers={"Retry-After": "1"}))

    assert answered(cluster).code == 200
    [first, second] = [each.at for each in cluster.asked]
    assert 1.0 <= second - first < 10


def test_a_server_that_asks_for_it_again_and_again_is_left_alone_in_the_end() -> None:
    """Ten times (client-go)."""
    cluster = StrictCluster()
    cluster.then("get pods", *[Refuse(429, headers={"Retry-After": "0"})] * 20)

    assert answered(cluster).code == 429
    assert cluster.counted()["get pods"] == 11


def test_a_stream_that_is_refused_for_an_old_token_is_opened_with_a_fresh_one() -> None:
    """Tokens of clusters in clouds run out after minutes; watches are opened anew every five."""
    cluster = StrictCluster(token="new")  # noqa: S106 - of a test
    tokens = iter(["old", "new"])

    async def run(url: str) -> list[int]:
        client = HttpClient(ApiEndpoint(url=url, token=lambda: next(tokens)))
        codes = []
        try:
            for _ in range(2):
                query = {"watch": "true", "resourceVersion": "1"}
                async with client.lines("/api/v1/pods", query, seconds=60) as opened:
                    codes.append(opened.code if isinstance(opened, Answer) else 200)
        finally:
            await client.close()
        return codes

    with strict_server(cluster) as url:
        assert asyncio.run(run(url)) == [401, 200]


def test_pauses_grow_to_a_longest_one_and_are_spread() -> None:
    back_off = BackOff(1.0, 4.0)
    pauses = [back_off.pause_s() for _ in range(5)]
    back_off.reset()
    again = back_off.pause_s()

    least = [1.0, 2.0, 4.0, 4.0, 4.0]
    assert all(low <= pause <= 2 * low for low, pause in zip(least, pauses, strict=True))
    assert 1.0 <= again <= 2.0
    assert pauses[3] != pauses[4]
