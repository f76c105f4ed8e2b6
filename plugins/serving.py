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
from functools import partial

from typing_extensions import override

from plugins.conduct import Conduct, Pace, Place
from plugins.endpoint import Endpoint
from plugins.lookout import Lookout
from plugins.model import DevicePlugin
from plugins.registering import register
from simulator.core.instants import Duration
from simulator.errors import ServerError
from simulator.inotify import DirectoryChanges
from simulator.wire.lifetimes import Startable
from simulator.wire.sockets import FileIdentity, Occupant, identity_of, occupant_of, require_room

_LOG = logging.getLogger(__name__)


class PluginServer(Startable):
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
        self._endpoint = Endpoint(model, place, version=self._conduct.version, witness=self)
        self._tasks: list[asyncio.Task[None]] = []
        self._lookout = Lookout(place.directory, look=self._pace.look, changes=changes)
        self._attempts = 0
        self._was_left = False

    # Life

    @override
    async def start(self) -> None:
        """Begin to serve and to register; returns when the socket is there, if it is to be at once.

        Raises:
            ServerError: The socket's path is too long, somebody else serves it, or it cannot be
                made.
        """
        require_room(self.place.kubelet_socket)
        if occupant_of(self.place.socket) is Occupant.LIVING_SOCKET:
            reason = (
                f"{self.place.socket} is served by another plugin; stop that one, or choose "
                "another socket name"
            )
            raise ServerError(reason)
        self.model.gone.clear()
        self._was_left = False
        if not self._conduct.starts_after:
            await self._open()
        self._lookout.open()
        courses = {"plugin": self._live(), "devices": self.model.run(), "end": self._leave()}
        self._tasks = [
            asyncio.create_task(course, name=f"{name} of {self.model.resource}")
            for name, course in courses.items()
        ]
        for task in self._tasks:
            task.add_done_callback(_tell_of_defect)

    @override
    async def stop(self) -> None:
        """End all calls and streams and remove the socket; a second time does nothing."""
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if tasks and self._conduct.lingers:
            await self.model.sleep(self._conduct.lingers)
        if self._conduct.removes_socket:
            self._endpoint.remove_socket()
        await self._end()
        self._lookout.close()

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
        return self._endpoint.is_serving

    # What a kubelet does (`plugins.rpc.Witness`)

    def called(self, name: str) -> None:
        """A call has come in."""
        self.calls[name] += 1
        self._lookout.stir()

    def stream_opened(self) -> int:
        """A kubelet watches the list; returns the attempt to register that it came of."""
        self.streams += 1
        self._lookout.stir()
        return self._attempts

    def stream_ended(self, stream: int) -> None:
        """A kubelet has stopped watching, or was left."""
        self.streams -= 1
        self._was_left = self._was_left or stream == self._attempts
        self._lookout.stir()

    def notified(self, *, registered: bool, error: str) -> None:
        """The kubelet has said whether it took the plugin that it found (S1.33)."""
        self._judge("" if registered else error or "refused without a reason")

    # The course of events

    async def _open(self) -> None:
        if self._conduct.serves:
            await self._endpoint.open()

    async def _end(self) -> None:
        await self._endpoint.close()
        self._lookout.stir()

    async def _leave(self) -> None:
        """End before it is asked to, where that is its conduct."""
        if self._conduct.leaves_after is not None:
            await self.model.sleep(self._conduct.leaves_after)
            self._endpoint.remove_socket()
        else:
            await self.model.gone.wait()
        self._tasks[0].cancel()
        await self._end()

    async def _live(self) -> None:
        await self.model.sleep(self._conduct.starts_after)
        if self._conduct.needs_kubelet and not self._has_kubelet():
            return
        kubelet: FileIdentity | None = None
        pause = self._pace.first_retry
        while True:
            try:
                kubelet = await self._register_at_last(kubelet)
            except TimeoutError:
                return
            lost = partial(self._is_lost, kubelet)
            was_short = await self._lookout.until(lost, self._pace.last_retry)
            await self._lookout.until(lost)
            if self._conduct.returns_after is None:
                return
            changed = partial(self._sockets_changed, kubelet)
            if not self._conduct.keeps_server and not changed():
                await self._end()
                await self._lookout.until(changed)
            # A kubelet that hangs up again and again is not to be asked without a pause.
            left_in_haste = not await self._lookout.until(changed, pause) and was_short
            longer = min(Duration(pause * 2), self._pace.last_retry)
            pause = longer if left_in_haste else self._pace.first_retry

    async def _register_at_last(self, known: FileIdentity | None) -> FileIdentity | None:
        """Register, however often it takes; returns the kubelet's socket that was used.

        Args:
            known: The kubelet's socket that was used last.

        Raises:
            TimeoutError: A kubelet that was there before has not come back in time.
        """
        retry = self._pace.first_retry
        while True:
            if not self.place.found_by_kubelet:
                patience = self._conduct.patience if self.registrations else None
                if not await self._lookout.until(self._has_kubelet, patience):
                    raise TimeoutError
            was_there = known is not None or self.place.found_by_kubelet
            if self.registrations and was_there and self._sockets_changed(known):
                await self.model.sleep(self._conduct.returns_after or Duration(0))
            known = identity_of(self.place.kubelet_socket)
            if await self._try_to_register():
                return known
            await self._lookout.until(partial(self._is_renewed, known), retry)
            retry = min(Duration(retry * 2), self._pace.last_retry)

    async def _try_to_register(self) -> bool:
        """Serve and register; a plugin that the kubelet finds by itself has done so by serving."""
        try:
            if self.place.found_by_kubelet and self._was_left:
                self._endpoint.remove_socket()  # A new one is what the kubelet notices (S1.31).
            await self._open()
            self._attempts += 1
            self._was_left = False
            if not self.place.found_by_kubelet:
                self._judge(await self._register())
                return not self.refusal
        except ServerError as error:
            self._judge(str(error))
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
        minds = self._conduct.minds_stream_end or not self._conduct.keeps_server
        return self._sockets_changed(kubelet) or (self._was_left and minds)

    def _sockets_changed(self, kubelet: FileIdentity | None) -> bool:
        gone = self._conduct.serves and not self._endpoint.is_in_place
        return gone or (not self.place.found_by_kubelet and self._is_renewed(kubelet))

    def _has_kubelet(self) -> bool:
        return identity_of(self.place.kubelet_socket) is not None

    def _is_renewed(self, kubelet: FileIdentity | None) -> bool:
        return identity_of(self.place.kubelet_socket) not in (None, kubelet)


def _tell_of_defect(task: asyncio.Task[None]) -> None:
    """Log why a course of events ended that should not have; nobody waits for it."""
    if not task.cancelled() and (defect := task.exception()) is not None:
        _LOG.error("defect: the %s has ended", task.get_name(), exc_info=defect)
