"""A simulated cluster in virtual time: perform actions, let time pass, look at what happened.

The same spec gives the same records, byte for byte. The store comes from outside, so that the
persistence `database` runs on the real one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from simulator.core.instants import Duration, Instant, after
from simulator.core.migration.phases import Phase
from simulator.core.records import Record, Stamped, StepDone
from simulator.core.transitions import NodeName
from simulator.engine.actions import Action
from simulator.engine.api import NO_NODE, ApiPod, ApiServer
from simulator.engine.cluster import Cluster, Keeping
from simulator.engine.controllers import Controllers
from simulator.engine.database import Database
from simulator.engine.faults import Effect, EffectLog, Fault
from simulator.engine.initial_state import place_initial_pods, pods_only_recorded
from simulator.engine.invariants import NodeInvariants
from simulator.engine.node import Node
from simulator.engine.node_phase import keeps_database
from simulator.engine.observation import (
    CheckpointObservation,
    HoldingObservation,
    NodeObservation,
    PluginObservation,
    PodObservation,
)
from simulator.engine.observer import (
    PodHistory,
    observe_holdings,
    observe_node,
    observe_plugin,
    observe_pod,
)
from simulator.engine.performer import Completed, Performer
from simulator.engine.pod_factory import PodFactory
from simulator.engine.scheduler import Scheduler
from simulator.engine.spec import SimulationSpec
from simulator.engine.spec_check import check_spec
from simulator.engine.streams import RandomStreams
from simulator.engine.timeline import Priority, Timeline
from simulator.ports import Store

StoreFactory = Callable[[NodeName], Store]
"""Opens the store of a node's database; when called again for a node, a new and empty one."""


@dataclass(frozen=True, slots=True)
class Watching:
    """What a run keeps beside its records.

    Attributes:
        invariants: Whether the invariants are checked after every event.
        invariant_period: Check a node at most once in this span: sampling, for large clusters.
        effects: Whether every effect is kept, for a later run that is cut at each of them.
    """

    invariants: bool = True
    invariant_period: Duration = Duration(0)
    effects: bool = False


