"""One simulated node: machine, disk, runtime, plugins, and the kubelet process that runs now.

Everything that stops or starts a kubelet goes through here: restart, crash, upgrade, reboot, loss
of power, replacement by a blank machine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial

from simulator.core.behavior import Behavior, Reservations
from simulator.core.choices import Choices, SortedChoices
from simulator.core.instants import Duration, Instant
from simulator.core.migration.phases import Phase
from simulator.core.persistence.choosing import STRATEGIES
from simulator.core.records import (
    EventEmitted,
    FaultInjected,
    KubeletStartFailed,
    KubeletStopped,
    MigrationStep,
    Record,
)
from simulator.core.transitions import NodeName
from simulator.engine.actions import Loss
from simulator.engine.api_bindings import ApiBindings
from simulator.engine.authority import Authority
from simulator.engine.cluster import Cluster
from simulator.engine.host import Host
from simulator.engine.injection import Injector
from simulator.engine.kubelet import Kubelet
from simulator.engine.latencies import INIT_CONTAINER_RUN
from simulator.engine.migration import MigrationProcess
from simulator.engine.node_phase import NodePhase
from simulator.engine.plugin_ports import InstalledPlugin, KubeletSocket
from simulator.engine.ports import Adapters
from simulator.engine.power import Power
from simulator.engine.runtime import ContainerProcess, Runtime
from simulator.engine.spec import NodeSpec, PluginSpec
from simulator.engine.storage_ports import NodeDatabase
from simulator.engine.streams import RandomChoices, RandomStreams
from simulator.engine.timeline import Process


class Node:
    """A node (`simulator.engine.host.Machine`, `simulator.engine.injection.Breakable`).

    Args:
        adapters: Where its storage, sockets and plugins come from.
        disturbed: Told before a restart, reboot or loss of power.

    Attributes:
        kubelet: The kubelet process; None while none runs.
        plugins: The node's plugins by name, in the order of the spec.
        behavior: The version that runs, or will start next.
        authority: What the durable state says.
        kept: Where its persistence keeps device bindings.
        phase: How far its migration between file and database is.
        storage: Its disk and database.
        replacements: How often a blank machine took this one's place.
        api_calls: How often its kubelets asked the API server for what.
    """

    def __init__(
        self,
        spec: NodeSpec,
        cluster: Cluster,
        adapters: Adapters,
        *,
        disturbed: Callable[[Node], None],
    ) -> None:
        run, timeline = cluster.run, cluster.timeline
        self.behavior = run.behaviors(run.kubelet_version)
        self.kubelet: Kubelet | None = None
        self.plugins: dict[str, InstalledPlugin] = {}
        self._adapters = adapters
        self._timeline = timeline
        self._keep = partial(cluster.emit, spec.name)
        self._disturbed = disturbed
        self._streams = cluster.streams
        self._power = Power(spec.name, timeline, cluster.streams)
        self.replacements = 0
        self._starts = 0
        self._given_up = False
        self.storage = adapters.storage(spec, self._emit)
        self._sockets = adapters.sockets(spec.name)
        self.phase = NodePhase(spec.name, run, self.storage.database)
        self._migration: MigrationProcess | None = None
        self.api_calls: Counter[str] = Counter()
        self._host = Host(
            name=spec.name,
            spec=spec,
            run=run,
            timeline=timeline,
            emit=self._emit,
            touch=partial(cluster.touch, spec.name),
            decided=partial(cluster.decided, spec.name),
            api=cluster.api,
            transport=cluster.transport,
            api_calls=self.api_calls,
            runtime=Runtime(spec.name, self._emit, timeline.now),
            storage=self.storage,
            sockets=self._sockets,
            phase=self.phase,
            injector=Injector(spec.name, timeline, cluster.effects, self),
            choices=_choices(run.choice, spec.name, cluster.streams),
            machine=self,
            strategy=cluster.strategy,
        )
        self.kept = STRATEGIES[run.persistence]
        bindings = None
        if self.kept.in_api:
            bindings = ApiBindings(cluster.api, spec.name, self.runtime, self.kept)
        self.authority = Authority(self.storage.disk, self.phase, bindings)

    def emit(self, record: Record) -> None:
        """Stamp a record of this node and keep it."""
        self._emit(record)

    def _emit(self, record: Record) -> None:
        self._keep(record)
        if isinstance(record, EventEmitted) and self.kubelet is not None:
            self.kubelet.api.post(record)

    @property
    def name(self) -> NodeName:
        """The node's name."""
        return self._host.name

    @property
    def spec(self) -> NodeSpec:
        """What the node was made from."""
        return self._host.spec

    @property
    def now(self) -> Instant:
        """The present instant."""
        return self._timeline.now()

    @property
    def boot_id(self) -> str:
        """The id of the present boot."""
        return self._power.boot_id

    @property
    def power(self) -> Process:
        """What ends when the machine loses power or reboots."""
        return self._power.process

    @property
    def boots(self) -> int:
        """How often the machine went down."""
        return self._power.boots

    @property
    def stops(self) -> int:
        """How often a kubelet was stopped, or was to be."""
        return self._starts

    @property
    def runtime(self) -> Runtime:
        """The container runtime."""
        return self._host.runtime

    @property
    def database(self) -> NodeDatabase | None:
        """The database, if the persistence keeps its state there."""
        return self.storage.database

    @property
    def reservations(self) -> Reservations:
        """What a failed allocation leaves behind."""
        return self.phase.reservations

    @property
    def serves(self) -> bool:
        """Whether a kubelet runs on it and listens."""
        return self.kubelet is not None and self.kubelet.serving

    @property
    def settled(self) -> bool:
        """Whether a kubelet has handled its first batch, or has given up starting."""
        return self._given_up or (self.kubelet is not None and self.kubelet.settled)

    def add_plugin(self, spec: PluginSpec) -> InstalledPlugin:
        """Install a plugin; it does not run yet."""
        plugin = self._adapters.plugin(spec, self.socket)
        self.plugins[spec.name] = plugin
        return plugin

    def socket(self) -> KubeletSocket | None:
        """Return the registration socket of a serving kubelet."""
        kubelet = self.kubelet
        return kubelet.plugins if kubelet is not None and kubelet.serving else None

    # Life of the kubelet

    def start_kubelet(self, *, warm: bool = False) -> None:
        """Start a kubelet process now."""
        self._given_up = False
        self.kubelet = Kubelet(self._host, self.behavior)
        self.kubelet.start(warm=warm)

    def stop_kubelet(self, cause: str) -> None:
        """End the kubelet process, if one runs; containers and plugins run on."""
        self._starts += 1
        migration, self._migration = self._migration, None
        if migration is not None:
            migration.break_off()
        kubelet, self.kubelet = self.kubelet, None
        if kubelet is not None:
            kubelet.stop()
            self._sockets.close()
            self._emit(KubeletStopped(cause))

    def restart_kubelet(
        self, downtime: Duration, cause: str = "stopped", behavior: Behavior | None = None
    ) -> None:
        """Stop the kubelet and start it, perhaps in another version, after `downtime`."""
        if self._power.is_on:
            self._disturbed(self)
        self.stop_kubelet(cause)
        self._given_up = False
        self.behavior = behavior or self.behavior
        if self._power.is_on:
            self._start_after(downtime)

    def migrate(self, to: Phase, downtime: Duration) -> None:
        """Stop the kubelet, migrate the node, and start the kubelet `downtime` later.

        From the first step on the kubelet asks the database for its phase; back at `checkpoint` it
        is configured to use the file alone.
        """
        if not self.kept.migrates:
            persistence = self._host.run.persistence
            error = f"a node with the persistence {persistence} cannot be migrated"
            self._emit(MigrationStep(to.value, "", error))
            return
        if not self._power.is_on:
            self._emit(MigrationStep(to.value, "", "the node is down"))
            return
        self._disturbed(self)
        self.stop_kubelet("stopped")
        self._given_up = False
        self.phase.is_asked = True

        def ended(phase: Phase | None) -> None:
            self._migration = None
            if phase is Phase.CHECKPOINT:
                self.phase.leave_database()
            self._start_after(downtime)

        self._migration = MigrationProcess(self._host, self.behavior, to, ended)
        self._migration.start()

    def crash_kubelet(self, downtime: Duration) -> None:
        """Kill the kubelet and start it again after `downtime`."""
        self.restart_kubelet(downtime, "crashed")

    def kubelet_panicked(self, restart_after: Duration) -> None:
        """The kubelet has crashed by itself; the service manager starts it again."""
        self.restart_kubelet(restart_after, "crashed")

    def kubelet_gave_up(self, message: str) -> None:
        """The kubelet could not start and stays down."""
        self._emit(KubeletStartFailed(message))
        self.stop_kubelet("failed to start")
        self._given_up = True

    def _start_after(self, downtime: Duration) -> None:
        start = self._starts

        def begin() -> None:
            if start == self._starts:
                self.start_kubelet()

        self._power.process.after(downtime, begin)

    # Life of the machine

    def reboot(self, downtime: Duration) -> None:
        """End everything in order; the disk keeps all that was written."""
        self._go_down("reboot")
        self.storage.settle()
        self._power.after_downtime(downtime, self._boot)

    def cut_power(self, downtime: Duration, loss: Loss) -> None:
        """Lose power, and with it what the disk had not made durable; boot after `downtime`."""
        self._emit(FaultInjected("powerCut", f"on {self.name}"))
        self._go_down("power cut")
        self.storage.cut_power(loss, self._streams.stream(f"power/{self.name}"))
        self._power.after_downtime(downtime, self._boot)

    def recreate(self, downtime: Duration) -> None:
        """Put a blank machine of the same name in this one's place."""
        self._go_down("recreated")
        self.replacements += 1
        self.storage.replace()
        self.runtime.wipe()
        self._power.after_downtime(downtime, self._boot)

    def _go_down(self, cause: str) -> None:
        if self._power.is_on:
            self._disturbed(self)
        self.stop_kubelet(cause)
        self._given_up = False
        self._power.turn_off()
        for plugin in self.plugins.values():
            plugin.lose_power()
        self.runtime.stop_all(cause)

    def _boot(self) -> None:
        self._power.turn_on()
        for plugin in self.plugins.values():
            plugin.boot()
            if plugin.spec.starts_after_boot is not None:
                self._power.process.after(plugin.spec.starts_after_boot, plugin.start)
        self.start_kubelet()

    # What a kubelet tells its machine

    def run_init_container(self, process: ContainerProcess) -> None:
        """A plain init container has started; it exits after its time."""

        def end() -> None:
            if process.running:
                self.runtime.exit(process, succeeded=True)
                if self.kubelet is not None:
                    self.kubelet.init_container_exited(process.pod)

        self._power.process.after(INIT_CONTAINER_RUN, end)

    # Faults

    def fill_disk(self, duration: Duration | None) -> None:
        """Let writes fail, for `duration` or for good."""
        self.storage.fill(duration)

    def crash_plugin(self, plugin: InstalledPlugin, restart_after: Duration | None) -> None:
        """Kill a plugin's process and start it again after `restart_after`, if given."""
        plugin.stop()
        if restart_after is not None:
            self._power.process.after(restart_after, plugin.start)

    def break_stream(self, plugin: str) -> None:
        """End the stream of the plugin of this name, if there is one."""
        if plugin in self.plugins:
            self.plugins[plugin].break_stream()


def _choices(choice: str, node: NodeName, streams: RandomStreams) -> Choices:
    if choice == "random":
        return RandomChoices(streams.stream(f"choices/{node}"))
    return SortedChoices()
