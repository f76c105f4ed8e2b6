"""What is measured is real: admissions are durable where they say, and nothing is left out."""

from __future__ import annotations

from pathlib import Path

from benchmarks import workload
from benchmarks.counted_fsync import CountedFsync
from benchmarks.nodes import BEHAVIOR, MeasuredNode, admissions, checkpoint_node, database_node
from simulator.config import CHECKPOINT_FILE_NAME
from simulator.core.checkpoint.parse import parse
from simulator.core.pods import PodUid
from store.sql_store import SqlStore

BOUND = 5


def started(node: MeasuredNode) -> MeasuredNode:
    node.restore()
    node.connect_plugin()
    return node


def database_holders(url: str) -> set[PodUid]:
    """Return who holds devices according to a connection of its own."""
    store = SqlStore(url, read_only=True)
    holders = {holding.pod.uid for holding in store.holders()}
    store.close()
    return holders


def file_holders(path: Path) -> set[PodUid]:
    """Return whose entries a checkpoint file has."""
    checkpoint = parse(path.read_bytes(), BEHAVIOR.checkpoints_read)
    return {entry.pod for entry in checkpoint.entries or ()}


def test_an_admission_on_the_database_is_seen_by_another_connection(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'rebind.db'}"
    store = SqlStore(url)
    node = started(database_node("n0", store, bound=BOUND, devices=BOUND + 1))
    pod = workload.pod(BOUND)
    before = database_holders(url)
    admission = node.admit(pod)
    after = database_holders(url)
    node.remove(pod)
    store.close()

    assert admission.admitted
    assert before == {workload.pod(number).uid for number in range(BOUND)}
    assert after == before | {pod.uid}
    assert database_holders(url) == before


def test_an_admission_on_the_checkpoint_is_in_the_file(tmp_path: Path) -> None:
    fsync = CountedFsync()
    node = started(checkpoint_node("n0", tmp_path, bound=BOUND, devices=BOUND + 1, sync=fsync))
    path = tmp_path / CHECKPOINT_FILE_NAME
    before, syncs = file_holders(path), fsync.count.syncs
    node.admit(workload.pod(BOUND))

    assert before == {workload.pod(number).uid for number in range(BOUND)}
    assert file_holders(path) == before | {workload.pod(BOUND).uid}
    # One container, so one write with one fsync, and no file left beside the checkpoint (S4.9).
    assert fsync.count.syncs == syncs + 1
    assert [path.name for path in tmp_path.iterdir()] == [CHECKPOINT_FILE_NAME]


def test_a_node_that_forgot_restores_the_same_bindings_from_both(tmp_path: Path) -> None:
    store = SqlStore("sqlite://")
    from_database = database_node("n0", store, bound=BOUND, devices=BOUND).restore()
    from_file = checkpoint_node("n0", tmp_path, bound=BOUND, devices=BOUND).restore()
    store.close()

    assert from_database.bindings == from_file.bindings
    assert len(from_file.bindings) == BOUND


def test_measured_admissions_leave_the_node_as_full_as_it_was(tmp_path: Path) -> None:
    node = started(checkpoint_node("n0", tmp_path, bound=BOUND, devices=BOUND + 1))
    contestant = admissions(node, repeat=1)
    for _ in range(3):
        contestant.run()
        contestant.after()

    assert len(node.facts.active_pods) == BOUND
    assert node.manager.violations() == []