class Simulation:
    """One run.

    Args:
        spec: What it starts from.
        store_factory: Called for each node when the persistence keeps a database.
        faults: What goes wrong at which effect.
        watching: What is kept beside the records.
        keeping: How state is kept, where that is not simply as the spec says.

    Attributes:
        records: What has happened so far, in order.

    Raises:
        ConfigError: The spec names something twice, or something that is not there.
    """

    def __init__(
        self,
        spec: SimulationSpec,
        *,
        store_factory: StoreFactory,
        faults: Iterable[Fault] = (),
        watching: Watching = Watching(),
        keeping: Keeping = Keeping(),
    ) -> None:
        check_spec(spec)
        self.records: list[Stamped] = []
        self._spec = spec
        self._watching = watching
        self._timeline = Timeline()
        self._effects = EffectLog(faults, keep=watching.effects)
        self._streams = RandomStreams(spec.seed)
        self._history = PodHistory()
        self._databases: dict[int, Database] = {}
        self._touched: dict[NodeName, None] = {}
        self._check_due: dict[NodeName, Instant] = {}
        self._under_way: dict[str, Completed] = {}
        self._completed: dict[str, Instant] = {}
        self._api = ApiServer(self._timeline, self._emit)
        self._store_factory = store_factory
        self._ideal = keeping.ideal
        cluster = Cluster(
            run=spec,
            timeline=self._timeline,
            api=self._api,
            streams=self._streams,
            effects=self._effects,
            emit=self._emit,
            touch=self._touch,
            strategy=keeping.strategy,
        )
        self._nodes = {
            node.name: Node(
                node,
                cluster,
                database=self._database(node.name),
                disturbed=self._history.remember,
            )
            for node in spec.nodes
        }
        self._invariants = {name: NodeInvariants(node) for name, node in self._nodes.items()}
        self._plugins = {
            plugin.name: self._nodes[plugin.node].add_plugin(plugin) for plugin in spec.plugins
        }
        factory = PodFactory(self._timeline, self._api, self._streams)
        Controllers(self._timeline, self._api, factory)
        Scheduler(self._timeline, self._api)
        self._performer = Performer(cluster, self._nodes, self._plugins, factory)
        self._only_recorded: dict[str, ApiPod] = {}
        for node in self._nodes.values():
            place_initial_pods(node, self._api)
            self._only_recorded |= pods_only_recorded(node)
            node.start_kubelet(warm=True)

    # Time

    @property
    def now(self) -> Instant:
        """The present instant."""
        return self._timeline.now()

    def next_at(self) -> Instant | None:
        """Return when the next event is due; None when nothing is planned any more."""
        return self._timeline.next_at()

    def call_at(
        self, at: Instant, action: Callable[[], None], priority: Priority = Priority.STEP
    ) -> None:
        """Plan something of the caller's own, such as the next step."""
        self._timeline.call_at(at, action, priority)

    def step(self) -> None:
        """Let the next event happen.

        Raises:
            IndexError: Nothing is planned.
        """
        self._timeline.step()
        self._settle()

    def run_until(self, at: Instant) -> None:
        """Let everything happen that is due up to and at `at`."""
        while (due := self._timeline.next_at()) is not None and due <= at:
            self.step()
        self._timeline.advance_to(at)

    # Actions

    def perform(self, action: Action, name: str) -> None:
        """Perform an action now; its completion is a `StepDone` record with this name.

        Raises:
            ScenarioError: The action names something that is not there.
            ConfigError: It names a kubelet version that is not known.
        """
        for plugin in self._plugins.values():
            plugin.forget_calls()
        self._under_way[name] = self._performer.perform(action)
        self._settle()

    def completed_at(self, name: str) -> Instant | None:
        """Return when the action of this name was complete; None while it is not."""
        return self._completed.get(name)

    # Observations

    def pod(self, name: str) -> PodObservation | None:
        """Return the newest pod of this name; None when there never was one.

        A pod that only the first checkpoint names is a deleted one.
        """
        pod = self._api.pod_named(name) or self._only_recorded.get(name)
        if pod is None:
            return None
        node = None if pod.node is None else self._nodes.get(pod.node)
        return observe_pod(pod, node, self._history, self._plugins)

    def pods(self) -> list[PodObservation]:
        """Return all pods that the API has, replacements included, in order of creation."""
        observed = (self.pod(pod.pod.name) for pod in self._api.pods())
        return [pod for pod in observed if pod is not None]

    def node(self, name: NodeName) -> NodeObservation:
        """Return a node."""
        return observe_node(self._nodes[name], self._api)

    def plugin(self, name: str) -> PluginObservation:
        """Return a plugin."""
        return observe_plugin(self._plugins[name])

    def checkpoint(self, node: NodeName) -> CheckpointObservation:
        """Return how a node's checkpoint file looks."""
        found = self._nodes[node]
        return found.authority.checkpoint(found.behavior)

    def phase(self, node: NodeName) -> Phase:
        """Return how far a node's migration between file and database is."""
        return self._nodes[node].phase.phase

    def files(self, node: NodeName) -> list[str]:
        """Return the names in a node's plugin directory, sorted; sockets are left out."""
        return self._nodes[node].storage.disk.names()

    def holdings(self, node: NodeName) -> tuple[HoldingObservation, ...]:
        """Return who holds what according to a node's durable state."""
        return observe_holdings(self._nodes[node])

    @property
    def effects(self) -> tuple[Effect, ...]:
        """The effects so far, if they are kept."""
        return self._effects.effects

    @property
    def effect_count(self) -> int:
        """The number of effects so far."""
        return self._effects.count

    def close(self) -> None:
        """Let go of the stores."""
        for database in self._databases.values():
            database.close()
        self._databases.clear()

    # Inside

    def _database(self, node: NodeName) -> Database | None:
        """Return a node's database; nodes that are given the same store share one."""
        if not keeps_database(self._spec):
            return None
        store = self._store_factory(node)
        database = self._databases.get(id(store))
        if database is None:
            database = self._databases[id(store)] = Database(
                self._timeline,
                store,
                lambda: self._store_factory(node),
                self._spec.durability,
                ideal=self._ideal,
            )
            database.added_fsync = self._spec.added_fsync
        else:
            database.shared = True
        return database

    def _emit(self, node: NodeName, record: Record) -> None:
        self.records.append(Stamped(self._timeline.now(), node, record))
        self._touched[node] = None
        invariants = self._invariants.get(node) if self._watching.invariants else None
        if invariants is not None:
            invariants.note(record)

    def _touch(self, node: NodeName) -> None:
        self._touched[node] = None

    def _settle(self) -> None:
        """After an event: check what it touched, and see which actions it completed."""
        if self._watching.invariants:
            self._check()
        for name in [name for name, is_complete in self._under_way.items() if is_complete()]:
            del self._under_way[name]
            self._completed[name] = self.now
            self._emit(NO_NODE, StepDone(name))

    def _check(self) -> None:
        due = [name for name in self._touched if self._check_due.get(name, self.now) <= self.now]
        for name in due:
            del self._touched[name]
            self._check_due[name] = after(self.now, self._watching.invariant_period)
            if name in self._invariants:
                for violation in self._invariants[name].begun():
                    self._emit(name, violation)
                self._touched.pop(name, None)
