"""Servers are killed under load: nothing acknowledged is lost, no event is lost or comes twice."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.api.serving.process import Process, api_process
from tests.api.serving.running import Api, Document

BINDINGS = "/apis/rebind.internal/v1alpha1/namespaces/default/devicebindings"
WRITERS = 8
DEADLINE_S = 120.0

Seen = tuple[str, str, int]
"""An event: type, name and revision."""


async def connect(server: Process) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Connect, as soon as there is a server again."""
    while True:
        try:
            return await asyncio.open_connection("127.0.0.1", server.port, limit=1 << 20)
        except OSError:
            await asyncio.sleep(0.02)


def request(method: str, path: str, body: Document = None) -> bytes:
    content = b"" if body is None else json.dumps(body).encode()
    kind = "merge-patch+json" if method == "PATCH" else "json"
    head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/{kind}\r\n"
    return f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content


class Watcher:
    """Follows what happens from a revision on, over as many connections as it takes."""

    def __init__(self, server: Process, revision: int) -> None:
        self.server = server
        self.revision = revision
        self.seen: list[Seen] = []
        self.connections = 0

    async def run(self) -> None:
        while True:
            with suppress(OSError, asyncio.IncompleteReadError, ValueError):
                async for line in self._lines():
                    event = json.loads(line)
                    metadata = event["object"]["metadata"]
                    assert event["type"] in {"ADDED", "MODIFIED", "DELETED"}, event
                    self.revision = int(metadata["resourceVersion"])
                    self.seen.append((event["type"], metadata["name"], self.revision))

    async def _lines(self) -> AsyncIterator[bytes]:
        reader, writer = await connect(self.server)
        self.connections += 1
        try:
            path = f"{BINDINGS}?watch=true&resourceVersion={self.revision}"
            writer.write(request("GET", path))
            head = await reader.readuntil(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 200"), head
            rest = b""
            while size := int(await reader.readline(), 16):
                piece = await reader.readexactly(size + 2)
                *lines, rest = (rest + piece[:-2]).split(b"\n")
                for line in lines:
                    yield line
        finally:
            writer.close()


@dataclass
class Load:
    """Writers, and what was acknowledged to them."""

    server: Process
    acknowledged: list[Seen] = field(default_factory=list)
    is_over: bool = False

    async def write(self, number: int) -> None:
        """Create, label and delete objects; after a lost connection go on with another one."""
        count = 0
        while not self.is_over:
            reader, writer = await connect(self.server)
            with suppress(OSError, asyncio.IncompleteReadError):
                while not self.is_over:
                    count += 1
                    name = f"b{number}-{count}"
                    await self._one(reader, writer, name, count)
            writer.close()

    async def _one(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, name: str, count: int
    ) -> None:
        spec = {"podUID": name, "nodeName": "n0", "containers": []}
        steps: list[tuple[str, str, str, Document]] = [
            ("ADDED", "POST", BINDINGS, {"metadata": {"name": name}, "spec": spec})
        ]
        if count % 2:
            label = {"metadata": {"labels": {"count": str(count)}}}
            steps.append(("MODIFIED", "PATCH", f"{BINDINGS}/{name}", label))
        if count % 4 == 1:
            steps.append(("DELETED", "DELETE", f"{BINDINGS}/{name}", None))
        for kind, method, path, body in steps:
            writer.write(request(method, path, body))
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
            found = json.loads(await reader.readexactly(length))
            assert head.startswith((b"HTTP/1.1 200", b"HTTP/1.1 201")), head
            revision = int(found["metadata"].get("resourceVersion", 0))  # 0: a deletion says none.
            self.acknowledged.append((kind, name, revision))


async def survive(server: Process, *, watchers: int, kills: int, writes: int) -> None:
    """Kill a server again and again while it is written and watched, and check what was told."""
    api = Api(server.url)
    begun = int(api.get(BINDINGS)["metadata"]["resourceVersion"])
    following = [Watcher(server, begun) for _ in range(watchers)]
    load = Load(server)
    writing = [asyncio.create_task(load.write(number)) for number in range(WRITERS)]
    watching = [asyncio.create_task(watcher.run()) for watcher in following]
    loop = asyncio.get_running_loop()
    for _ in range(kills):
        wanted = len(load.acknowledged) + writes
        while len(load.acknowledged) < wanted:
            _raise_failures([*writing, *watching])
            await asyncio.sleep(0.01)
        await loop.run_in_executor(None, server.end)
        await loop.run_in_executor(None, server.start)
    load.is_over = True
    await asyncio.gather(*writing)
    listed = await loop.run_in_executor(None, api.get, BINDINGS)
    last = int(api.get(BINDINGS)["metadata"]["resourceVersion"])
    while any(watcher.revision < last for watcher in following):
        _raise_failures(watching)
        await asyncio.sleep(0.01)
    for task in watching:
        task.cancel()
    await asyncio.gather(*watching, return_exceptions=True)

    told = following[0].seen
    assert all(watcher.seen == told for watcher in following)
    assert all(watcher.connections > kills for watcher in following)
    revisions = [revision for _, _, revision in told]
    assert revisions == sorted(set(revisions))
    exact = set(told)
    by_name = {(kind, name) for kind, name, _ in told}
    for kind, name, revision in load.acknowledged:
        assert (kind, name, revision) in exact if revision else (kind, name) in by_name
    state: dict[str, int] = {}
    for kind, name, revision in told:
        assert (kind == "ADDED") == (name not in state)
        if kind == "DELETED":
            del state[name]
        else:
            state[name] = revision
    assert state == {
        each["metadata"]["name"]: int(each["metadata"]["resourceVersion"])
        for each in listed["items"]
    }


def _raise_failures(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        if task.done():
            task.result()


@pytest.mark.parametrize(
    ("watchers", "kills", "writes"),
    [(16, 2, 100), pytest.param(64, 5, 2_000, marks=pytest.mark.soak)],
)
def test_killed_servers_lose_no_acknowledged_write_and_no_event(
    tmp_path: Path, watchers: int, kills: int, writes: int
) -> None:
    with api_process(tmp_path, "--db", "sqlite:///api.db") as server:
        asyncio.run(
            asyncio.wait_for(
                survive(server, watchers=watchers, kills=kills, writes=writes), DEADLINE_S * kills
            )
        )


def test_a_killed_server_over_postgresql_loses_no_acknowledged_write_and_no_event(
    tmp_path: Path, postgres_url: str
) -> None:
    with api_process(tmp_path, "--db", postgres_url) as server:
        asyncio.run(asyncio.wait_for(survive(server, watchers=4, kills=1, writes=60), DEADLINE_S))
