"""The parts of simulated nodes: disks and databases by a model, plugins that answer in no time."""

from __future__ import annotations

from collections.abc import Callable

from simulator.core.records import Record
from simulator.core.transitions import NodeName
from simulator.engine.api import ApiServer
from simulator.engine.modelled_api import ModelledApi
from simulator.engine.node_phase import keeps_database
from simulator.engine.plugin_ports import KubeletSocket
from simulator.engine.spec import NodeSpec, PluginSpec, SimulationSpec
from simulator.engine.timeline import Timeline
from simulator.engine.virtual.database import Database
from simulator.engine.virtual.node_storage import NodeStorage
from simulator.engine.virtual.plugin import Plugin
from simulator.engine.virtual.plugin_sockets import PluginSockets
from simulator.ports import Store

StoreFactory = Callable[[NodeName], Store]
"""Opens the store of a node's database; when called again for a node, a new and empty one."""


class SimulatedParts:
    """What the nodes of one run are made of (`simulator.engine.ports.Adapters`).

    Args:
        run: The run's choices.
        timeline: Its time.
        store_factory: Called for each node when the persistence keeps a database.
        ideal: Whether nothing ever befalls a database.

    Attributes:
        timeline: As given.
    """

    def __init__(
        self,
        run: SimulationSpec,
        timeline: Timeline,
        store_factory: StoreFactory,
        *,
        ideal: bool,
    ) -> None:
        self._run = run
        self.timeline = timeline
        self._store_factory = store_factory
        self._ideal = ideal
        self._databases: dict[int, Database] = {}
        self._storages: dict[NodeName, NodeStorage] = {}
        self._plugins: dict[NodeName, dict[str, Plugin]] = {}

    @property
    def fsyncs(self) -> int:
        """How many fsyncs there were so far, of all files and databases."""
        disks = sum(storage.disk.fsyncs for storage in self._storages.values())
        return disks + sum(database.fsyncs for database in self._databases.values())

    def transport(self, api: ApiServer) -> ModelledApi:
        """Return how kubelets reach the world's own objects."""
        return ModelledApi(self._run, self.timeline, api)

    def storage(self, node: NodeSpec, emit: Callable[[Record], None]) -> NodeStorage:
        """Return the storage of a node."""
        database = self._database(node.name)
        storage = NodeStorage(self.timeline, emit, database, self._run)
        self._storages[node.name] = storage
        return storage

    def sockets(self, node: NodeName) -> PluginSockets:
        """Return the sockets of a node."""
        plugins = self._plugins.setdefault(node, {})
        return PluginSockets(self._storages[node].disk, plugins)

    def plugin(self, spec: PluginSpec, socket: Callable[[], KubeletSocket | None]) -> Plugin:
        """Install a plugin; it does not run yet."""
        plugin = Plugin(spec, self.timeline, socket)
        self._plugins.setdefault(spec.node, {})[spec.name] = plugin
        return plugin

    def close(self) -> None:
        """Let go of the stores."""
        for database in self._databases.values():
            database.close()
        self._databases.clear()

    def _database(self, node: NodeName) -> Database | None:
        """Return a node's database; nodes that are given the same store share one."""
        if not keeps_database(self._run):
            return None
        store = self._store_factory(node)
        database = self._databases.get(id(store))
        if database is None:
            database = self._databases[id(store)] = Database(
                self.timeline,
                store,
                lambda: self._store_factory(node),
                self._run.durability,
                ideal=self._ideal,
            )
            database.added_fsync = self._run.added_fsync
        else:
            database.shared = True
        return database
