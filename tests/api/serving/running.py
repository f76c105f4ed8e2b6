"""An API server in this process, on a loop of its own, as `rebind api serve` runs it."""

from __future__ import annotations

import asyncio
import http.client
import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, closing, contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from simulator.api.serving.limits import Limits
from simulator.api.serving.loops import new_loop
from simulator.api.serving.running import ApiServer, ApiSettings
from simulator.ports import Durability, Store
from store.committer import Committer
from store.sql_store import SqlStore
from tests.looping import opened_beside

DEADLINE_S = 60.0

Document: TypeAlias = Any
"""An object as JSON; a test looks wherever it likes."""


@dataclass
class Answer:
    """What a request was answered with."""

    code: int
    headers: Mapping[str, str]
    content: bytes

    @property
    def object(self) -> Document:
        """The body as JSON."""
        return json.loads(self.content)


@dataclass
class Api:
    """A client of a server, with one connection for each request.

    Attributes:
        url: Where the server is.
        headers: Sent with every request.
    """

    url: str
    headers: dict[str, str] = field(default_factory=dict)

    def connect(self) -> http.client.HTTPConnection:
        parts = urlsplit(self.url)
        return http.client.HTTPConnection(parts.hostname or "", parts.port or 0, timeout=20)

    def ask(
        self, method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        """Ask, with a body that is bytes or becomes JSON."""
        content = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        given = {"Content-Type": "application/json"} if content is not None else {}
        with closing(self.connect()) as connection:
            connection.request(method, path, content, {**given, **self.headers, **(headers or {})})
            response = connection.getresponse()
            return Answer(response.status, dict(response.getheaders()), response.read())

    def get(self, path: str) -> Document:
        """Return what is at a path, which must be there."""
        answer = self.ask("GET", path)
        assert answer.code == 200, answer.content
        return answer.object

    def create(self, path: str, body: object) -> Document:
        """Make an object, which must work."""
        answer = self.ask("POST", path, body)
        assert answer.code == 201, answer.content
        return answer.object

    @contextmanager
    def watch(self, path: str) -> Iterator[Iterator[Document]]:
        """Watch: iterate over events as they come."""
        with closing(self.connect()) as connection:
            connection.request("GET", path, headers=self.headers)
            response = connection.getresponse()
            assert response.status == 200, response.read()
            yield (json.loads(line) for line in _lines(response))


def _lines(response: http.client.HTTPResponse) -> Iterator[bytes]:
    rest = b""
    while piece := response.read1(1 << 20):
        *lines, rest = (rest + piece).split(b"\n")
        yield from lines


@contextmanager
def running_api(
    db: str = "sqlite://",
    *,
    limits: Limits | None = None,
    commit_batch: int = 512,
    unique_devices: bool = False,
) -> Iterator[Api]:
    """Run a server on a free port."""
    settings = ApiSettings("127.0.0.1", 0, limits=limits or Limits(), unique_devices=unique_devices)
    with (
        closing(SqlStore(db, durability=Durability.OFF)) as store,
        serving(store, settings, commit_batch=commit_batch) as url,
    ):
        yield Api(url)


@contextmanager
def serving(store: Store, settings: ApiSettings, *, commit_batch: int = 512) -> Iterator[str]:
    """Run a server over a store, in a thread of its own."""
    loop = new_loop()
    with opened_beside(loop, _server(store, settings, loop, commit_batch)) as url:
        yield url


@asynccontextmanager
async def _server(
    store: Store, settings: ApiSettings, loop: asyncio.AbstractEventLoop, commit_batch: int
) -> AsyncIterator[str]:
    def give(answers: list[Callable[[], None]]) -> None:
        for answer in answers:
            answer()

    def deliver(answers: list[Callable[[], None]]) -> None:
        loop.call_soon_threadsafe(give, answers)

    with closing(Committer(store, commit_batch=commit_batch, deliver=deliver)) as committer:
        server = ApiServer(store.objects, committer, settings)
        try:
            await server.start()
            yield server.url
        finally:
            await server.stop()
