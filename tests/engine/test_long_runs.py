"""What a run keeps is bounded, however long it goes on, if that is asked for."""

from __future__ import annotations

from dataclasses import replace
from gc import get_referents
from types import FunctionType, ModuleType

import pytest

from simulator.core.instants import SECOND, Duration, Instant, after
from simulator.core.records import DevicesListed, KubeletStopped, Record, Stamped
from simulator.engine.actions import Advance, RestartKubelet
from simulator.engine.observation import PodObservation
from simulator.engine.pod_factory import PodFactory
from simulator.engine.records_kept import RecordsKept
from simulator.engine.spec import Controller, PodSpec
from simulator.engine.virtual.simulation import Simulation
from simulator.engine.world import Watching
from tests.engine.runs import GPU, NODE, a_spec, devices, no_store, pod

KEPT = 6
FLEETING = replace(pod("fleeting"), termination_grace=Duration(0))


class LongRun:
    """A run in which pods come and go, each with a name of its own."""

    def __init__(self, watching: Watching, spec: PodSpec = FLEETING) -> None:
        self.simulation = Simulation(a_spec(), store_factory=no_store, watching=watching)
        self.simulation.plugins["gpu"].start()
        self.wait(1)
        self._spec = spec
        self._made = 0

    def wait(self, seconds: int) -> None:
        self.simulation.run_until(after(self.simulation.now, Duration(seconds * SECOND)))

    def cycle(self, times: int, *, acting: bool = True) -> None:
        """Let pods come and go; one that is replaced by its controller comes by itself.

        Args:
            times: How many.
            acting: Whether actions come with them: each has the plugins count calls anew.
        """
        api = self.simulation.api
        for _ in range(times):
            self._made += 1
            if not api.pods():
                self.simulation.factory.create(self._spec, name=f"pod-{self._made}", node=NODE)
            self.wait(1)
            (present,) = api.pods()
            while present.status.phase != "Running":  # Scheduled by what a node reports each 10 s.
                self.wait(1)
            if acting and self._made % 10 == 0:
                self.simulation.perform(RestartKubelet(NODE), f"restart {self._made}")
                self.wait(3)
            if acting:
                self.simulation.perform(Advance(Duration(0)), f"step {self._made}")
            api.mark_deleting(present)
            self.wait(3)
            assert present.deleted


def objects_of(root: object) -> int:
    """Count what is reached from an object, other than programs; keys of dicts count too."""
    seen: dict[int, object] = {}
    waiting = [root]
    while waiting:
        each = waiting.pop()
        if id(each) in seen or isinstance(each, ModuleType | type):
            continue
        seen[id(each)] = each
        waiting += each.__closure__ or () if isinstance(each, FunctionType) else get_referents(each)
    return len(seen) + sum(len(each) for each in seen.values() if isinstance(each, dict))


@pytest.mark.parametrize("controller", [Controller.NONE, Controller.REPLICA_SET])
@pytest.mark.parametrize("acting", [True, False], ids=["acting", "untouched"])
def test_pods_that_come_and_go_leave_nothing_behind(
    controller: Controller, *, acting: bool
) -> None:
    """Neither the API, the kubelet, the runtime, the invariants nor a plugin grows with them."""
    watching = Watching(records_max=KEPT, deleted_pods_max=KEPT)
    run = LongRun(watching, replace(FLEETING, controller=controller))
    run.cycle(100, acting=acting)
    before = objects_of(run.simulation)
    run.cycle(100, acting=acting)

    assert objects_of(run.simulation) < before + 50


def test_the_latest_deleted_pods_are_still_known() -> None:
    run = LongRun(Watching(deleted_pods_max=2))
    run.cycle(4)
    known = [run.simulation.pod(f"pod-{number}") for number in (1, 2, 3, 4)]

    assert [each and each.phase for each in known] == [None, None, "Deleted", "Deleted"]


def test_a_name_that_comes_back_after_it_was_forgotten_has_another_uid() -> None:
    simulation = Simulation(a_spec(), store_factory=no_store, watching=Watching(deleted_pods_max=0))
    factory: PodFactory = simulation.factory
    uids = []
    for _ in range(3):
        made = factory.create(FLEETING, name="again", node=NODE)
        uids.append(made.uid)
        simulation.api.remove(made.uid)

    assert len(set(uids)) == 3


def test_all_deleted_pods_are_known_unless_it_is_asked_otherwise() -> None:
    run = LongRun(Watching())
    run.cycle(12)
    first = run.simulation.pod("pod-1")

    assert isinstance(first, PodObservation)
    assert first.phase == "Deleted"


def weighty(count: int) -> Record:
    return DevicesListed(GPU, devices(count))


def test_of_many_records_the_latest_are_kept() -> None:
    kept = RecordsKept(5)
    records = [Stamped(Instant(at), NODE, KubeletStopped("stopped")) for at in range(100)]
    for at, stamped in enumerate(records):
        kept.add(stamped)

        assert len(kept.records) >= min(5, at + 1)
        assert len(kept.records) <= 10
        assert kept.records == records[at + 1 - len(kept.records) : at + 1]


def test_a_long_list_of_devices_counts_as_several_records() -> None:
    kept = RecordsKept(100)
    for at in range(50):
        kept.add(Stamped(Instant(at), NODE, weighty(400)))

    assert 1 <= len(kept.records) <= 4


def test_the_latest_record_is_kept_however_heavy_it_is() -> None:
    kept = RecordsKept(1)
    for at in range(3):
        kept.add(Stamped(Instant(at), NODE, weighty(400)))

    assert [stamped.at for stamped in kept.records] == [2]
