"""A store made of records says the same as the database that was written in the same run."""

from __future__ import annotations

import weakref

import pytest

from simulator.assembly.worlds import simulated
from simulator.core.devices import NO_NUMA_NODE, DeviceId
from simulator.core.instants import Instant
from simulator.core.pods import ContainerName, PodUid
from simulator.core.records import AdmissionDecided, DevicesAllocated, DevicesReleased, Stamped
from simulator.core.transitions import NodeName, PodIdentity
from simulator.engine.actions import (
    Action,
    CheckpointFile,
    CreatePod,
    DeletePod,
    FileAction,
    RebootNode,
    RestartKubelet,
    StartPlugin,
)
from simulator.engine.virtual.simulation import Simulation
from simulator.ports import StoreReader
from simulator.server.record_book import RecordBook
from store.planning import plan
from tests.engine.runs import GPU, NODE, Run, a_spec, container, pod, seconds, with_plugin


def book_of(simulation: Simulation) -> RecordBook:
    """Fold the records of a run."""

    def identify(uid: PodUid) -> PodIdentity:
        found = simulation.api.pod(uid)
        name = found.pod.name if found is not None else ""
        return PodIdentity(uid, "default" if name else "", name)

    book = RecordBook(identify)
    for stamped in simulation.records:
        book.note(stamped)
    weakref.finalize(simulation, book.close)
    return book


def held(store: StoreReader, *, past: bool = False) -> list[tuple[str, str, str]]:
    return [
        (each.device, each.pod.uid, ",".join(each.containers)) for each in store.holders(past=past)
    ]


def let_pass(simulation: Simulation, span: float) -> None:
    simulation.run_until(Instant(simulation.now + seconds(span)))


def test_records_and_database_agree_about_who_holds_and_held_what() -> None:
    spec = a_spec(pod("a", container(count=2)), pod("b"), persistence="database")
    with simulated(spec) as simulation:
        actions: list[Action] = [
            StartPlugin("gpu"),
            CreatePod("a"),
            CreatePod("b"),
            RestartKubelet(NODE, seconds(1)),
            DeletePod("a"),
        ]
        for number, action in enumerate(actions):
            simulation.perform(action, f"step-{number}")
            let_pass(simulation, 60)
        database = simulation.nodes[NODE].database
        assert database is not None
        book = book_of(simulation)

        assert held(book.reader) == held(database.store) != []
        assert held(book.reader, past=True) == held(database.store, past=True)
        assert book.reader.load(NODE).bindings[0].devices == (
            database.store.load(NODE).bindings[0].devices
        )
        assert [each.device for each in book.reader.devices()] == ["g0", "g1", "g2", "g3"]


def test_an_admission_is_one_change_whatever_it_gave() -> None:
    run = Run(a_spec(pod("a", container("one"), container("two"))))
    run.do(StartPlugin("gpu"))
    run.do(CreatePod("a"))
    changes = book_of(run.simulation).reader.history()

    assert [change.detail for change in changes if change.kind == "PodAdmitted"] == [
        "one example.com/gpu=g0; two example.com/gpu=g1"
    ]


def test_what_a_kubelet_does_not_find_at_its_start_is_held_no_more() -> None:
    """S4.12: after the file is lost, its devices are free to be given away."""
    run = Run(a_spec(pod("a", container(count=2)), pod("b")))
    run.do(StartPlugin("gpu"))
    run.do(CreatePod("a"))
    before = held(book_of(run.simulation).reader)
    run.do(CheckpointFile(NODE, FileAction.DELETE))
    run.do(RebootNode(NODE, seconds(1)))

    assert [device for device, _, _ in before] == ["g0", "g1"]
    assert held(book_of(run.simulation).reader) == []


@pytest.mark.parametrize("persistence", ["bind-resource", "binding-object"])
def test_what_a_kubelet_learns_from_the_api_is_held(persistence: str) -> None:
    """A start knows nothing; the pods that were listed are admitted with what they have."""
    spec = a_spec(pod("a", container(count=2)), pod("b"), persistence=persistence)
    run = Run(with_plugin(spec, reregister_after=seconds(0.02)))
    run.do(StartPlugin("gpu"))
    run.do(CreatePod("a"))
    run.do(CreatePod("b"))
    before = held(book_of(run.simulation).reader)
    run.do(DeletePod("b", force=True))
    run.do(RestartKubelet(NODE, seconds(1)))

    assert [device for device, _, _ in before] == ["g0", "g1", "g2"]
    assert held(book_of(run.simulation).reader) == before[:2]


def test_what_is_kept_of_the_records_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server under `checkpoint` keeps its history in memory."""
    monkeypatch.setattr(plan, "SEGMENT_CHANGES_MAX", 10)
    book = RecordBook(PodIdentity, history_max=30)
    for number in range(200):
        uid = PodUid(f"p{number}")
        given = {NO_NUMA_NODE: (DeviceId("g0"),)}
        for at, record in enumerate(
            (
                DevicesAllocated(uid, ContainerName("main"), GPU, given),
                AdmissionDecided(uid, admitted=True),
                DevicesReleased((uid,)),
            )
        ):
            book.note(Stamped(Instant(3 * number + at), NODE, record))
    kept = book.reader.history()
    book.close()

    assert 30 <= len(kept) <= 40


def test_a_node_is_told_with_its_boot_and_its_resources() -> None:
    run = Run(a_spec(pod("a")))
    run.do(StartPlugin("gpu"))
    run.do(CreatePod("a"))
    (node,) = book_of(run.simulation).reader.nodes()

    assert node.node == NodeName("n0")
    assert node.boot_id == run.simulation.nodes[NODE].boot_id
    assert [(each.devices, each.held) for each in node.resources] == [(4, 1)]
