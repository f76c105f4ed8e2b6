"""No call that fails and no kubelet that dies costs a promise (acceptance of the vertical slice).

Every store call and every plugin call of three scenarios is cut three ways: it fails, or the
kubelet dies just before or just after it. Then: no device is in two pods, what a container got
never changes under it, what was announced is durable, and under `transactional` nothing is left of
a refused pod.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path

import pytest

from simulator.core.behavior import Behavior, Readmission, Reservations
from simulator.core.calls import (
    AllocateCall,
    Commit,
    LoadState,
    PreferredAllocationCall,
    PreStartContainerCall,
    ReadCheckpoint,
    WriteCheckpoint,
)
from simulator.core.migration.phases import Phase
from simulator.core.persistence.checkpoint import CheckpointPersistence
from simulator.core.persistence.database import DatabasePersistence
from simulator.core.persistence.dual_write import DualWritePersistence
from simulator.ports import Durability
from store.memory.store import MemoryStore
from store.sql_store import SqlStore
from tests.recovery.exploring import Setup, Story, explore
from tests.recovery.outside import STORE_CALLS, Both, CheckpointDisk, Database, Durable, Fate
from tests.recovery.scenarios import STORIES
from tests.store.failing_store import FailingStore

CHECKPOINT = Setup(CheckpointDisk, lambda: CheckpointPersistence(Behavior()), Reservations.UPSTREAM)


@pytest.mark.parametrize("reservations", list(Reservations))
@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES.keys())
def test_no_cut_costs_a_promise_of_the_checkpoint(story: Story, reservations: Reservations) -> None:
    found = explore(story, replace(CHECKPOINT, reservations=reservations))

    assert found.findings == []
    assert found.runs == 1 + 3 * len(found.calls)


def test_the_stories_make_every_kind_of_call() -> None:
    found = [explore(story, CHECKPOINT, kinds=()) for story in STORIES.values()]

    assert {type(call) for one in found for call in one.calls} == {
        ReadCheckpoint,
        WriteCheckpoint,
        AllocateCall,
        PreferredAllocationCall,
        PreStartContainerCall,
    }


def test_a_checkpoint_that_cannot_be_read_is_forgotten() -> None:
    """S4.12: the one loss that is the kubelet's own rule, at each of its three starts."""
    found = explore(STORIES["a_restart_before_a_late_plugin"], CHECKPOINT)

    assert [type(found.calls[cut.number - 1]) for cut in found.forgotten] == [ReadCheckpoint] * 3
    assert {cut.fate for cut in found.forgotten} == {Fate.FAILS}


def in_memory() -> Durable:
    return Database(MemoryStore())


@pytest.mark.parametrize("reservations", list(Reservations))
@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES.keys())
def test_no_cut_costs_a_promise_of_the_database(story: Story, reservations: Reservations) -> None:
    """A database that cannot be read stops the kubelet's start, so nothing is ever forgotten."""
    found = explore(story, Setup(in_memory, DatabasePersistence, reservations))

    assert found.findings == []
    assert found.forgotten == []
    assert found.runs == 1 + 3 * len(found.calls)
    assert {type(call) for call in found.calls} >= {LoadState, Commit, AllocateCall}


def both() -> Durable:
    return Both(Database(MemoryStore()))


@pytest.mark.parametrize("phase", [Phase.DUAL_WRITE, Phase.DATABASE_PRIMARY])
@pytest.mark.parametrize(
    "reservations",
    [Reservations.TRANSACTIONAL, pytest.param(Reservations.UPSTREAM, marks=pytest.mark.soak)],
)
@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES.keys())
def test_no_cut_costs_a_promise_while_both_are_written(
    story: Story, reservations: Reservations, phase: Phase
) -> None:
    """A file that cannot be read is no loss: the rows have what was announced."""
    strategy = partial(DualWritePersistence, Behavior(), phase)
    found = explore(story, Setup(both, strategy, reservations))

    assert found.findings == []
    assert found.forgotten == []
    assert {type(call) for call in found.calls} >= {*STORE_CALLS, AllocateCall}


@pytest.mark.parametrize("reservations", list(Reservations))
@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES.keys())
def test_the_nth_failure_of_the_store_costs_no_promise(
    story: Story, reservations: Reservations
) -> None:
    """The error is raised inside the store, for n = 1, 2, 3, ... until none is met."""
    unfailing = explore(story, Setup(in_memory, DatabasePersistence, reservations), kinds=())
    failures = sum(isinstance(call, STORE_CALLS) for call in unfailing.calls)

    for fail_at in range(1, failures + 2):
        inner = MemoryStore()
        store = FailingStore(inner, fail_at=fail_at)
        setup = Setup(partial(Database, store, inner=inner), DatabasePersistence, reservations)

        assert explore(story, setup, kinds=()).findings == []
        assert store.has_failed == (fail_at <= failures)


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES.keys())
def test_no_cut_costs_a_promise_of_sqlite(story: Story, tmp_path: Path) -> None:
    """Every run is a node of its own in one database; plugin calls are cut elsewhere."""
    store = SqlStore(f"sqlite:///{tmp_path}/nodes.db", durability=Durability.OFF)
    numbers = count()

    def on_disk() -> Durable:
        return Database(store, node=f"n{next(numbers)}")

    setup = Setup(on_disk, DatabasePersistence, Reservations.TRANSACTIONAL)
    found = explore(story, setup, kinds=STORE_CALLS)

    store.close()
    assert found.findings == []
    assert found.forgotten == []


@pytest.mark.parametrize("readmission", [one for one in Readmission if one.value != "upstream"])
@pytest.mark.parametrize(
    "setup",
    [CHECKPOINT, Setup(in_memory, DatabasePersistence, Reservations.TRANSACTIONAL)],
    ids=["checkpoint", "database"],
)
@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES.keys())
def test_no_cut_costs_a_promise_under_another_readmission(
    story: Story, setup: Setup, readmission: Readmission
) -> None:
    """`reassign` may give a pod other devices, but only in place of those that are gone."""
    found = explore(replace(story, readmission=readmission), setup)

    assert found.findings == []
