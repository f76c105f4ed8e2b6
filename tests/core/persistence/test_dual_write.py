"""The strategy `dual-write`: what it compares when changes overlap."""

from __future__ import annotations

from typing_extensions import override

from simulator.core.calls import (
    CheckpointContent,
    Commit,
    KeepingCall,
    LoadState,
    ReadCheckpoint,
    StateLoaded,
    StoreCall,
    Stored,
    StoreDecision,
    StoreReply,
    WriteCheckpoint,
)
from simulator.core.devices import DeviceId, NumaNode
from simulator.core.migration.phases import Phase
from simulator.core.persistence.dual_write import DualWritePersistence
from simulator.core.pods import PodUid
from simulator.core.records import Record, StatesDiffer
from simulator.core.refusals import Refusal
from simulator.core.switches import behavior_for
from simulator.core.transitions import DeviceBinding, NodeName, NodeState
from tests.core.driving import GPU, MAIN, device
from tests.core.persistence.test_checkpoint import EMPTY
from tests.core.persistence.views import View

HELD = DeviceBinding(PodUid("p1"), MAIN, GPU, {NumaNode(0): (DeviceId("g0"),)}, b"")
ROWS = NodeState(NodeName("n0"), revision=1, bindings=(HELD,), registered=())
"""Rows that say something else than an empty file."""


class NotingView(View):
    """A view that keeps the records."""

    def __init__(self) -> None:
        self.noted: list[Record] = []

    @override
    def note(self, record: Record) -> None:
        self.noted.append(record)

    def differences(self) -> int:
        return sum(isinstance(record, StatesDiffer) for record in self.noted)


Change = StoreDecision[Refusal | None]


def answer(call: KeepingCall) -> StoreReply:
    """Answer like a store that takes every write, and whose two sides differ."""
    if isinstance(call, ReadCheckpoint):
        return CheckpointContent(EMPTY)
    if isinstance(call, LoadState):
        return StateLoaded(ROWS)
    assert isinstance(call, WriteCheckpoint | Commit)
    return Stored()


def until(change: Change, wanted: type[StoreCall]) -> KeepingCall:
    """Let a change go on until it asks for this."""
    call = next(change)
    while not isinstance(call, wanted):
        call = change.send(answer(call))
    return call


def ended(change: Change, call: KeepingCall) -> bool:
    """Answer the call that a change waits for, and all that follow."""
    try:
        while True:
            call = change.send(answer(call))
    except StopIteration:
        return True


def test_of_changes_that_overlap_the_last_one_compares() -> None:
    """What the first one read may be older than what the second one wrote."""
    view = NotingView()
    strategy = DualWritePersistence(behavior_for("1.36.2"), Phase.DUAL_WRITE)
    first = strategy.on_devices_changed(view, GPU, [device("g0")])
    second = strategy.on_devices_changed(view, GPU, [device("g0"), device("g1")])

    comparing = until(first, LoadState)
    writing = until(second, WriteCheckpoint)
    assert ended(first, comparing)
    assert view.differences() == 0

    assert ended(second, writing)
    assert view.differences() == 1
