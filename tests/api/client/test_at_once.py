"""How many requests of a client are under way together."""

from __future__ import annotations

import asyncio
import threading

import pytest

from simulator.api.client.endpoint import endpoint_at
from simulator.api.client.http import HttpClient
from simulator.api.dialect.documents import Object
from tests.api.client.fake import fake_server

REQUESTS = 6


@pytest.mark.parametrize(("at_once", "most"), [(1, 1), (2, 2), (None, REQUESTS)])
def test_so_many_requests_are_under_way_at_most(at_once: int | None, most: int) -> None:
    """Each answer waits for as many as may come together, so that they all meet."""
    together = threading.Barrier(most)
    under_way: set[int] = set()
    seen: list[int] = []

    def respond(method: str, path: str, body: Object) -> tuple[int, Object]:
        del method, path, body
        under_way.add(threading.get_ident())
        together.wait(timeout=20)
        seen.append(len(under_way))
        together.wait(timeout=20)
        under_way.discard(threading.get_ident())
        return 200, {}

    async def ask_all(url: str) -> None:
        client = HttpClient(endpoint_at(url), at_once=at_once)
        await asyncio.gather(*(client.ask("GET", "/version") for _ in range(REQUESTS)))
        await client.close()

    with fake_server(respond) as (url, _):
        asyncio.run(ask_all(url))

    assert seen == [most] * REQUESTS
