"""The device manager against a naive model: whatever happens, in whatever order (acceptance 9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from scenarios.loading.loaded import load_scenarios
from simulator.core.behavior import Reservations
from simulator.core.calls import (
    AllocateCall,
    AllocateReply,
    CallFailed,
    PluginReply,
    PreferredAllocationCall,
    PreferredAllocationReply,
)
from simulator.core.devices import DeviceId, device_ids
from simulator.core.endpoints import PluginOptions
from simulator.core.facts import ActivePods, ContainerInstance
from simulator.core.instants import SECOND, Duration
from simulator.core.persistence.checkpoint import CheckpointPersistence
from simulator.core.persistence.database import DatabasePersistence
from simulator.core.pods import Container, ContainerKind, ContainerName, Pod, PodUid
from simulator.core.resources import ResourceName
from simulator.core.transitions import NodeName, NodeState
from tests.core.driving import GPU, NIC, Rig, allocate_ids, device
from tests.failing import written_failure
from tests.properties.naive_device_manager import NaiveDeviceManager, Outside
from tests.telling import Teller

RESOURCES = (GPU, NIC)
IDS = tuple(f"d{number}" for number in range(6))
WRITE_ERROR = "no space left on device"
FAILED = "rpc error: code = Unknown desc = no"

resources = st.sampled_from(RESOURCES)
counts = st.sampled_from([1, 1, 1, 2, 2, 3, 0])
limits = st.dictionaries(
    st.sampled_from([*RESOURCES, ResourceName("cpu")]), counts, min_size=1, max_size=2
)
kinds = st.sampled_from(
    [ContainerKind.INIT, ContainerKind.SIDECAR, ContainerKind.REGULAR, ContainerKind.REGULAR]
)
health = st.sampled_from([True, True, True, False])
lists = st.one_of(
    st.just(dict.fromkeys(IDS, True)),
    st.dictionaries(st.sampled_from(IDS), health, max_size=len(IDS)),
)
faults = st.one_of(
    st.fixed_dictionaries(
        {"allocate": st.dictionaries(resources, st.sampled_from([FAILED, "empty"]), min_size=1)}
    ),
    st.fixed_dictionaries({"prefer": st.dictionaries(resources, st.just(FAILED), min_size=1)}),
    st.just({"write": WRITE_ERROR}),
)


@st.composite
def pods(draw: st.DrawFn, uid: str = "") -> Pod:
    shapes = draw(st.lists(st.tuples(kinds, limits), min_size=1, max_size=4))
    parts = [
        Container(ContainerName(f"c{number}"), tuple(asked.items()), kind)
        for number, (kind, asked) in enumerate(shapes)
    ]
    return Pod(
        PodUid(uid),
        uid,
        init_containers=tuple(each for each in parts if each.kind is not ContainerKind.REGULAR),
        containers=tuple(each for each in parts if each.kind is ContainerKind.REGULAR),
    )


class Machine(RuleBasedStateMachine):
    """Both managers live through the same; after every rule they must know the same."""

    reservations = Reservations.UPSTREAM
    in_database = False
    latest: ClassVar[Teller]
    """What happened in the run that began last: of a failed test the simplest that fails."""

    @initialize()
    def begin(self) -> None:
        self.teller = type(self).latest = Teller()
        self.rig = Rig(
            persistence=(lambda _: DatabasePersistence())
            if self.in_database
            else CheckpointPersistence,
            reservations=self.reservations,
        )
        self.naive = NaiveDeviceManager(
            leaks=self.reservations is Reservations.UPSTREAM, commits_pods=self.in_database
        )
        self.known: dict[PodUid, Pod] = {}
        self.created = 0
        for resource in RESOURCES:
            self.register(resource, asks=resource == NIC)
            self.report(resource, dict.fromkeys(IDS, True))

    # Plugins

    @rule(resource=resources, asks=st.booleans())
    def register(self, resource: ResourceName, *, asks: bool) -> None:
        options = PluginOptions(preferred_allocation=asks)
        self.teller.plug(resource, *map(device, IDS), options=options)
        self.rig.manager.register(resource, options)
        self.naive.register(resource, asks=asks)

    @rule(resource=resources, listed=lists)
    def report(self, resource: ResourceName, listed: Mapping[str, bool]) -> None:
        devices = [device(each, "Healthy" if listed[each] else "Unhealthy") for each in listed]
        self.teller.report(resource, *devices)
        self.rig.report(resource, *devices)
        healthy = {each for each in listed if listed[each]}
        self.naive.report(resource, healthy, set(listed) - healthy)

    @rule(resource=resources)
    def disconnect(self, resource: ResourceName) -> None:
        self.teller.disconnect(resource)
        self.rig.manager.disconnect(resource)
        self.naive.disconnect(resource)

    @rule(seconds=st.sampled_from([1, 299, 300, 301]))
    def pass_time(self, seconds: int) -> None:
        self.teller.pass_time(seconds)
        self.rig.pass_time(Duration(seconds * SECOND))
        self.naive.now += seconds

    @rule()
    def expire(self) -> None:
        removed = self.rig.run(self.rig.manager.expire_endpoints())
        assert set(removed) == self.naive.expire()

    # Pods

    @rule(pod=pods())
    def create(self, pod: Pod) -> None:
        self.create_while_something_fails(pod, {})

    @rule(pod=pods(), fault=faults)
    def create_while_something_fails(self, pod: Pod, fault: Mapping[str, object]) -> None:
        self.created += 1
        uid = PodUid(f"p{self.created}")
        self._admit(Pod(uid, uid, pod.namespace, pod.init_containers, pod.containers), fault)

    @precondition(lambda self: self.known)
    @rule(data=st.data(), fault=st.one_of(st.just({}), faults))
    def admit_again(self, data: st.DataObject, fault: Mapping[str, object]) -> None:
        self._admit(self._some_pod(data), fault)

    @precondition(lambda self: self.known)
    @rule(data=st.data())
    def end(self, data: st.DataObject) -> None:
        pod = self._some_pod(data)
        self.teller.end(pod.uid)
        del self.known[pod.uid]
        self.rig.facts.active_pods.pop(pod.uid, None)
        self.naive.active.pop(pod.uid, None)

    @rule()
    def release(self) -> None:
        self.rig.run(self.rig.manager.release_inactive())
        self.naive.release()

    # The kubelet

    @rule(ready=health)
    def set_sources_ready(self, *, ready: bool) -> None:
        self.rig.facts.sources_ready = self.naive.sources_ready = ready

    @rule(data=st.data(), ready=health)
    def restart(self, data: st.DataObject, *, ready: bool) -> None:
        """Restart with all state written, so that both know what is kept."""
        self.teller.restart()
        self._write_all()
        containers = [
            (uid, each.name) for uid, pod in self.known.items() for each in pod.all_containers()
        ]
        running = data.draw(st.sets(st.sampled_from(containers)) if containers else st.just(set()))
        self.rig.facts.active_pods = ActivePods(self.rig.facts.active_pods.values())
        self.rig.start(
            *(ContainerInstance(uid, name, name, running=True) for uid, name in sorted(running)),
            sources_ready=ready,
        )
        self.naive.sources_ready = ready
        self.naive.restart({(uid, name) for uid, name in running}, set(self.naive.healthy))

    def _write_all(self) -> None:
        seen = self.rig.manager.snapshot()
        if self.in_database:
            self.rig.stored = NodeState(
                NodeName("n0"), 1, bindings=seen.bindings, registered=tuple(seen.healthy)
            )
            return
        resource = next(iter(seen.healthy), GPU)
        unhealthy = seen.unhealthy.get(resource, ())
        listed = [
            device(each, "Unhealthy" if each in unhealthy else "Healthy")
            for each in (*seen.healthy.get(resource, ()), *unhealthy)
        ]
        self.rig.report(resource, *listed)
        self.naive.report(resource, set(seen.healthy.get(resource, ())), set(unhealthy))

    def _some_pod(self, data: st.DataObject) -> Pod:
        return self.known[data.draw(st.sampled_from(sorted(self.known)))]

    def _admit(self, pod: Pod, fault: Mapping[str, object]) -> None:
        outside = Outside(
            allocate=_texts(fault.get("allocate")),
            prefer=_texts(fault.get("prefer")),
            write_error=self._write_error() if "write" in fault else "",
        )
        self.teller.create(pod)
        self.known[pod.uid] = pod
        self.naive.active[pod.uid] = pod
        self.rig.facts.active_pods.add(pod)
        self.rig.on_allocate = lambda call: _allocate(call, outside)
        self.rig.on_preferred = lambda call: _prefer(call, outside)
        self.rig.write_error = WRITE_ERROR if "write" in fault else ""
        if self.in_database:
            self._release_before_the_fault()

        expected = self.naive.admit(pod, outside)
        admission = self.rig.admit(pod)

        self.rig.write_error = ""
        assert admission.message == (self.rig.message(expected) if expected else "")
        if expected:
            del self.naive.active[pod.uid]

    def _release_before_the_fault(self) -> None:
        """Have released what can be, since a release that fails is no matter of the model."""
        error, self.rig.write_error = self.rig.write_error, ""
        self.release()
        self.rig.write_error = error

    def _write_error(self) -> str:
        if self.in_database:
            return f"failed to commit device bindings to the database: {WRITE_ERROR}"
        return f'failed to write checkpoint file "kubelet_internal_checkpoint": {WRITE_ERROR}'

    # What must agree

    @invariant()
    def both_know_the_same(self) -> None:
        seen = self.rig.manager.snapshot()
        assert _sets(seen.healthy) == self.naive.healthy
        assert _sets(seen.unhealthy) == self.naive.unhealthy
        assert _sets(seen.allocated) == self.naive.allocated
        held: dict[str, dict[str, dict[str, set[str]]]] = {}
        for each in seen.bindings:
            held.setdefault(each.pod, {}).setdefault(each.container, {})[each.resource] = set(
                device_ids(each.devices)
            )
        assert held == self.naive.pods
        reusable = {} if seen.reusable is None else {seen.reusable[0]: _sets(seen.reusable[1])}
        assert reusable == self.naive.reuse

    @invariant()
    def nothing_is_broken(self) -> None:
        assert self.rig.manager.violations() == []

    @invariant()
    def capacity_is_counted_right(self) -> None:
        capacity = self.rig.manager.capacity()
        for resource, count in capacity.allocatable.items():
            assert count == len(self.naive.healthy[resource])
        for resource, count in capacity.total.items():
            known = self.naive.healthy.get(resource, set())
            assert count == len(known) + len(self.naive.unhealthy[resource])


def _texts(found: object) -> dict[str, str]:
    return dict(found) if isinstance(found, dict) else {}


def _sets(ids: Mapping[ResourceName, Sequence[DeviceId]]) -> dict[str, set[str]]:
    return {resource: set(found) for resource, found in ids.items()}


def _allocate(call: AllocateCall, outside: Outside) -> PluginReply:
    error = outside.allocate.get(call.resource, "")
    if error == "empty":
        return AllocateReply(None)
    return CallFailed(error) if error else allocate_ids(call)


def _prefer(call: PreferredAllocationCall, outside: Outside) -> PluginReply:
    error = outside.prefer.get(call.resource, "")
    return CallFailed(error) if error else PreferredAllocationReply(call.available[-2:])


class UpstreamCheckpoint(Machine):
    """As the kubelet is: a file, and leaks."""


class TransactionalCheckpoint(Machine):
    reservations = Reservations.TRANSACTIONAL


class UpstreamDatabase(Machine):
    in_database = True


class TransactionalDatabase(Machine):
    reservations = Reservations.TRANSACTIONAL
    in_database = True


@pytest.mark.parametrize(
    "machine",
    [UpstreamCheckpoint, TransactionalCheckpoint, UpstreamDatabase, TransactionalDatabase],
)
def test_the_device_manager_does_what_the_naive_one_does(machine: type[Machine]) -> None:
    check(machine, settings(stateful_step_count=25))


def check(machine: type[Machine], chosen: settings) -> None:
    """Let a machine run; the history of a failure is kept as a scenario."""
    try:
        run_state_machine_as_test(machine, settings=chosen)
    except AssertionError as error:
        persistence = "database" if machine.in_database else "checkpoint"
        document = machine.latest.scenario(persistence)
        reason = f"{error}".partition("\n")[0] or "the two differ"
        message = written_failure(document, f"device manager {machine.__name__}", reason)
        raise AssertionError(message) from error


class NeverEnds(UpstreamCheckpoint):
    """Fails as soon as a pod has ended."""

    @invariant()
    def no_pod_has_ended(self) -> None:
        assert len(self.known) == self.created, "a pod has ended"


def test_the_history_of_a_failure_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REBIND_FAILURES", str(tmp_path))

    quick = settings(
        stateful_step_count=6,
        max_examples=300,
        derandomize=True,
        database=None,
        phases=[Phase.generate, Phase.shrink],
    )

    with pytest.raises(AssertionError, match=r"a pod has ended.*see `rebind replay "):
        check(NeverEnds, quick)

    [path] = tmp_path.iterdir()
    [loaded] = load_scenarios(path, {})
    actions = [step.action_key for step in loaded.scenario.spec.steps]
    assert actions[-2:] == ["createPod", "deletePod"]
    assert actions.count("createPod") == 1
    assert len(actions) == 6
