"""One node under test: pods come and go, the kubelet dies, and everything is checked all the time.

The node does what a kubelet and its runtime do around the device manager: after a restart the
bound pods are admitted again, oldest first and with sources not ready, and what runs, runs on. What
contradicts a promise is written down as a finding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from simulator.core.api_calls import ApiCall
from simulator.core.behavior import Behavior, Readmission, Reservations
from simulator.core.calls import Call, Decision, Reply, StoreDecision
from simulator.core.choices import SortedChoices
from simulator.core.device_manager import DeviceManager
from simulator.core.devices import Device, DeviceId, device_ids
from simulator.core.endpoints import PluginOptions
from simulator.core.facts import ActivePods, ContainerInstance, KubeletFacts
from simulator.core.instants import SECOND, Instant
from simulator.core.machine import Machine, TopologyOptions, TopologyPolicy
from simulator.core.persistence.protocol import Persistence
from simulator.core.pods import Container, ContainerName, Pod, PodUid
from simulator.core.refusals import TOPOLOGY_AFFINITY_ERROR
from simulator.core.resources import ResourceName
from simulator.core.transitions import DeviceBinding
from tests.recovery.outside import KubeletDied, Outside

T = TypeVar("T")
Strategy = Callable[[], Persistence]
Given = frozenset[tuple[ResourceName, DeviceId]]
Plain = frozenset[tuple[object, ...]]
"""Device bindings in a form that can be compared as a set."""


class StateForgotten(Exception):  # noqa: N818  no error: the kubelet's own rule
    """The state could not be read and the kubelet started empty (S4.12)."""


@dataclass(frozen=True, slots=True)
class _Plugin:
    devices: tuple[Device, ...]
    options: PluginOptions
    is_late: bool


class Node:
    """A node with one kubelet, alive whenever no step is under way.

    Attributes:
        findings: Broken promises, in words.
        manager: The present kubelet's device manager.
    """

    def __init__(
        self,
        strategy: Strategy,
        reservations: Reservations,
        outside: Outside,
        *,
        policy: TopologyPolicy = TopologyPolicy.NONE,
        readmission: Readmission = Readmission.UPSTREAM,
    ) -> None:
        self.findings: list[str] = []
        self._strategy = strategy
        self._reservations = reservations
        self._outside = outside
        self._readmission = readmission
        self._waiting: dict[PodUid, Pod] = {}
        self._topology = TopologyOptions(policy=policy)
        self._keeps_rows = strategy().name in {"database", "dual-write"}
        self._ids_only = strategy().recalls_ids_only
        self._waits_for_api = strategy().name in {"bind-resource", "binding-object"}
        self._server = outside.durable.server
        self._now = Instant(0)
        self._plugins: dict[ResourceName, _Plugin] = {}
        self._bound: dict[PodUid, Pod] = {}
        self._announced: dict[PodUid, Plain] = {}
        self._running: dict[tuple[PodUid, ContainerName], Given] = {}
        self.manager = self._start()

    # What happens to the node

    def plug(
        self,
        resource: ResourceName,
        *devices: Device,
        options: PluginOptions | None = None,
        is_late: bool = False,
    ) -> None:
        """A plugin registers and reports; after a restart again, late ones after the pods."""
        self._plugins[resource] = _Plugin(devices, options or PluginOptions(), is_late)
        with self._step():
            self._connect(resource)

    def report(self, resource: ResourceName, *devices: Device) -> None:
        """The plugin reports another list."""
        plugin = self._plugins[resource]
        self._plugins[resource] = _Plugin(devices, plugin.options, plugin.is_late)
        with self._step():
            self._run(self.manager.report_devices(resource, devices))
            self._ask_again()

    def create(self, pod: Pod) -> None:
        """A pod is bound to the node and admitted, or refused; nothing if it is there already."""
        if pod.uid in self._bound:
            return
        with self._step():
            self._bound[pod.uid] = pod
            if self._server is not None:
                self._server.create(pod)
            self._admit(pod, had_record=False)

    def end(self, uid: str) -> None:
        """A pod's containers end and the pod is gone, whether it was admitted or not."""
        self._forget(PodUid(uid))

    def restart_container(self, uid: str, name: str) -> None:
        """A running container ends and is started in place."""
        pod = self._bound.get(PodUid(uid))
        if pod is not None:
            with self._step():
                self._start_container(pod, pod.container_named(ContainerName(name)))

    def release(self) -> None:
        """Somebody lists pod resources, which frees what ended pods held (S6.2c)."""
        with self._step():
            self._run(self.manager.release_inactive())

    def restart(self) -> None:
        """The kubelet stops and starts; containers run on."""
        with self._step():
            self.manager = self._start()

    def reboot(self) -> None:
        """The node stops and starts; no container runs any more."""
        self._running.clear()
        self.restart()

    def free_devices(self) -> dict[ResourceName, int]:
        """Return how many healthy devices no admitted pod holds."""
        held = {
            (binding.resource, device)
            for uid in self._announced
            for binding in self.manager.bindings_of(uid)
            for device in device_ids(binding.devices)
        }
        return {
            resource: sum(
                device.is_healthy and (resource, device.id) not in held for device in plugin.devices
            )
            for resource, plugin in self._plugins.items()
        }

    def is_announced(self, uid: str) -> bool:
        """Whether the pod was admitted and still is."""
        return PodUid(uid) in self._announced

    # What the kubelet does

    @contextmanager
    def _step(self) -> Iterator[None]:
        """Do something; if the kubelet dies, start it again; then look at everything."""
        self._now = Instant(self._now + SECOND)
        try:
            self._facts.now = self._now
            yield
            self._flush()
        except KubeletDied:
            self.manager = self._start()
        self._check()

    def _start(self) -> DeviceManager:
        """Start kubelets until one lives through its start."""
        while True:
            try:
                manager = self._restored()
                self.manager = manager
                self._first_batch()
            except KubeletDied:
                continue
            return manager

    def _restored(self) -> DeviceManager:
        """Start a device manager over the durable state; a refused start is tried again."""
        while True:
            instances = tuple(
                ContainerInstance(pod, container, f"{pod}-{container}", running=True)
                for pod, container in self._running
            )
            self._facts = KubeletFacts(now=self._now, active_pods=ActivePods(), instances=instances)
            manager = self._new_manager(self._facts)
            restored = self._run(manager.start())
            if restored.fatal:
                continue
            if restored.error:
                raise StateForgotten(restored.error)
            if not self._waits_for_api:
                self._compare("restored", manager)
            return manager

    def _new_manager(self, facts: KubeletFacts) -> DeviceManager:
        return DeviceManager(
            node=self._outside.durable.node,
            behavior=Behavior(),
            persistence=self._strategy(),
            facts=facts,
            machine=Machine.with_nodes(2),
            topology=self._topology,
            choices=SortedChoices(),
            readmission=self._readmission,
            reservations=self._reservations,
        )

    def _first_batch(self) -> None:
        self._waiting.clear()
        while self._run(self.manager.api.pods_listed([self._seen(each) for each in self._pods()])):
            pass
        for resource, plugin in self._plugins.items():
            if not plugin.is_late:
                self._connect(resource)
        for pod in tuple(self._bound.values()):
            self._admit(pod, had_record=bool(self.manager.bindings_of(pod.uid)))
        self._facts.sources_ready = True
        for resource, plugin in self._plugins.items():
            if plugin.is_late:
                self._connect(resource)
        self._flush()

    def _pods(self) -> tuple[Pod, ...]:
        return tuple(self._bound.values())

    def _seen(self, pod: Pod) -> Pod:
        """Return a pod as the API has it now."""
        return pod if self._server is None else self._server.seen(pod)

    def _flush(self) -> None:
        """Write what is owed to the API; what fails is tried again."""
        while self.manager.api.is_owed:
            self._run(self.manager.api.flush())

    def _may_start(self, pod: Pod) -> bool:
        """Pass the gate before the first container; what fails is tried again."""
        while True:
            gate = self._run(self.manager.api.before_start(self._seen(pod)))
            if not gate.retry:
                return gate.admitted

    def _connect(self, resource: ResourceName) -> None:
        plugin = self._plugins[resource]
        self.manager.register(resource, plugin.options)
        self._run(self.manager.report_devices(resource, plugin.devices))
        self._ask_again()

    def _ask_again(self) -> None:
        """Admit the pods that wait for a plugin (`readmission: wait`)."""
        for pod in tuple(self._waiting.values()):
            self._admit(pod, had_record=True)

    def _admit(self, pod: Pod, *, had_record: bool) -> None:
        self._facts.active_pods.add(pod)
        self._waiting.pop(pod.uid, None)
        has_its_devices = self._has_its_devices(pod)
        if self._readmission is Readmission.REASSIGN and not has_its_devices:
            # The kubelet may die between the commit of other devices and their announcement.
            self._announced.pop(pod.uid, None)
        admission = self._run(self.manager.admit(self._seen(pod)))
        if admission.retry:
            self._waiting[pod.uid] = pod
            return
        if not admission.admitted:
            # Chosen again, they may lie where a topology policy does not want them the next time.
            chosen_again = self._readmission is Readmission.REASSIGN
            excused = chosen_again and admission.reason == TOPOLOGY_AFFINITY_ERROR
            if pod.uid in self._announced and has_its_devices and not excused:
                self.findings.append(f"{pod.uid} was refused its own devices: {admission.message}")
            self._forget(pod.uid)
            left = self.manager.bindings_of(pod.uid)
            if left and not had_record and self._reservations is Reservations.TRANSACTIONAL:
                self.findings.append(f"refused {pod.uid} left {left}")
            return
        if self._may_start(pod):
            self._start_containers(pod)
            return
        if self._readmission is not Readmission.REASSIGN:
            self.findings.append(f"{pod.uid} may not start with what it has")
        # Devices chosen again cannot be written into a spec: the pod fails (designs 3.3).
        self._forget(pod.uid)

    def _start_containers(self, pod: Pod) -> None:
        """Announce what an admitted pod has, and start what does not run yet."""
        bindings = self._plain(self.manager.bindings_of(pod.uid))
        if self._announced.setdefault(pod.uid, bindings) != bindings:
            self.findings.append(f"{pod.uid} had {self._announced[pod.uid]}, now {bindings}")
        for container in pod.all_containers():
            if (pod.uid, container.name) not in self._running:
                self._start_container(pod, container)

    def _has_its_devices(self, pod: Pod) -> bool:
        """Whether the kubelet has no reason to refuse a pod with a record (steps B to E).

        A container that runs is let through in the first batch; any other needs a healthy device
        of everything it asks for, be it none of it, and all that it has (X13).
        """
        healthy = self.manager.allocatable_devices()
        for container in pod.all_containers():
            if (pod.uid, container.name) in self._running and not self._facts.sources_ready:
                continue
            held = self.manager.devices_of(pod.uid, container.name)
            for resource, _ in container.limits:
                listed = healthy.get(resource, {})
                if not listed or not listed.keys() >= held.get(resource, {}).keys():
                    return False
        return True

    def _start_container(self, pod: Pod, container: Container) -> None:
        """Start a container; one failed start is tried once more, as the kubelet does."""
        for _ in range(2):
            result = self._run(self.manager.run_options(self._seen(pod), container.name))
            if not result.error:
                break
        given = frozenset(
            (resource, device)
            for resource, devices in self.manager.devices_of(pod.uid, container.name).items()
            for device in devices
        )
        before = self._running.setdefault((pod.uid, container.name), given)
        if before != given:
            self.findings.append(f"I2: {pod.uid} {container.name} ran with {before}, now {given}")

    def _forget(self, uid: PodUid) -> None:
        """A pod is no longer active, and its containers end."""
        gone = self._bound.pop(uid, None)
        if gone is not None and self._server is not None:
            self._server.delete(gone)
        self._waiting.pop(uid, None)
        self._announced.pop(uid, None)
        self._facts.active_pods.pop(uid, None)
        for key in [key for key in self._running if key[0] == uid]:
            del self._running[key]

    def _run(self, decision: Decision[T] | StoreDecision[T]) -> T:
        reply: Reply | None = None
        while True:
            try:
                call: Call = decision.send(reply)  # type: ignore[arg-type]  # None starts it
            except StopIteration as stop:
                result: T = stop.value
                return result
            reply = self._outside.answer(call)

    # What must hold

    def _check(self) -> None:
        self.findings += [f"{one.invariant}: {one.detail}" for one in self.manager.violations()]
        self._compare("in memory", self.manager)
        self._check_running()
        durable = self._durable()
        self._compare("durable", durable)
        in_memory, kept = (
            self._plain(manager.snapshot().bindings) for manager in (self.manager, durable)
        )
        if self._is_exact and kept != in_memory:
            self.findings.append(f"durable {sorted(kept)} is not memory {sorted(in_memory)}")

    @property
    def _is_exact(self) -> bool:
        """Whether the durable state equals memory at rest; a file lags behind (S4.10, S6.3)."""
        return self._reservations is Reservations.TRANSACTIONAL and self._keeps_rows

    def _compare(self, where: str, manager: DeviceManager) -> None:
        """Every announced pod has exactly what was announced."""
        for uid, announced in self._announced.items():
            found = self._plain(manager.bindings_of(uid))
            if found != announced:
                self.findings.append(f"{where}: {uid} was announced {announced}, has {found}")

    def _check_running(self) -> None:
        owners: dict[tuple[ResourceName, DeviceId], PodUid] = {}
        for (uid, _), given in sorted(self._running.items()):
            for one in sorted(given):
                if owners.setdefault(one, uid) != uid:
                    self.findings.append(f"I1: {one} runs in {owners[one]} and {uid}")

    def _durable(self) -> DeviceManager:
        """Return what a kubelet would restore now, without counting its calls."""
        manager = self._new_manager(KubeletFacts(now=self._now))
        self._look(manager.start())
        if self._server is not None:
            self._look(manager.api.pods_listed([self._seen(each) for each in self._pods()]))
        return manager

    def _look(self, decision: StoreDecision[object]) -> None:
        """Let a decision see the durable state, without counting its calls."""
        reply: Reply | None = None
        while True:
            try:
                call = decision.send(reply)  # type: ignore[arg-type]  # None starts it
            except StopIteration:
                return
            if isinstance(call, ApiCall):
                reply = self._outside.serve(call)
            else:
                reply = self._outside.durable.look(call)

    def _plain(self, bindings: Iterable[DeviceBinding]) -> Plain:
        """Return what is to be the same; of what the API has only the ids."""
        if self._ids_only:
            return frozenset(
                (one.pod, one.container, one.resource, device_ids(one.devices)) for one in bindings
            )
        return frozenset(
            (one.pod, one.container, one.resource, tuple(sorted(one.devices.items())), one.response)
            for one in bindings
        )
