"""A checker that finds nothing proves nothing: strategies that break their promise are caught."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from simulator.core.behavior import Behavior, Reservations
from simulator.core.persistence.checkpoint import CheckpointPersistence
from store.memory.store import MemoryStore
from tests.recovery.broken import (
    AnnouncesBeforeTheCommit,
    AnnouncesBeforeTheWrite,
    TakesFailureForSuccess,
)
from tests.recovery.exploring import Setup, explore
from tests.recovery.outside import CheckpointDisk, Database, Fate
from tests.recovery.scenarios import STORIES


@pytest.mark.parametrize("fate", [Fate.DIES_BEFORE, Fate.DIES_AFTER])
def test_a_database_that_commits_after_the_announcement_is_caught(fate: Fate) -> None:
    setup = Setup(
        lambda: Database(MemoryStore()), AnnouncesBeforeTheCommit, Reservations.TRANSACTIONAL
    )

    found = explore(STORIES["pods_come_and_go"], setup)

    assert lost(found.findings, fate)


@pytest.mark.parametrize(
    ("strategy", "fate"),
    [
        (AnnouncesBeforeTheWrite, Fate.DIES_BEFORE),
        (AnnouncesBeforeTheWrite, Fate.DIES_AFTER),
        (TakesFailureForSuccess, Fate.FAILS),
    ],
)
def test_a_checkpoint_that_is_not_written_before_the_announcement_is_caught(
    strategy: type[CheckpointPersistence], fate: Fate
) -> None:
    setup = Setup(CheckpointDisk, lambda: strategy(Behavior()), Reservations.UPSTREAM)

    found = explore(STORIES["pods_come_and_go"], setup)

    assert lost(found.findings, fate)


def lost(findings: Sequence[str], fate: Fate) -> list[str]:
    """Return the findings of cuts with this fate that tell of an announced pod that lost devices.

    Where the kubelet dies that is told by the next one's start, where a call fails by the disk.
    """
    where = "durable" if fate is Fate.FAILS else "restored"
    return [
        one for one in findings if f": {fate.value}: {where}: " in one and "was announced" in one
    ]
