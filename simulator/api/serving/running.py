"""A whole API server: what it starts from, its parts, and its end."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import ssl
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from simulator.api.dialect import kinds, writing
from simulator.api.dialect.authorization import Tokens
from simulator.api.dialect.deleting import OWN_NAMESPACES
from simulator.api.dialect.documents import Object
from simulator.api.dialect.routes import Route
from simulator.api.serving.access import Access
from simulator.api.serving.app import ApiApp
from simulator.api.serving.chance import Chance
from simulator.api.serving.committing import Committing, creation
from simulator.api.serving.limits import Limits
from simulator.api.serving.objects import ObjectCommits, Objects
from simulator.api.serving.server import HttpServer, listening
from simulator.core.instants import Instant
from simulator.errors import StoreError
from simulator.object_ports import ObjectKey, ObjectReader

_LOG: Final = logging.getLogger(__name__)
_SWEEP_SECONDS: Final = 10.0
_SWEPT_MAX: Final = 500


@dataclass(frozen=True, slots=True)
class ApiSettings:
    """How a server is to be.

    Attributes:
        host, port: Where it listens; port 0 is a free one.
        tokens: Who has which token; None for loopback without tokens.
        tls: With which certificate; None for plain HTTP.
        limits: How much it takes.
        unique_devices: Whether no two pods of a node may be bound to one device.
    """

    host: str
    port: int
    tokens: Tokens | None = None
    tls: ssl.SSLContext | None = None
    limits: Limits = field(default_factory=Limits)
    unique_devices: bool = False


class ApiServer:
    """Serves the objects of a store until it is stopped.

    Args:
        store: What is there, read at the start; afterwards memory and store are equal.
        commits: Who commits; nobody else writes objects.
        settings: How it is to be.
    """

    def __init__(self, store: ObjectReader, commits: ObjectCommits, settings: ApiSettings) -> None:
        limits = settings.limits
        self._store = store
        self._settings = settings
        self.objects = Objects(
            commits, events_max=limits.events, event_bytes_max=limits.event_bytes
        )
        self._app = ApiApp(
            self.objects,
            access=Access(settings.tokens),
            limits=limits,
            clock=_now,
            unique_devices=settings.unique_devices,
        )
        self._http: HttpServer | None = None
        self._sweeping: asyncio.Task[None] | None = None
        self.url = ""

    async def start(self) -> None:
        """Load what is there, and answer from now on.

        Raises:
            ServerError: The address cannot be had.
            StoreError: The store cannot be read or written.
        """
        settings = self._settings
        listener = listening(settings.host, settings.port)
        try:
            self.objects.load(self._store)
            await self._make_namespaces()
            await self._empty_namespaces()
        except BaseException:
            listener.close()
            raise
        scheme = "http" if settings.tls is None else "https"
        self.url = f"{scheme}://{_reached(settings.host)}:{listener.getsockname()[1]}"
        self._http = HttpServer(self._app, listener, tls=settings.tls, limits=settings.limits)
        await self._http.start()
        self._sweeping = asyncio.create_task(self._sweep(), name="sweep of events")

    async def stop(self) -> None:
        """Answer what has come in, end the watches, and close."""
        if self._sweeping is not None:
            self._sweeping.cancel()
            with suppress(asyncio.CancelledError):
                await self._sweeping
        if self._http is not None:
            await self._http.stop()

    async def _make_namespaces(self) -> None:
        missing = [
            name
            for name in OWN_NAMESPACES
            if self.objects.get(ObjectKey(kinds.NAMESPACES.resource, "", name)) is None
        ]
        proposals = []
        chance = Chance()
        for name in missing:
            now = _now()
            body: Object = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
            written = writing.created(Route(kinds.NAMESPACES), body, chance.fresh(now))
            key = ObjectKey(kinds.NAMESPACES.resource, "", name)
            self.objects.turns.take_now(key)
            proposals.append((creation(now, key, written.object), written.object))
        if proposals:
            await self.objects.commit(proposals)

    async def _empty_namespaces(self) -> None:
        """Go on with deletions of namespaces that an earlier process began."""
        committing = Committing(self.objects)
        for stored in [*self.objects.shelf(kinds.NAMESPACES).all_in()]:
            await committing.empty_ending(stored.name, _now())

    async def _sweep(self) -> None:
        """Delete events whose time is over, as long as the server runs."""
        while True:
            await asyncio.sleep(_SWEEP_SECONDS)
            try:
                due = await asyncio.to_thread(self._store.expired, _now(), limit=_SWEPT_MAX)
                await self.objects.sweep(due)
            except StoreError as error:
                _LOG.warning("old events stay for now", extra={"error": str(error)})


def _reached(host: str) -> str:
    """Return where this machine reaches what listens on an address, as it stands in a URL."""
    address = ipaddress.ip_address(host)
    if address.is_unspecified:
        host = "127.0.0.1" if address.version == 4 else "::1"  # noqa: PLR2004 - of the protocol
    return f"[{host}]" if ":" in host else host


def _now() -> Instant:
    return Instant(time.time_ns())
