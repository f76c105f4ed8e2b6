"""`/metrics` and `/healthz` over HTTP (S1.11, S11)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest

from simulator.core.behavior import Behavior
from simulator.core.machine import TopologyOptions
from simulator.core.transitions import NodeName
from simulator.errors import ConfigError, ServerError
from simulator.wire.metrics import KubeletMetrics, RebindMetrics
from simulator.wire.metrics_pages import MetricsPages
from simulator.wire.status_pages import (
    HealthCheck,
    HttpAddress,
    StatusServer,
    parse_http_address,
)

FAILED = (
    "device registration error: device plugin registration gRPC server failed and no device "
    "plugins can register"
)


class Site:
    """A running server, and what its checks say."""

    def __init__(self) -> None:
        self.error = ""
        pages = MetricsPages(RebindMetrics())
        pages.put(NodeName("n0"), KubeletMetrics(Behavior(), TopologyOptions()))
        self.server = StatusServer(
            HttpAddress("127.0.0.1", 0), pages, lambda: [HealthCheck("device-plugin", self.error)]
        )

    async def send(self, request: bytes) -> bytes:
        address = self.server.address
        reader, writer = await asyncio.open_connection(address.host, address.port)
        writer.write(request)
        async with asyncio.timeout(60):
            answer = await reader.read()
        writer.close()
        await writer.wait_closed()
        return answer

    async def get(self, path: str, method: str = "GET") -> tuple[int, str]:
        """Return the status and the content."""
        answer = await self.send(f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        head, _, content = answer.partition(b"\r\n\r\n")
        return int(head.split()[1]), content.decode()


@asynccontextmanager
async def site() -> AsyncIterator[Site]:
    made = Site()
    await made.server.start()
    yield made
    await made.server.close()


def test_the_pages_of_metrics() -> None:
    async def scenario() -> None:
        async with site() as one:
            status, everything = await one.get("/metrics")
            assert status == 200
            assert "kubelet_topology_manager_admission_requests_total 0.0" in everything
            assert "rebind_store_commits_total 0.0" in everything
            status, kubelet = await one.get("/metrics/n0")
            assert status == 200
            assert "rebind_" not in kubelet
            assert (await one.get("/metrics/n1"))[0] == 404
            assert await one.get("/metrics", "HEAD") == (200, "")
            answer = await one.send(b"GET /metrics HTTP/1.1\r\n\r\n")
            assert b"Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n" in answer

    asyncio.run(scenario())


def test_healthz_tells_what_has_failed() -> None:
    """S1.11."""

    async def scenario() -> None:
        async with site() as one:
            assert await one.get("/healthz") == (200, "ok")
            assert await one.get("/healthz/device-plugin") == (200, "ok")
            assert await one.get("/healthz?verbose") == (
                200,
                "[+]ping ok\n[+]device-plugin ok\nhealthz check passed\n",
            )
            one.error = FAILED
            assert await one.get("/healthz") == (
                500,
                f"[+]ping ok\n[-]device-plugin failed: {FAILED}\nhealthz check failed\n",
            )
            assert await one.get("/healthz/device-plugin") == (
                500,
                f"internal server error: {FAILED}\n",
            )
            assert (await one.get("/healthz/other"))[0] == 404

    asyncio.run(scenario())


def test_bad_requests_do_no_harm() -> None:
    async def scenario() -> None:
        async with site() as one:
            assert (await one.get("/"))[0] == 404
            assert (await one.get("//"))[0] == 404
            assert (await one.get("/metrics", "POST"))[0] == 501
            assert await one.send(b"GET " + b"x" * 20_000 + b" HTTP/1.1\r\n\r\n") == b""
            assert b"400" in await one.send(b"nonsense\r\n\r\n")
            assert b"505" in await one.send(b"GET / HTTP/9.9\r\n\r\n")
            many = b"".join(b"X-%d: 1\r\n" % number for number in range(200))
            assert b"431" in await one.send(b"GET / HTTP/1.1\r\n" + many + b"\r\n")
            assert await one.get("/healthz") == (200, "ok")

    asyncio.run(scenario())


def test_connections_are_bounded_and_broken_off_at_the_end() -> None:
    async def scenario() -> None:
        async with site() as one:
            address = one.server.address
            waiting = [await asyncio.open_connection(address.host, address.port) for _ in range(65)]
            reader, refused = waiting.pop()
            async with asyncio.timeout(60):
                assert await reader.read() == b""
            refused.close()
            await refused.wait_closed()
            assert not any(reader.at_eof() for reader, _ in waiting)
        for reader, writer in waiting:
            with suppress(ConnectionResetError):
                assert await reader.read() == b""
            writer.close()
            with suppress(ConnectionResetError):
                await writer.wait_closed()

    asyncio.run(scenario())


def test_an_address_that_is_in_use_is_named() -> None:
    async def scenario() -> None:
        async with site() as one:
            other = StatusServer(one.server.address, MetricsPages(RebindMetrics()), list)
            with pytest.raises(ServerError, match=r"no pages can be served on .*in use"):
                await other.start()
            await other.close()

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("127.0.0.1:9180", HttpAddress("127.0.0.1", 9180)),
        ("localhost:0", HttpAddress("127.0.0.1", 0)),
        ("[::1]:9180", HttpAddress("::1", 9180)),
        ("127.9.9.9:1", HttpAddress("127.9.9.9", 1)),
    ],
)
def test_loopback_addresses_are_taken(text: str, address: HttpAddress) -> None:
    assert parse_http_address(text) == address


@pytest.mark.parametrize(
    "text", ["0.0.0.0:9180", "[::]:9180", "192.0.2.1:80", "example.com:80", ":80"]
)
def test_no_page_is_served_beyond_loopback(text: str) -> None:
    with pytest.raises(
        ConfigError, match=r"only loopback addresses are allowed; use 127\.0\.0\.1:"
    ):
        parse_http_address(text)


@pytest.mark.parametrize(
    "text", ["", "127.0.0.1", "9180", "127.0.0.1:x", "127.0.0.1:65536", "::1:"]
)
def test_an_address_needs_a_port(text: str) -> None:
    with pytest.raises(
        ConfigError, match=r"is no address for pages; write e\.g\. 127\.0\.0\.1:9180"
    ):
        parse_http_address(text)


def test_an_address_as_a_url() -> None:
    assert HttpAddress("::1", 80).url == "http://[::1]:80"
