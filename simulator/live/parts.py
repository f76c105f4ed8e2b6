"""The parts of live nodes: real files, sockets and plugins, and one database for all."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from plugins.model import DevicePlugin
from simulator.core.calls import PluginCall
from simulator.core.records import Record
from simulator.core.transitions import NodeName
from simulator.engine.api import ApiServer
from simulator.engine.modelled_api import ModelledApi
from simulator.engine.node import Node
from simulator.engine.node_phase import keeps_database
from simulator.engine.plugin_ports import KubeletSocket
from simulator.engine.ports import ApiTransport
from simulator.engine.spec import NodeSpec, PluginSpec, SimulationSpec
from simulator.inotify import DirectoryChanges
from simulator.live.database import LiveDatabase
from simulator.live.kubelet_sockets import Surroundings
from simulator.live.metering import Metering
from simulator.live.plugin import LivePlugin
from simulator.live.settings import LiveSettings
from simulator.live.sockets import LiveSockets
from simulator.live.storage import LiveStorage
from simulator.live.taps import NoTap, Tap
from simulator.live.timeline import LiveTimeline
from simulator.ports import Store
from store.committer import Committer

if TYPE_CHECKING:
    from simulator.live.remote.api import RemoteApi


class LiveParts:
    """What the nodes of one server are made of (`simulator.engine.ports.Adapters`).

    Args:
        run: The choices of all nodes.
        timeline: Their time.
        settings: Where their files are, and how their sockets behave.
        store: The open database; None unless the persistence keeps its state there.
        committer: Who commits to it, if others use it too.

    Attributes:
        timeline: As given.
        nodes: The nodes by name, once they are made.
        revisions: By node, a number that grows whenever something changes; the world's.
        taps: Who listens on a node's wire.
        metering: What is measured.
        models: What a plugin of this name serves, in place of a model of its spec.
        remote: The API server that the nodes are clients of; None if they have none.
    """

    def __init__(
        self,
        run: SimulationSpec,
        timeline: LiveTimeline,
        settings: LiveSettings,
        store: Store | None,
        committer: Committer | None = None,
    ) -> None:
        self.nodes: Mapping[NodeName, Node] = {}
        self.revisions: Counter[NodeName] = Counter()
        self.taps: Callable[[NodeName], Tap] = lambda _: NoTap()
        self.metering = Metering(
            lambda: self.nodes, self.sockets_of, queue_depth=lambda: timeline.pending
        )
        self.models: dict[str, DevicePlugin] = {}
        self.remote: RemoteApi | None = None
        self._run = run
        self.timeline = timeline
        self._settings = settings
        self._database: LiveDatabase | None = None
        if store is not None and keeps_database(run):
            batch = settings.commit_batch
            self._database = LiveDatabase(
                timeline,
                store,
                commit_batch=batch,
                committed=self.metering.committed,
                shared=committer,
            )
        self._changes = DirectoryChanges()
        self._storages: list[LiveStorage] = []
        self._sockets: dict[NodeName, LiveSockets] = {}
        self._plugins: dict[NodeName, dict[str, LivePlugin]] = {}

    def transport(self, api: ApiServer) -> ApiTransport:
        """Return how kubelets reach the world's own objects, or the server that they follow."""
        settings = self._settings.api
        if settings is None:
            return ModelledApi(self._run, self.timeline, api)
        # Only who is a client of a server needs the HTTP client, which is an extra.
        from simulator.live.remote.api import RemoteApi  # noqa: PLC0415

        names = [node.name for node in self._run.nodes]
        self.remote = RemoteApi(settings, self.timeline, api, names, lambda: self.nodes)
        return self.remote.transport

    def storage(self, node: NodeSpec, emit: Callable[[Record], None]) -> LiveStorage:
        """Return the storage of a node."""
        dir_fsync = dict(self._run.persistence_options).get("dirFsync", False) is True
        folder = self._settings.folder(node.name).path
        storage = LiveStorage(
            self.timeline,
            folder,
            self._database,
            emit,
            dir_fsync=dir_fsync,
            sync=self._settings.sync,
        )
        self._storages.append(storage)
        return storage

    def sockets(self, node: NodeName) -> LiveSockets:
        """Return the sockets of a node."""
        sockets = self._sockets[node] = LiveSockets(lambda: self._around(node))
        return sockets

    def sockets_of(self, node: NodeName) -> LiveSockets:
        """Return the sockets of a node that was made."""
        return self._sockets[node]

    def plugin(self, spec: PluginSpec, socket: Callable[[], KubeletSocket | None]) -> LivePlugin:
        """Install a plugin; it does not run yet."""
        del socket  # It has a real one.

        plugin = LivePlugin(
            spec,
            self._settings.folder(spec.node).device_plugins,
            self.timeline,
            lambda: self._sockets[spec.node].present,
            self.models.get(spec.name),
        )
        self._plugins.setdefault(spec.node, {})[spec.name] = plugin
        return plugin

    def expects(self) -> bool:
        """Tell whether a plugin and its kubelet are bound to hear of each other soon."""
        return any(
            plugin.expects for of_node in self._plugins.values() for plugin in of_node.values()
        )

    async def close(self) -> None:
        """Stop the plugins, and wait until sockets, files and the committer are done."""
        plugins = [each for of_node in self._plugins.values() for each in of_node.values()]
        await asyncio.gather(*(plugin.close() for plugin in plugins))
        await asyncio.gather(*(sockets.wait_closed() for sockets in self._sockets.values()))
        if self.remote is not None:
            await self.remote.close()
        self._changes.close()
        for storage in self._storages:
            await storage.close()
        if self._database is not None:
            await self._database.close()

    def _around(self, node: NodeName) -> Surroundings:
        plugins = self._plugins.get(node, {})

        def at(endpoint: str) -> list[LivePlugin]:
            return [each for each in plugins.values() if each.is_at(endpoint)]

        def called(endpoint: str, call: PluginCall) -> None:
            for plugin in at(endpoint):
                plugin.note(call)

        def refused(endpoint: str) -> None:
            for plugin in at(endpoint):
                plugin.refused()
            self.timeline.enter(lambda: None)

        return Surroundings(
            timeline=self.timeline,
            settings=self._settings,
            node=self.nodes[node],
            revision=lambda: self.revisions[node],
            called=called,
            refused=refused,
            tap=self.taps(node),
            meters=self.metering.meters(node),
            changes=self._changes,
        )
