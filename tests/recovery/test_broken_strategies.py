"""A checker that finds nothing proves nothing: strategies that break their promise are caught."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from typing_extensions import override

from simulator.core.behavior import Behavior, Reservations
from simulator.core.calls import StoreDecision
from simulator.core.persistence.checkpoint import CheckpointPersistence
from simulator.core.persistence.protocol import ManagerView, NewBinding
from simulator.core.pods import Pod
from simulator.core.refusals import Refusal
from tests.recovery.exploring import Setup, explore
from tests.recovery.outside import CheckpointDisk, Fate
from tests.recovery.scenarios import STORIES


class AnnouncesBeforeTheWrite(CheckpointPersistence):
    """Writes an admission with the next message of a plugin, after it was announced."""

    @override
    def on_container_allocated(
        self, view: ManagerView, pod: Pod, added: Sequence[NewBinding]
    ) -> StoreDecision[Refusal | None]:
        yield from ()
        return None


class TakesFailureForSuccess(CheckpointPersistence):
    """Announces an admission although its write failed."""

    @override
    def on_container_allocated(
        self, view: ManagerView, pod: Pod, added: Sequence[NewBinding]
    ) -> StoreDecision[Refusal | None]:
        yield from super().on_container_allocated(view, pod, added)
        return None


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
