"""No call that fails and no kubelet that dies costs a promise (acceptance of the vertical slice).

Every store call and every plugin call of three scenarios is cut three ways: it fails, or the
kubelet dies just before or just after it. Then: no device is in two pods, what a container got
never changes under it, what was announced is durable, and under `transactional` nothing is left of
a refused pod.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from simulator.core.behavior import Behavior, Reservations
from simulator.core.calls import (
    AllocateCall,
    PreferredAllocationCall,
    PreStartContainerCall,
    ReadCheckpoint,
    WriteCheckpoint,
)
from simulator.core.persistence.checkpoint import CheckpointPersistence
from tests.recovery.exploring import Setup, Story, explore
from tests.recovery.outside import CheckpointDisk, Fate
from tests.recovery.scenarios import STORIES

CHECKPOINT = Setup(CheckpointDisk, lambda: CheckpointPersistence(Behavior()), Reservations.UPSTREAM)


@pytest.mark.parametrize("reservations", list(Reservations))
@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES.keys())
def test_no_cut_costs_a_promise_of_the_checkpoint(story: Story, reservations: Reservations) -> None:
    found = explore(story, replace(CHECKPOINT, reservations=reservations))

    assert found.findings == []
    assert found.runs == 1 + 3 * len(found.calls)


def test_the_stories_make_every_kind_of_call() -> None:
    found = [explore(story, CHECKPOINT) for story in STORIES.values()]

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
