"""Parts of nodes that answer from a recording (`simulator.engine.ports.Adapters`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from simulator.core.records import Record
from simulator.core.transitions import (
    DeviceBinding,
    DevicesReported,
    NodeName,
    NodeState,
    PhaseChanged,
    PodAdmitted,
    PodIdentity,
    Transition,
)
from simulator.engine.api import ApiServer
from simulator.engine.modelled_api import ModelledApi
from simulator.engine.node_phase import keeps_database
from simulator.engine.plugin_ports import InstalledPlugin, KubeletSocket
from simulator.engine.spec import NodeSpec, PluginSpec, SimulationSpec
from simulator.engine.timeline import Timeline
from simulator.engine.virtual.plugin import Plugin
from simulator.server.recordings.inputs import (
    Input,
    StoreAnswered,
)
from simulator.server.recordings.replayed_sockets import ReplayedSockets
from simulator.server.recordings.replayed_storage import ReplayedStorage
from store.memory.store import MemoryStore


class ReplayedParts:
    """The parts of all nodes of one replay.

    Args:
        run: The choices of the run.
        timeline: Its time.
        states: What the database had of each node at the beginning.
    """

    def __init__(
        self, run: SimulationSpec, timeline: Timeline, states: Mapping[NodeName, NodeState]
    ) -> None:
        self._run = run
        self._timeline = timeline
        self._store = MemoryStore() if keeps_database(run) else None
        self._disks: dict[NodeName, ReplayedStorage] = {}
        self._sockets: dict[NodeName, ReplayedSockets] = {}
        if self._store is not None:
            for state in states.values():
                self._store.apply(_restoring(state, timeline))

    def transport(self, api: ApiServer) -> ModelledApi:
        """Return how kubelets reach the world's own objects."""
        return ModelledApi(self._run, self._timeline, api)

    def storage(self, node: NodeSpec, emit: Callable[[Record], None]) -> ReplayedStorage:
        """Return the storage of a node."""
        del emit
        storage = self._disks[node.name] = ReplayedStorage(self._timeline, self._store)
        return storage

    def sockets(self, node: NodeName) -> ReplayedSockets:
        """Return the sockets of a node."""
        sockets = self._sockets[node] = ReplayedSockets()
        return sockets

    def plugin(
        self, spec: PluginSpec, socket: Callable[[], KubeletSocket | None]
    ) -> InstalledPlugin:
        """Install a plugin that the driver itself has; a recorded run has none."""
        return Plugin(spec, self._timeline, socket)

    def feed(self, node: NodeName, content: Input) -> None:
        """Let something reach a node from outside.

        Raises:
            ConfigError: The node has not asked for it.
        """
        if isinstance(content, StoreAnswered):
            self._disks[node].calls.answer(content)
        else:
            self._sockets[node].feed(content)


def _restoring(state: NodeState, timeline: Timeline) -> list[Transition]:
    """Return the transitions that bring an empty store to a node's state."""
    node, now = state.node, timeline.now()
    pods: dict[str, list[DeviceBinding]] = {}
    for binding in state.bindings:
        pods.setdefault(binding.pod, []).append(binding)
    found: list[Transition] = [
        PodAdmitted(node, now, PodIdentity(bindings[0].pod), tuple(bindings))
        for bindings in pods.values()
    ]
    found += [DevicesReported(node, now, resource, ()) for resource in state.registered]
    if state.phase is not None:
        found.append(PhaseChanged(node, now, state.phase))
    return found
