"""Serves a device plugin: its socket, its registration, and its return after a kubelet restart.

The kubelet tells its plugins nothing: a plugin sees that the sockets in the plugin directory have
gone or are new, makes its own anew and registers again (S1.10). A server runs as tasks of one
asyncio loop, whether in a process of its own, inside `rebind serve` or in a test.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from types import TracebackType
from typing import Self

import grpc

from plugins.conduct import Conduct, Pace, Place
from plugins.lookout import Lookout
from plugins.model import DevicePlugin
from plugins.registering import register
from plugins.rpc import DevicePluginService, PluginRegistrationService
from plugins.sockets import FileIdentity, identity_of, is_served, require_room, start_at
from simulator.core.instants import Duration
from simulator.errors import ConfigError
from simulator.inotify import DirectoryChanges

_LOG = logging.getLogger(__name__)


class PluginServer:
    """One resource on one socket, from `start` to `stop`.

    Args:
        model: The plugin.
        place: Where its socket is to be.
        conduct: How it behaves; None for well.
        pace: How often it looks at the sockets.
        changes: Tells of changes in folders; None for one of its own. It is given so that the many
            plugins of one process share one.

    Attributes:
        model: The plugin.
        calls: Calls received, by RPC name.
        registrations: How often a kubelet has taken it.
        refusal: Why the last registration failed; empty after one that did not.
        streams: How many ListAndWatch streams are open.
    """

    def __init__(
        self,
        model: DevicePlugin,
        place: Place,
        *,
        conduct: Conduct | None = None,
        pace: Pace | None = None,
        changes: DirectoryChanges | None = None,
    ) -> None:
        self.model = model
        self.place = place
        self.calls: Counter[str] = Counter()
        self.registrations = 0
        self.refusal = ""
        self.streams = 0
        self._conduct = conduct or Conduct()
        self._pace = pace or Pace()
        self._server: grpc.aio.Server | None = None
        self._own: FileIdentity | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._lookout = Lookout(place.directory, look=self._pace.look, changes=changes)
        self._watched = False

    # Life

    async def start(self) -> None:
        """Begin to serve and to register; returns when the socket is there, if it is to be at once.

        Raises:
            ConfigError: The socket's path is too long, or somebody else serves it.
            OSError: The folder does not exist or may not be written.
        """
        require_room(self.place.kubelet_socket)
        require_room(self.place.socket)
        if is_served(self.place.socket):
            reason = (
                f"{self.place.socket} is served by another plugin; stop that one, or choose "
                "another socket name"
            )
            raise ConfigError(reason)
        if not self._conduct.starts_after:
            await self._open()
        self._lookout.open()
        courses = {"plugin": self._live(), "devices": self.model.run(), "end": self._leave()}
        self._tasks = [
            asyncio.create_task(course, name=f"{name} of {self.model.resource}")
            for name, course in courses.items()
        ]

    async def stop(self) -> None:
        """End all calls and streams and remove the socket; a second time does nothing."""
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if tasks:
            await self.model.sleep(self._conduct.lingers)
        await self._go()
        self._lookout.close()

    async def __aenter__(self) -> Self:
        """Start."""
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop."""
        await self.stop()

    async def until(
        self, condition: Callable[[PluginServer], bool], *, within: Duration | None = None
    ) -> None:
        """Wait until something is true of this server, e.g. `lambda it: it.registrations == 2`.

        Raises:
            TimeoutError: It is not true `within` the time.
        """
        if not await self._lookout.until(lambda: condition(self), within):
            raise TimeoutError

    @property
    def is_registered(self) -> bool:
        """Whether a kubelet has taken the plugin and reads its list."""
        return self.registrations > 0 and self.streams > 0

    @property
    def is_serving(self) -> bool:
        """Whether somebody answers at its socket."""
        return self._server is not None

    # What a kubelet does (`plugins.rpc.Witness`)

    def called(self, name: str) -> None:
        """A call has come in."""
        self.calls[name] += 1
        self._lookout.stir()

    def stream_opened(self) -> None:
        """A kubelet watches the list."""
        self.streams += 1
        self._watched = True
        self._lookout.stir()

    def stream_ended(self) -> None:
        """A kubelet has stopped watching, or was left."""
        self.streams -= 1
        self._lookout.stir()

    def notified(self, *, registered: bool, error: str) -> None:
        """The kubelet has said whether it took the plugin that it found (S1.33)."""
        self._judge("" if registered else error or "refused without a reason")

    # The course of events

    async def _leave(self) -> None:
        if self._conduct.leaves_after is not None:
            await self.model.sleep(self._conduct.leaves_after)
            self._tasks[0].cancel()
            await self._go()

    async def _go(self) -> None:
        if self._conduct.removes_socket:
            self._remove_socket()
        await self._close()

    async def _live(self) -> None:
        await self.model.sleep(self._conduct.starts_after)
        if self._conduct.needs_kubelet and not self._has_kubelet():
            return
        while True:
            try:
                kubelet = await self._register_at_last()
            except TimeoutError:
                return
            await self._lookout.until(partial(self._is_lost, kubelet))
            back = self._conduct.returns_after
            if not self._conduct.keeps_server and not self._sockets_changed(kubelet):
                await self._close()
                await self._lookout.until(partial(self._sockets_changed, kubelet))
            if back is None:
                return
            if self._sockets_changed(kubelet):
                await self.model.sleep(back)

    async def _register_at_last(self) -> FileIdentity | None:
        """Register, however often it takes; returns the kubelet's socket that was used.

        Raises:
            TimeoutError: A kubelet that was there before has not come back in time.
        """
        retry = self._pace.first_retry
        while True:
            if not self.place.found_by_kubelet:
                patience = self._conduct.patience if self.registrations else None
                if not await self._lookout.until(self._has_kubelet, patience):
                    raise TimeoutError
            kubelet = identity_of(self.place.kubelet_socket)
            if await self._try_to_register():
                return kubelet
            renewed = await self._lookout.until(partial(self._is_renewed, kubelet), retry)
            if renewed and self.registrations:
                await self.model.sleep(self._conduct.returns_after or Duration(0))
            retry = min(Duration(retry * 2), self._pace.last_retry)

    async def _try_to_register(self) -> bool:
        """Serve and register; a plugin that the kubelet finds by itself has done so by serving."""
        try:
            if self.place.found_by_kubelet and self._watched:
                self._remove_socket()  # A new one is what the kubelet notices (S1.31).
            self._watched = False
            await self._open()
            if not self.place.found_by_kubelet:
                self._judge(await self._register())
                return not self.refusal
        except OSError as error:
            self._judge(f"{error.filename}: {error.strerror}")
            return False
        return True

    async def _register(self) -> str:
        return await register(
            self.place.kubelet_socket,
            endpoint=self.place.socket_name,
            resources=(self.model.resource, *self._conduct.also_registers),
            version=self._conduct.version,
            wants=self.model.wants,
            within=self._pace.register,
        )

    def _judge(self, refusal: str) -> None:
        if not refusal:
            self.registrations += 1
            _LOG.info("registered", extra=self._fields)
        elif refusal != self.refusal:
            _LOG.warning("not registered: %s", refusal, extra=self._fields)
        self.refusal = refusal
        self._lookout.stir()

    @property
    def _fields(self) -> dict[str, str]:
        return {"resourceName": self.model.resource, "endpoint": str(self.place.socket)}

    def _is_lost(self, kubelet: FileIdentity | None) -> bool:
        left = self._watched and not self.streams
        return self._sockets_changed(kubelet) or (
            left and (self._conduct.minds_stream_end or not self._conduct.keeps_server)
        )

    def _sockets_changed(self, kubelet: FileIdentity | None) -> bool:
        gone = self._conduct.serves and identity_of(self.place.socket) != self._own
        return gone or (not self.place.found_by_kubelet and self._is_renewed(kubelet))

    def _has_kubelet(self) -> bool:
        return identity_of(self.place.kubelet_socket) is not None

    def _is_renewed(self, kubelet: FileIdentity | None) -> bool:
        return identity_of(self.place.kubelet_socket) not in (None, kubelet)

    # The socket

    async def _open(self) -> None:
        """Serve the socket, if it is not served."""
        in_place = self._own is not None and identity_of(self.place.socket) == self._own
        if (in_place and self._server is not None) or not self._conduct.serves:
            return
        await self._close()
        server = grpc.aio.server()
        registration = PluginRegistrationService(self.model.resource, self._conduct.version, self)
        service = DevicePluginService(self.model, self)
        handlers = [service.handler()]
        if self.place.found_by_kubelet:
            handlers.append(registration.handler())
        server.add_generic_rpc_handlers(handlers)
        self._server = server  # Before it starts, so that it is stopped whatever comes between.
        self._own = await start_at(server, self.place.socket, self.place.socket_mode)

    async def _close(self) -> None:
        if self._server is not None:
            # To its end, also when this task is cancelled meanwhile.
            await asyncio.shield(self._server.stop(None))
        self._server = None
        self._lookout.stir()

    def _remove_socket(self) -> None:
        if self._own is not None and identity_of(self.place.socket) == self._own:
            with suppress(OSError):
                self.place.socket.unlink()
        self._own = None
