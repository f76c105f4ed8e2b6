"""Where a run can be cut, and what an explorer leaves out because it says nothing new."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from simulator.core.instants import SECOND, Duration, format_duration
from simulator.engine.actions import When
from simulator.engine.faults import Effect, Fault, FaultKind, Op
from simulator.engine.storage_faults import DATABASE_FULL, NO_SPACE

DOWNTIME: Final = Duration(2 * SECOND)
"""From a cut to the start that follows it."""
ERRORS: Final[Mapping[Op, str]] = {
    Op.READ: "input/output error",
    Op.WRITE: NO_SPACE,
    Op.FSYNC: "input/output error",
    Op.RENAME: "input/output error",
    Op.DIR_FSYNC: "input/output error",
    Op.LOAD: "disk I/O error",
    Op.COMMIT: DATABASE_FULL,
    Op.BIND_DEVICES: "connection refused",
    Op.DEVICE_BINDING: "connection refused",
}
"""What a step of the durable state fails with; what calls of plugins do is not of the store."""

_LOSE_REPLIES: Final = (Op.BIND_DEVICES, Op.DEVICE_BINDING)
"""Requests that may be carried out although nobody is told so (W6)."""

_CUTS: Final = (FaultKind.CRASH, FaultKind.POWER_CUT)
_WORDS: Final = {FaultKind.CRASH: "kubelet crash", FaultKind.POWER_CUT: "power cut"}
_FAILING: Final = {Op.FSYNC: "write", Op.RENAME: "write", Op.DIR_FSYNC: "write"}
"""What a step is a part of."""
_FOLLOWS: Final = {Op.WRITE: Op.FSYNC, Op.FSYNC: Op.RENAME, Op.RENAME: Op.DIR_FSYNC}
"""Steps of one write, each begun at the instant at which the one before it has ended."""

BEFORE_FIRST_STEP: Final = "of the start before the first step"
SAME_INSTANT: Final = "before an effect that begins where the one before it has ended"
BEYOND_LIMIT: Final = "beyond the limit"
INTERRUPTED: Final = "interrupted"


@dataclass(frozen=True, slots=True)
class CutPoint:
    """One way to cut a run.

    Attributes:
        effect: At which effect.
        nth: Which one of its kind on its node, counted from the first step.
    """

    effect: Effect
    nth: int
    kind: FaultKind
    when: When

    @property
    def fault(self) -> Fault:
        """The fault, by the number of the effect."""
        return Fault(
            self.kind,
            number=self.effect.number,
            when=self.when,
            duration=None if self.kind is FaultKind.ERROR else DOWNTIME,
            message=ERRORS.get(self.effect.op, ""),
        )

    @property
    def cause(self) -> str:
        """The kind of cut: `power cut`, `write error`."""
        if self.kind is FaultKind.ERROR:
            lost = self.when is When.AFTER
            what = "reply lost" if lost else "error"
            return f"{_FAILING.get(self.effect.op, self.effect.op.value)} {what}"
        return _WORDS[self.kind]

    @property
    def place(self) -> str:
        """Where it is, in words: `after rename 3 at 1.05s`."""
        fails = self.kind is FaultKind.ERROR and self.when is When.BEFORE
        side = "at" if fails else self.when.value
        effect = f"{self.effect.op.value} {self.nth}"
        return f"{side} {effect}, {format_duration(self.effect.at)} on {self.effect.node}"


def cut_points(effects: Sequence[Effect], first: int) -> tuple[tuple[CutPoint, ...], Counter[str]]:
    """Return every way to cut a run, in the order of its effects, and what is left out and why.

    Args:
        effects: Those of the run without a cut.
        first: The number of the last effect before the first step.
    """
    points: list[CutPoint] = []
    skipped: Counter[str] = Counter()
    counts: Counter[tuple[str, Op]] = Counter()
    before: Effect | None = None
    for effect in effects:
        ways = _ways(effect)
        if effect.number <= first:
            skipped[BEFORE_FIRST_STEP] += len(ways)
            continue
        counts[effect.node, effect.op] += 1
        nth = counts[effect.node, effect.op]
        for kind, when in ways:
            if when is When.BEFORE and kind is not FaultKind.ERROR and _continues(before, effect):
                skipped[SAME_INSTANT] += 1
            else:
                points.append(CutPoint(effect, nth, kind, when))
        before = effect
    return tuple(points), skipped


def _ways(effect: Effect) -> list[tuple[FaultKind, When]]:
    ways = [(kind, when) for kind in _CUTS for when in When]
    if effect.op in ERRORS:
        ways.append((FaultKind.ERROR, When.BEFORE))
    if effect.op in _LOSE_REPLIES:
        ways.append((FaultKind.ERROR, When.AFTER))
    return ways


def _continues(before: Effect | None, effect: Effect) -> bool:
    """Tell whether an effect begins in the same event in which the one before it ended."""
    return (
        before is not None
        and before.number + 1 == effect.number
        and before.node == effect.node
        and before.target == effect.target
        and _FOLLOWS.get(before.op) is effect.op
    )


def sampled(
    points: Sequence[CutPoint], limit: int | None
) -> tuple[tuple[CutPoint, ...], Counter[str]]:
    """Return at most `limit` points, evenly spread over the run."""
    if limit is None or len(points) <= limit:
        return tuple(points), Counter()
    chosen = [points[index * len(points) // limit] for index in range(limit)]
    return tuple(chosen), Counter({BEYOND_LIMIT: len(points) - limit})
