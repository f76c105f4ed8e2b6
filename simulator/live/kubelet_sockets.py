"""The sockets of one kubelet process: where plugins register and agents ask (S1.8 to S1.16, S8.1).

They begin with the process and end with it, at once and without a word to anybody, as those of a
killed kubelet do (S1.10).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from simulator.core.behavior import Behavior
from simulator.core.calls import AllocateCall, PluginCall
from simulator.core.instants import HOUR, SECOND, Duration
from simulator.core.records import ListTooLarge, RegistrationRefused
from simulator.core.registration import RegisterRequest, oversize
from simulator.core.resources import ResourceName
from simulator.engine.node import Node
from simulator.engine.plugin_ports import KubeletSocket, PluginStream
from simulator.errors import RebindError, RegistrationError
from simulator.inotify import DirectoryChanges
from simulator.live.agents import PodResourcesAnswers
from simulator.live.meters import Meters
from simulator.live.remote_plugin import PeerOwner, RemotePlugin
from simulator.live.settings import LiveSettings
from simulator.live.taps import Tap
from simulator.live.tasks import Tasks
from simulator.live.timeline import LiveTimeline
from simulator.live.watched_plugins import WatchedPlugins, watcher_settings
from simulator.wire.connections import ConnectionSettings
from simulator.wire.introspection import add_introspection
from simulator.wire.plugin_client import PluginClientSettings, StreamEnd
from simulator.wire.plugin_directory import clean_directory, endpoint_path, make_directory
from simulator.wire.plugin_watcher import PluginWatcher
from simulator.wire.pod_resources import PodResourcesServer, PodResourcesServing
from simulator.wire.registration_server import Registration, RegistrationServer

_LOG = logging.getLogger(__name__)
_ASKED_MAX: Final = 10_000
_NAME_SHOWN_MAX: Final = 40
_OTHERS_SHOWN_MAX: Final = 3

UNLIMITED: Final = Duration(1_000 * HOUR)
"""No limit by the real clock: how long a plugin is dialed is a matter of the node's time."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the sockets of a node share over all its kubelet processes.

    Attributes:
        timeline: The node's time.
        settings: How sockets behave.
        node: The node.
        revision: A number that is another one whenever something has changed on the node.
        called: Told of every call that is made to a plugin's endpoint.
        refused: Told of every endpoint whose registration, or first list, has failed.
        meters: Count what the kubelet counts (S11).
        tap: Listens to what kubelet and plugins say.
        changes: Tells of changes in directories.
    """

    timeline: LiveTimeline
    settings: LiveSettings
    node: Node
    revision: Callable[[], int]
    called: Callable[[str, PluginCall], None]
    refused: Callable[[str], None]
    meters: Meters
    tap: Tap
    changes: DirectoryChanges


class KubeletSockets:
    """The sockets of one kubelet process, from `open` to `close`.

    Args:
        around: What outlives the process.
        behavior: Its version.
        kubelet: What plugins reach of it.

    Attributes:
        is_open: Whether it listens.
        asked: Endpoints for which Register was called; of absurdly many, the first.
    """

    def __init__(self, around: Surroundings, behavior: Behavior, kubelet: KubeletSocket) -> None:
        self.is_open = False
        self.asked: set[str] = set()
        self._around = around
        self._behavior = behavior
        self._kubelet = around.tap.on(kubelet)
        self._folder = around.settings.folder(around.node.name)
        self._tasks = Tasks()
        self._peers: dict[RemotePlugin, ResourceName] = {}
        self.registration = RegistrationServer(self._folder.device_plugins, self._register)
        self._pod_resources = PodResourcesServer(
            PodResourcesServing(
                path=self._folder.pod_resources_socket,
                behavior=behavior,
                now=around.timeline.now,
                socket_mode=around.settings.socket_mode,
                also=add_introspection if around.settings.reflection else None,
            ),
            PodResourcesAnswers(around.node, behavior, around.timeline, around.revision),
            around.meters,
        )
        self.watcher = PluginWatcher(
            self._folder.plugins_registry,
            WatchedPlugins(self.connect, self.deregister, self._note_refusal),
            around.changes,
            watcher_settings(behavior, around.timeline, around.settings),
        )
        settings = around.settings
        self._plugin_settings = PluginClientSettings(
            connection=ConnectionSettings(
                dial_timeout=UNLIMITED, receive_bytes_max=settings.receive_bytes_max
            ),
            pre_start_timeout=settings.pre_start_timeout,
            lenient=behavior.lenient_allocate_responses,
        )

    async def open(self) -> None:
        """Clean the plugin directory and listen (S1.8).

        Raises:
            RebindError: A directory or socket cannot be made; the kubelet does not start then.
            OSError: As above.
        """
        mode = self._around.settings.socket_mode
        make_directory(self._folder.device_plugins)
        emptied = self._behavior.plugin_directory_emptied
        clean_directory(self._folder.device_plugins, emptied=emptied)
        make_directory(self._folder.pod_resources_socket.parent)
        if self._around.settings.reflection:
            server = self.registration.server
            add_introspection(server.grpc_server, server.services)
        await self._pod_resources.start()
        await self.registration.server.start(mode=mode)
        self.watcher.start()
        self.is_open = True

    def hang_up(self) -> None:
        """Tell who listens that the process has ended; `close` then takes its time."""
        self._around.tap.closed()

    async def close(self) -> None:
        """End everything at once, as the end of the process does."""
        self.is_open = False
        await self.watcher.stop()
        peers = list(self._peers)
        await asyncio.gather(*(peer.close() for peer in peers))
        await self._tasks.close()
        await self.registration.server.stop(keep_file=True)
        await self._pod_resources.close()

    def peers_at(self, endpoint: str) -> list[RemotePlugin]:
        """Return the connections to a plugin's socket."""
        return [peer for peer in self._peers if peer.endpoint == endpoint]

    async def _register(self, registration: Registration) -> None:
        """Take a Register call (S1.12); its error reaches the plugin.

        Raises:
            RegistrationError: It is refused.
        """
        self._around.meters.registered(registration.resource_name)
        request = RegisterRequest(
            registration.resource_name,
            version=registration.version,
            endpoint=registration.endpoint,
            options=registration.options,
        )
        if fault := oversize(request):
            self._note_refusal(RegisterRequest(request.resource_name[:_NAME_SHOWN_MAX]), fault)
            raise RegistrationError(fault)
        if len(self.asked) < _ASKED_MAX:
            self.asked.add(registration.endpoint)
        try:
            path = endpoint_path(
                self._folder.device_plugins,
                registration.endpoint,
                confined=self._around.settings.confined,
            )
        except RebindError as error:
            self._note_refusal(request, str(error))
            raise
        refusal = await self.connect(request, path)
        if refusal:
            raise RegistrationError(refusal)

    async def connect(self, request: RegisterRequest, path: Path) -> str:
        """Register the plugin at a socket; returns why that failed, empty when it did not."""
        self._drop_unused()
        if len(self._peers) >= self._around.settings.plugins_max:
            error = (
                f"{len(self._peers)} plugins are connected, as many as this kubelet takes; "
                "stop one and register again"
            )
            self._note_refusal(request, error)
            return error
        answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        owner = PeerOwner(
            timeline=self._around.timeline,
            dial_timeout=self._around.settings.dial_timeout,
            tasks=self._tasks,
            kubelet=self._kubelet,
            settings=self._plugin_settings,
            called=self._around.called,
            answered=self._answered,
            ended=self._ended,
            closed=self._closed,
        )
        peer = RemotePlugin(request.endpoint, path, owner)
        self._peers[peer] = ResourceName(request.resource_name)
        stream = PluginStream(peer, request)

        def answered(error: str) -> None:
            if error:
                self._around.refused(request.endpoint)
                peer.drop()
            else:
                self._warn_of_shared_endpoint(path, request.resource_name)
            if not answer.done():
                answer.set_result(error)

        self._around.timeline.enter(lambda: self._kubelet.register(stream, answered))
        return await answer

    def deregister(self, resource: ResourceName) -> None:
        """Disconnect whoever is registered for a resource (S1.36)."""
        self._around.timeline.enter(lambda: self._kubelet.deregister(resource))

    def _note_refusal(self, request: RegisterRequest, error: str) -> None:
        refused = RegistrationRefused(request.resource_name, error)
        self._around.timeline.enter(lambda: self._around.node.emit(refused))
        self._around.refused(request.endpoint)

    def _warn_of_shared_endpoint(self, path: Path, resource: str) -> None:
        """Warn when the socket serves other resources too (conventions 4, trap 2)."""
        serving = [served for peer, served in self._peers.items() if peer.path == path]
        others = [other for other in dict.fromkeys(serving) if other != resource]
        if others:
            more = len(others) - _OTHERS_SHOWN_MAX
            _LOG.warning(
                "%s serves %s and also %s%s: two plugins may have taken one socket name",
                path,
                resource,
                ", ".join(others[:_OTHERS_SHOWN_MAX]),
                f" and {more} more" if more > 0 else "",
            )

    def _drop_unused(self) -> None:
        """Close what a stream's end has left behind, when not its own plugin was cut (S1.22).

        Differs: the kubelet keeps such connections until its own end.
        """
        for peer in [each for each in self._peers if not each.is_used]:
            peer.drop()

    def _ended(self, stream: PluginStream, end: StreamEnd) -> None:
        self._around.tap.ended(stream, end)
        if not stream.listed:
            self._around.refused(stream.request.endpoint)
        if end.oversize is not None:
            found = end.oversize
            stream.too_large = ListTooLarge(
                stream.resource, found.devices, found.size, found.limit, found.fitting
            )

    def _answered(self, call: PluginCall, span: Duration) -> None:
        if isinstance(call, AllocateCall):
            self._around.meters.allocate_answered(call.resource, span / SECOND)

    def _closed(self, peer: RemotePlugin) -> None:
        self._peers.pop(peer, None)
