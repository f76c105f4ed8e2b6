from __future__ import annotations

from simulator.core.instants import Instant
from simulator.core.transitions import NodeName
from simulator.engine.actions import When
from simulator.engine.faults import EffectLog, Fault, FaultKind, Op

NODE = NodeName("n0")
OTHER = NodeName("n1")


def strikes(log: EffectLog, op: Op, node: NodeName = NODE, target: str = "") -> list[FaultKind]:
    effect = log.announce(Instant(0), node, op, target)
    return [fault.kind for when in When for fault in log.strike(effect, when)]


def test_a_fault_strikes_at_the_nth_occurrence_of_its_effect_only() -> None:
    log = EffectLog([Fault(FaultKind.CRASH, Op.FSYNC, nth=2)])

    assert strikes(log, Op.FSYNC) == []
    assert strikes(log, Op.WRITE) == []
    assert strikes(log, Op.FSYNC) == [FaultKind.CRASH]
    assert strikes(log, Op.FSYNC) == []


def test_a_fault_for_each_occurrence_strikes_every_time() -> None:
    log = EffectLog([Fault(FaultKind.ERROR, Op.ALLOCATE, nth=None)])

    assert [strikes(log, Op.ALLOCATE) for _ in range(3)] == [[FaultKind.ERROR]] * 3


def test_a_fault_without_an_effect_counts_all_effects() -> None:
    log = EffectLog([Fault(FaultKind.POWER_CUT, nth=3)])

    assert [strikes(log, op) for op in (Op.WRITE, Op.FSYNC, Op.RENAME, Op.COMMIT)] == [
        [],
        [],
        [FaultKind.POWER_CUT],
        [],
    ]


def test_a_fault_may_name_one_effect_of_the_whole_run() -> None:
    """Also after effects that were begun and never ended."""
    log = EffectLog([Fault(FaultKind.CRASH, number=2, when=When.AFTER)])
    log.announce(Instant(0), NODE, Op.WRITE)

    assert strikes(log, Op.FSYNC) == [FaultKind.CRASH]
    assert strikes(log, Op.FSYNC) == []


def test_a_fault_may_be_bound_to_a_node_and_a_target() -> None:
    log = EffectLog([Fault(FaultKind.HANG, Op.ALLOCATE, node=NODE, target="gpu")])

    assert strikes(log, Op.ALLOCATE, OTHER, "gpu") == []
    assert strikes(log, Op.ALLOCATE, NODE, "nic") == []
    assert strikes(log, Op.ALLOCATE, NODE, "gpu") == [FaultKind.HANG]


def test_before_and_after_are_two_places() -> None:
    log = EffectLog([Fault(FaultKind.CRASH, Op.COMMIT, when=When.AFTER)])
    effect = log.announce(Instant(0), NODE, Op.COMMIT)

    assert log.strike(effect, When.BEFORE) == ()
    assert [fault.kind for fault in log.strike(effect, When.AFTER)] == [FaultKind.CRASH]


def test_a_fault_planned_later_counts_from_then_on() -> None:
    log = EffectLog()
    strikes(log, Op.WRITE)
    log.add(Fault(FaultKind.CRASH, Op.WRITE, nth=1))

    assert strikes(log, Op.WRITE) == [FaultKind.CRASH]


def test_effects_are_numbered_over_the_whole_run_and_kept_on_request() -> None:
    log = EffectLog(keep=True)
    strikes(log, Op.WRITE, target="kubelet_internal_checkpoint")
    strikes(log, Op.ALLOCATE, OTHER, "gpu")

    assert log.count == 2
    assert [(effect.number, effect.node, effect.op, effect.target) for effect in log.effects] == [
        (1, NODE, Op.WRITE, "kubelet_internal_checkpoint"),
        (2, OTHER, Op.ALLOCATE, "gpu"),
    ]
    assert EffectLog().effects == ()
