"""Plugins that serve `pluginregistration`, and a kubelet's handler that is told of them."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from simulator.core.instants import MILLISECOND, SECOND, Duration, Instant
from simulator.core.resources import ResourceName
from simulator.errors import PluginError
from simulator.inotify import DirectoryChanges
from simulator.protocol import rebind_pluginregistration_pb2 as messages
from simulator.protocol import services
from simulator.wire.connections import ConnectionSettings
from simulator.wire.plugin_watcher import PluginWatcher, WatcherSettings
from simulator.wire.servers import UnixServer

GPU = ResourceName("example.com/gpu")
PATIENCE = Duration(30 * SECOND)
SOON = Duration(200 * MILLISECOND)


@dataclass
class Kubelet:
    """Who is told; whatever happens stirs those that wait.

    Attributes:
        said: What was asked of the handler, in order: `+ resource endpoint` and `- resource`.
        refused: The resources that were refused, with the message.
        failure: With which registrations fail; empty for none.
        passes: How often somebody asked for the time; it goes on by a second each time.
    """

    root: Path
    changes: DirectoryChanges
    said: list[str] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)
    failure: str = ""
    passes: int = 0
    stirred: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def directory(self) -> Path:
        return self.root / "plugins_registry"

    async def register_watched(
        self, resource: ResourceName, endpoint: Path, versions: Sequence[str]
    ) -> None:
        assert "v1beta1" in versions
        shown = endpoint.relative_to(self.root) if self.root in endpoint.parents else endpoint
        self.said.append(f"+ {resource} {shown}")
        self.stirred.set()
        if self.failure:
            raise PluginError(self.failure)

    def deregister_watched(self, resource: ResourceName) -> None:
        self.said.append(f"- {resource}")
        self.stirred.set()

    def watched_refused(self, resource: str, message: str) -> None:
        self.refused.append((resource, message))
        self.stirred.set()

    def now(self) -> Instant:
        self.passes += 1
        self.stirred.set()
        return Instant(self.passes * SECOND)

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until something is true."""
        async with asyncio.timeout(60):
            while not condition():
                self.stirred.clear()
                await self.stirred.wait()

    async def until_said(self, *said: str) -> None:
        """Wait until the handler was asked for this, and nothing else."""
        await self.until(lambda: len(self.said) >= len(said))
        assert self.said == list(said)

    async def until_count(self, count: int) -> None:
        """Wait until the handler was asked for so much."""
        await self.until(lambda: len(self.said) == count)

    async def passed(self, count: int = 10) -> None:
        """Wait until there was time for several passes."""
        goal = self.passes + 2 * count
        await self.until(lambda: self.passes >= goal)

    @asynccontextmanager
    async def watching(
        self,
        *,
        retried: bool = True,
        info_timeout: Duration = PATIENCE,
        notify_timeout: Duration = PATIENCE,
    ) -> AsyncIterator[PluginWatcher]:
        """Run one kubelet process's watcher, patient as on a busy machine unless a test says."""
        settings = WatcherSettings(
            retried=retried,
            now=self.now,
            period=Duration(10 * MILLISECOND),
            connection=ConnectionSettings(dial_timeout=PATIENCE),
            info_timeout=info_timeout,
            notify_timeout=notify_timeout,
        )
        watcher = PluginWatcher(self.directory, self, self.changes, settings)
        watcher.start()
        try:
            yield watcher
        finally:
            await watcher.stop()


class Plugin:
    """One registration socket.

    Attributes:
        notified: What the kubelet has said.
        hangs: Whether GetInfo is never answered.
        deaf: Whether NotifyRegistrationStatus is never answered.
        asked: How often GetInfo was called.
        asked_at_once: How many such calls there were at a time, at most.
    """

    def __init__(self, kubelet: Kubelet, name: str, info: messages.PluginInfo) -> None:
        self.path = kubelet.directory / name
        self.notified: list[tuple[bool, str]] = []
        self.hangs = False
        self.deaf = False
        self.asked = 0
        self.asked_at_once = 0
        self._asking = 0
        self._kubelet = kubelet
        self._info = info
        self._server: UnixServer | None = None

    async def serve(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._server = UnixServer(self.path)
        self._server.answer(services.GET_INFO, self._answer)
        self._server.answer(services.NOTIFY_REGISTRATION_STATUS, self._take)
        await self._server.start()

    async def stop(self) -> None:
        """Remove the socket and end."""
        if self._server is not None:
            await self._server.stop()
            self._server = None

    async def _answer(self, request: messages.InfoRequest) -> messages.PluginInfo:
        del request
        self.asked += 1
        self._asking += 1
        self.asked_at_once = max(self.asked_at_once, self._asking)
        self._kubelet.stirred.set()
        try:
            if self.hangs:
                await asyncio.Event().wait()
        finally:
            self._asking -= 1
        return self._info

    async def _take(
        self, status: messages.RegistrationStatus
    ) -> messages.RegistrationStatusResponse:
        if self.deaf:
            await asyncio.Event().wait()
        self.notified.append((status.plugin_registered, status.error))
        self._kubelet.stirred.set()
        return messages.RegistrationStatusResponse()


def announcing(
    name: str = GPU,
    *,
    kind: str = "DevicePlugin",
    endpoint: str = "",
    versions: Sequence[str] = ("v1beta1",),
) -> messages.PluginInfo:
    return messages.PluginInfo(type=kind, name=name, endpoint=endpoint, supported_versions=versions)


@asynccontextmanager
async def kubelet() -> AsyncIterator[Kubelet]:
    """A kubelet's root directory, without anything in it."""
    with tempfile.TemporaryDirectory(prefix="rb") as root:
        changes = DirectoryChanges()
        try:
            yield Kubelet(Path(root), changes)
        finally:
            changes.close()


@asynccontextmanager
async def plugin(
    of: Kubelet, name: str = "gpu.sock", info: messages.PluginInfo | None = None
) -> AsyncIterator[Plugin]:
    """A plugin that serves from the beginning."""
    made = Plugin(of, name, info or announcing())
    await made.serve()
    try:
        yield made
    finally:
        await made.stop()
