"""The ASGI callable: from a request to its answer, without a framework in between."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from functools import lru_cache, partial
from typing import Final

from simulator.api.dialect import discovery, kinds
from simulator.api.dialect.authorization import ANONYMOUS, authorize, restrict
from simulator.api.dialect.documents import Object
from simulator.api.dialect.negotiation import Form, answer_form
from simulator.api.dialect.queries import flag, read_list_query
from simulator.api.dialect.routes import Route, find_resource, verb_of
from simulator.api.dialect.selectors import read_selection
from simulator.api.dialect.statuses import PathNotFoundError, StatusError, unauthorized
from simulator.api.serving.access import Access
from simulator.api.serving.calls import Call, Clock
from simulator.api.serving.committing import OK, Committing
from simulator.api.serving.exchange import ClientGoneError, Exchange, Receive, Scope, Send
from simulator.api.serving.gate import Gate, too_many_requests
from simulator.api.serving.limits import Limits
from simulator.api.serving.metrics import METRICS_TYPE, Metrics
from simulator.api.serving.objects import Objects
from simulator.api.serving.orders import Orders
from simulator.api.serving.readiness import Readiness
from simulator.api.serving.reads import check_present, found, listed
from simulator.api.serving.showing import Showing
from simulator.api.serving.stored import Stored, encoded_json
from simulator.api.serving.streaming import Streaming

TEXT: Final = "text/plain; charset=utf-8"
_HEALTH: Final = frozenset({"/healthz", "/livez", "/readyz"})
_OPEN: Final = _HEALTH | {"/version", "/version/"}
"""What one may ask without being known, as in Kubernetes (system:public-info-viewer)."""
_PATHS_KEPT: Final = 4_096
_PATH_KEPT_MAX: Final = 512
"""Longest path that is remembered."""
_RESOURCES: Final = ("/api/", "/apis/")
_READS: Final = frozenset({kinds.GET, kinds.LIST, kinds.WATCH})


@lru_cache(_PATHS_KEPT)
def _kept_target(method: str, path: str) -> tuple[Route, str]:
    return _target(method, path)


def _target(method: str, path: str) -> tuple[Route, str]:
    """Return what a path leads to and the verb of a request that is no watch.

    Raises:
        PathNotFoundError: It leads to no resource.
        StatusError: 405, which a watch of it is too.
    """
    route = find_resource(path)
    return route, verb_of(method, route)


class ApiApp:
    """Answers requests.

    Args:
        objects: The objects.
        access: Who may ask.
        limits: How much is taken.
        clock: The time.
        unique_devices: Whether no two pods of a node may be bound to one device.
    """

    def __init__(
        self,
        objects: Objects,
        *,
        access: Access,
        limits: Limits,
        clock: Clock,
        unique_devices: bool = False,
    ) -> None:
        self._gate = Gate(limits)
        self.metrics = Metrics(objects, self._gate)
        self._objects = objects
        self._access = access
        self._limits = limits
        self._clock = clock
        self._readiness = Readiness(objects, clock)
        self._is_ending = False
        self._orders = Orders(Committing(objects), self._gate, unique_devices=unique_devices)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request (ASGI)."""
        exchange = Exchange(scope, receive, send, self._limits)
        began = time.perf_counter()
        try:
            self._gate.enter()
            try:
                watch = await self._answered(exchange)
            finally:
                self._gate.leave()
            if watch is not None:
                await watch()
        except StatusError as error:
            await exchange.refuse(error)
        except PathNotFoundError:
            await exchange.answer(404, b"404 page not found\n", TEXT)
        except ClientGoneError:
            pass  # There is nobody to tell.
        finally:
            self.metrics.answered(exchange, time.perf_counter() - began)

    def end(self) -> None:
        """Let watches end: the server stops."""
        self._is_ending = True
        self._objects.hub.end_all()

    async def _answered(self, exchange: Exchange) -> Callable[[], Awaitable[None]] | None:
        """Answer a request, or return what answers it if that is a watch."""
        path = exchange.path
        if path in _HEALTH:
            await self._health(exchange)
            return None
        identity = self._access.identity(exchange)
        if identity is ANONYMOUS and path not in _OPEN:
            raise unauthorized()
        if not path.startswith(_RESOURCES):
            await self._page(exchange)
            return None
        target = _kept_target if len(path) <= _PATH_KEPT_MAX else _target
        try:
            route, verb = target(exchange.method, path)
        except PathNotFoundError:
            await self._page(exchange)
            return None
        pairs = exchange.parameters()
        if "watch" in pairs and flag(pairs, "watch"):
            verb = verb_of(exchange.method, route, is_watch=True)
        exchange.verb, exchange.resource = verb, route.kind.plural
        call = Call(exchange, route, verb, identity, pairs, self._clock())
        if verb in _READS:
            return await self._read(call)
        authorize(identity, verb, route, None)
        # Nothing is written that cannot be answered.
        form = answer_form(exchange.header(b"accept"))
        reply = await self._orders.handler(call)(call)
        headers = [(b"warning", b'299 - "%b"' % _quoted(text)) for text in reply.warnings]
        await exchange.answer(reply.code, self._shown(call, form, reply.content), headers=headers)
        return None

    async def _read(self, call: Call) -> Callable[[], Awaitable[None]] | None:
        route, objects = call.route, self._objects
        query = read_list_query(call.pairs)
        selection = read_selection(route.kind, query.labels, query.fields)
        authorize(call.identity, call.verb, route, selection)
        form = answer_form(call.exchange.header(b"accept"))
        showing = Showing(objects, form, query.include, call.now)
        if call.verb == kinds.WATCH:
            if len(objects.hub) >= self._limits.watches:
                raise too_many_requests()
            streaming = Streaming(objects, call, query, showing, self._limits)
            return partial(streaming.run, selection)
        if call.verb == kinds.GET:
            check_present(objects, query.revision)
            stored = found(objects, route)
            if call.identity.node:
                restrict(call.identity, call.verb, route, objects.document_of(stored), None)
            await call.exchange.answer(OK, showing.one(stored))
            return None
        items, page = await listed(objects, route, query, selection)
        await call.exchange.answer_pieces(showing.all(route.kind, items, page))
        return None

    def _shown(self, call: Call, form: Form, content: Stored | Object) -> bytes:
        if not isinstance(content, Stored):
            return encoded_json(content)
        if form.is_plain:
            return content.body
        return Showing(self._objects, form, "Metadata", call.now).one(content)

    async def _health(self, exchange: Exchange) -> None:
        if exchange.path == "/livez" or (not self._is_ending and self._readiness.is_ready()):
            await exchange.answer(OK, b"ok", TEXT)
        else:
            await exchange.answer(503, b"not ready: the server stops or cannot commit", TEXT)

    async def _page(self, exchange: Exchange) -> None:
        """Answer with what is about the server, not about objects."""
        if exchange.method not in {"GET", "HEAD"}:
            raise PathNotFoundError
        if exchange.path == "/metrics":
            await exchange.answer(OK, self.metrics.page(), METRICS_TYPE)
            return
        page = discovery.document_at(exchange.path, exchange.header(b"accept"))
        if page is None:
            raise PathNotFoundError
        await exchange.answer(OK, page.body, page.content_type)


def _quoted(text: str) -> bytes:
    """Return a warning as it may stand between quotation marks in a header."""
    plain = "".join(letter if letter.isprintable() else " " for letter in text)
    escaped = plain.replace("\\", "\\\\").replace('"', '\\"')
    return escaped.encode("ascii", "replace")
