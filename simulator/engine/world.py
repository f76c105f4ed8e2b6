"""A cluster in time: perform actions, let time pass, look at what happened.

Which time that is, and what its disks, databases and plugins are, a driver decides: all virtual
(`simulator.engine.virtual`), or all real (`simulator.live`). Everything else is the same code.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from simulator.core.instants import Duration, Instant
from simulator.core.migration.phases import Phase
from simulator.core.records import Record, Stamped, StepDone
from simulator.core.transitions import NodeName
from simulator.engine.actions import Action
from simulator.engine.api import ApiServer
from simulator.engine.api_objects import NO_NODE, ApiPod
from simulator.engine.cluster import Cluster, Strategy
from simulator.engine.controllers import Controllers
from simulator.engine.faults import EffectLog
from simulator.engine.initial_state import place_initial_pods, pods_only_recorded
from simulator.engine.invariant_checks import InvariantChecks
from simulator.engine.node import Node
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
from simulator.engine.ports import Adapters
from simulator.engine.records_kept import RecordsKept
from simulator.engine.scheduler import Scheduler
from simulator.engine.spec import SimulationSpec
from simulator.engine.spec_check import check_spec
from simulator.engine.streams import RandomStreams
from simulator.engine.timeline import Timeline


@dataclass(frozen=True, slots=True)
class Watching:
    """What a run keeps beside its records.

    Attributes:
        invariants: Whether the invariants are checked after every event.
        invariant_period: Check a node at most once in this span: sampling, for large clusters.
        effects: Whether every effect is kept, for a later run that is cut at each of them.
        records_max: How many of the latest records are kept at least; None for all. Long lists of
            devices count as several (`simulator.engine.records_kept`).
        deleted_pods_max: Of how many deleted pods it is still known what they were; None for all.
    """

    invariants: bool = True
    invariant_period: Duration = Duration(0)
    effects: bool = False
    records_max: int | None = None
    deleted_pods_max: int | None = None


class World:
    """One cluster.

    Args:
        spec: What it starts from.
        timeline: Its time.
        adapters: What its nodes are made of.
        effects: What goes wrong at which effect.
        watching: What is kept beside the records.
        strategy: Makes the persistence of one kubelet; None for that of the spec's name.

    Attributes:
        records: What has happened so far, in order; of very many, only the latest may be kept.
        revisions: By node, a number that grows whenever something changes.

    Raises:
        ConfigError: The spec names something twice, or something that is not there.
    """

    def __init__(  # noqa: PLR0913 - what a driver supplies, by keyword
        self,
        spec: SimulationSpec,
        *,
        timeline: Timeline,
        adapters: Adapters,
        effects: EffectLog,
        watching: Watching,
        strategy: Strategy | None = None,
    ) -> None:
        check_spec(spec)
        self._kept = RecordsKept(watching.records_max)
        self.records = self._kept.records
        self.timeline = timeline
        self._watching = watching
        self._listeners: list[Callable[[Stamped], None]] = []
        self._timers: list[Callable[[NodeName, Duration], None]] = []
        self._history = PodHistory()
        self.revisions: Counter[NodeName] = Counter()
        self._checks = InvariantChecks(timeline, watching.invariant_period, self._emit)
        self._under_way: dict[str, Completed] = {}
        self._completed: dict[str, Instant] = {}
        streams = RandomStreams(spec.seed)
        self.api = ApiServer(
            timeline,
            self._emit,
            remembered_max=watching.deleted_pods_max,
            forgotten=self._forget,
            watch_delay=spec.delays.watch,
        )
        cluster = Cluster(
            run=spec,
            timeline=timeline,
            api=self.api,
            transport=adapters.transport(self.api),
            streams=streams,
            effects=effects,
            emit=self._emit,
            touch=self._touch,
            decided=self._decided,
            strategy=strategy,
        )
        self.nodes = {
            node.name: Node(node, cluster, adapters, disturbed=self._history.remember)
            for node in spec.nodes
        }
        self._checks.watch(self.nodes.values())
        self.plugins = {
            plugin.name: self.nodes[plugin.node].add_plugin(plugin) for plugin in spec.plugins
        }
        self.factory = PodFactory(timeline, self.api, streams)
        Controllers(timeline, self.api, self.factory)
        Scheduler(timeline, self.api)
        self._performer = Performer(cluster, self.nodes, self.plugins, self.factory)
        self._only_recorded: dict[str, ApiPod] = {}

    def start(self, *, warm: bool) -> None:
        """Let the nodes begin, with their pods.

        Args:
            warm: Whether their kubelets are taken to have run before.
        """
        for node in self.nodes.values():
            self._place(node)
            node.start_kubelet(warm=warm)

    # Time

    @property
    def now(self) -> Instant:
        """The present instant."""
        return self.timeline.now()

    # Actions

    def perform(self, action: Action, name: str) -> None:
        """Perform an action now; its completion is a `StepDone` record with this name.

        Raises:
            ScenarioError: The action names something that is not there.
            ConfigError: It names a kubelet version that is not known.
        """
        for plugin in self.plugins.values():
            plugin.counts.forget()
        self._under_way[name] = self._performer.perform(action)
        self.settle()

    def completed_at(self, name: str) -> Instant | None:
        """Return when the action of this name was complete; None while it is not."""
        return self._completed.get(name)

    # Observations

    def watch_records(self, listener: Callable[[Stamped], None]) -> None:
        """Tell `listener` of every record from now on, at once."""
        self._listeners.append(listener)

    def watch_decisions(self, listener: Callable[[NodeName, Duration], None]) -> None:
        """Tell `listener` how long each decision of a device manager about a pod takes (S11)."""
        self._timers.append(listener)

    def pod(self, name: str) -> PodObservation | None:
        """Return the newest pod of this name; None when there never was one.

        A pod that only the first checkpoint names is a deleted one.
        """
        pod = self.api.pod_named(name) or self._only_recorded.get(name)
        if pod is None:
            return None
        node = None if pod.node is None else self.nodes.get(pod.node)
        return observe_pod(pod, node, self._history, self.plugins)

    def pods(self) -> list[PodObservation]:
        """Return all pods that the API has, replacements included, in order of creation."""
        observed = (self.pod(pod.pod.name) for pod in self.api.pods())
        return [pod for pod in observed if pod is not None]

    def node(self, name: NodeName) -> NodeObservation:
        """Return a node."""
        return observe_node(self.nodes[name], self.api)

    def plugin(self, name: str) -> PluginObservation:
        """Return a plugin."""
        return observe_plugin(self.plugins[name])

    def checkpoint(self, node: NodeName) -> CheckpointObservation:
        """Return how a node's checkpoint file looks."""
        found = self.nodes[node]
        return found.authority.checkpoint(found.behavior)

    def phase(self, node: NodeName) -> Phase:
        """Return how far a node's migration between file and database is."""
        return self.nodes[node].phase.phase

    def files(self, node: NodeName) -> list[str]:
        """Return the names in a node's plugin directory, sorted; sockets are left out."""
        return self.nodes[node].storage.disk.names()

    def holdings(self, node: NodeName) -> tuple[HoldingObservation, ...]:
        """Return who holds what according to a node's durable state."""
        return observe_holdings(self.nodes[node])

    # Inside

    def _place(self, node: Node) -> None:
        """Give a node the state and the pods from which it starts."""
        place_initial_pods(node, self.api)
        self._only_recorded |= pods_only_recorded(node)

    def _emit(self, node: NodeName, record: Record) -> None:
        stamped = Stamped(self.timeline.now(), node, record)
        self._kept.add(stamped)
        for listener in self._listeners:
            listener(stamped)
        self._touch(node)
        if self._watching.invariants:
            self._checks.note(node, record)

    def _forget(self, pod: ApiPod) -> None:
        """Forget a pod that was deleted long ago."""
        self._history.forget(pod.uid)
        for plugin in self.nodes[pod.node].plugins.values() if pod.node in self.nodes else ():
            plugin.counts.forget_pod(pod.uid)
        if self.api.pod_named(pod.pod.name) is None:
            self.factory.forget(pod.pod.name)
        self._checks.forget(pod)

    def _touch(self, node: NodeName) -> None:
        self.revisions[node] += 1
        self._checks.touch(node)

    def _decided(self, node: NodeName, span: Duration) -> None:
        for listener in self._timers:
            listener(node, span)

    def settle(self) -> None:
        """After an event: check what it touched, and see which actions it completed."""
        if self._watching.invariants:
            self._checks.check()
        for name in [name for name, is_complete in self._under_way.items() if is_complete()]:
            del self._under_way[name]
            self._complete(name)
            self._emit(NO_NODE, StepDone(name))

    def _complete(self, name: str) -> None:
        """Note when an action was complete, for as long as its record would be kept."""
        self._completed[name] = self.now
        most = self._watching.records_max
        if most is not None and len(self._completed) > most:
            del self._completed[next(iter(self._completed))]
