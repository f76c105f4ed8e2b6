"""Registers the plugins whose sockets are in `plugins_registry` (S1.29 to S1.38).

Here the plugin serves and the kubelet calls. What is to be done is decided by
`simulator.core.plugin_registry`; what a registration means, by the owner.

Kubelet: pluginmanager. Differs: its CSI and DRA handlers do not exist here.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from simulator.core.instants import SECOND, Duration, Instant
from simulator.core.plugin_registry import (
    Announced,
    Operation,
    PluginRegistry,
    Register,
    SocketPath,
    Unregister,
    failure_of,
    refusal_of,
)
from simulator.core.resources import ResourceName
from simulator.errors import RebindError
from simulator.inotify import DirectoryChanges, Watch
from simulator.protocol import rebind_pluginregistration_pb2 as messages
from simulator.protocol import services
from simulator.wire.connections import Connection, ConnectionSettings, dial
from simulator.wire.plugin_directory import make_directory
from simulator.wire.registry_tree import SocketIdentity, look

_LOG = logging.getLogger(__name__)


class WatchedPlugins(Protocol):
    """Who is told of the plugins that are found: the device manager's handler."""

    async def register_watched(
        self, resource: ResourceName, endpoint: Path, versions: Sequence[str]
    ) -> None:
        """Connect to a plugin that serves `endpoint`; it counts in no metric (S1.38).

        Raises:
            RebindError: It cannot be registered; the plugin is told why.
        """
        ...

    def deregister_watched(self, resource: ResourceName) -> None:
        """Disconnect the plugin that has the resource now, whichever that is (S1.36)."""
        ...

    def watched_refused(self, resource: str, message: str) -> None:
        """A plugin was refused before it came to `register_watched`, for this reason.

        Args:
            resource: What it called itself.
            message: What it is told (S1.34).
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class WatcherSettings:
    """How the watcher behaves.

    Attributes:
        retried: `Behavior.watched_plugins_retried` (S1.35).
        now: For the back-off.
        period: Between two passes (S1.32).
        connection: How a plugin is dialed.
        info_timeout: For GetInfo (S1.33).
        notify_timeout: For NotifyRegistrationStatus (S1.33).
    """

    retried: bool
    now: Callable[[], Instant]
    period: Duration = SECOND
    connection: ConnectionSettings = field(default_factory=ConnectionSettings)
    info_timeout: Duration = SECOND
    notify_timeout: Duration = Duration(5 * SECOND)


class PluginWatcher:
    """The plugin manager of one kubelet process, from its start to its end."""

    def __init__(
        self,
        directory: Path,
        handler: WatchedPlugins,
        changes: DirectoryChanges,
        settings: WatcherSettings,
    ) -> None:
        self.directory = directory
        self._handler = handler
        self._changes = changes
        self._settings = settings
        self._registry = PluginRegistry(retried=settings.retried)
        self._seen: dict[SocketPath, SocketIdentity] = {}
        self._watches: dict[Path, Watch] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self) -> None:
        """Make the directory and begin; sockets that are there count as made now (S1.31).

        Raises:
            ServerError: The directory cannot be made.
        """
        make_directory(self.directory)
        self._look()
        self._begin(self._reconcile_for_ever())

    async def stop(self) -> None:
        """End like a kubelet that dies: operations are broken off, sockets stay (S1.37)."""
        for watch in self._watches.values():
            self._changes.unwatch(watch)
        self._watches.clear()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def totals(self) -> Sequence[tuple[SocketPath, str]]:
        """Return each socket with each state that it is in (`plugin_manager_total_plugins`)."""
        return self._registry.totals()

    def _look(self) -> None:
        """Compare what is there with what was there."""
        tree = look(self.directory)
        now = self._settings.now()
        for path, identity in list(self._seen.items()):
            if tree.sockets.get(path) != identity:
                self._registry.socket_removed(path)
        for path, identity in tree.sockets.items():
            if self._seen.get(path) != identity:
                self._registry.socket_made(path, now)
        self._seen = tree.sockets
        if self._watch([self.directory, *tree.directories]):
            self._look()  # Something may have come into them before they were watched.

    def _watch(self, directories: Sequence[Path]) -> bool:
        """Watch these directories, and tell whether one is new."""
        wanted = dict.fromkeys(directories)
        for directory in [each for each in self._watches if each not in wanted]:
            self._changes.unwatch(self._watches.pop(directory))
        kept = len(self._watches)
        for directory in wanted:
            if directory not in self._watches:
                self._watches[directory] = self._changes.watch(directory, self._look)
        return len(self._watches) > kept

    async def _reconcile_for_ever(self) -> None:
        while True:
            await asyncio.sleep(self._settings.period / SECOND)
            self._look()
            for operation in self._registry.reconcile(self._settings.now()):
                self._begin(self._operate(operation))

    def _begin(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _operate(self, operation: Operation) -> None:
        failed = True
        try:
            if isinstance(operation, Unregister):
                self._unregister(operation)
                failed = False
            else:
                failed = not await self._register(operation)
        finally:
            self._registry.end(operation, self._settings.now(), failed=failed)

    def _unregister(self, operation: Unregister) -> None:
        self._registry.unrecord(operation)
        self._handler.deregister_watched(ResourceName(operation.registered.plugin.name))

    async def _register(self, operation: Register) -> bool:
        """Do the register operation (S1.33), and tell whether it succeeded."""
        path = operation.path
        try:
            connection = await dial(Path(path), self._settings.connection)
        except RebindError as error:
            _log("RegisterPlugin error -- dial failed at socket %s, err: %s", path, error)
            return False
        try:
            info = await connection.call(
                services.GET_INFO, messages.InfoRequest(), self._settings.info_timeout
            )
        except RebindError as error:
            _log(
                "RegisterPlugin error -- failed to get plugin info using RPC GetInfo at socket "
                "%s, err: %s",
                path,
                error,
            )
            return False
        else:
            announced = Announced(
                info.type, info.name, info.endpoint or path, tuple(info.supported_versions)
            )
            return await self._register_announced(operation, announced, connection)
        finally:
            await connection.close()

    async def _register_announced(
        self, operation: Register, plugin: Announced, connection: Connection
    ) -> bool:
        refusal = refusal_of(plugin, operation.path)
        if refusal:
            self._handler.watched_refused(plugin.name, refusal)
        else:
            self._registry.record(operation, plugin)
            try:
                await self._handler.register_watched(
                    ResourceName(plugin.name), Path(plugin.endpoint), plugin.versions
                )
            except RebindError as error:
                self._registry.registration_failed(operation)
                refusal = failure_of(str(error))
        if refusal:
            _log("%s", refusal)
        notified = await self._notify(connection, operation.path, refusal)
        return notified and not refusal

    async def _notify(self, connection: Connection, path: SocketPath, refusal: str) -> bool:
        status = messages.RegistrationStatus(plugin_registered=not refusal, error=refusal)
        try:
            await connection.call(
                services.NOTIFY_REGISTRATION_STATUS, status, self._settings.notify_timeout
            )
        except RebindError as error:
            _log(
                "RegisterPlugin error -- failed to send registration status at socket %s, err: %s",
                path,
                error,
            )
            return False
        return True


def _log(text: str, *details: object) -> None:
    _LOG.warning(text, *details)
