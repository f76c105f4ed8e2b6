"""Effects, counted, and the faults that cut them.

Every step that reaches beyond the kubelet's memory is an effect: each step of a file write, each
transaction boundary, each call of a plugin. It is announced before it happens and after it has
happened; a fault is attached to the n-th occurrence of an effect, on one of these two sides. A
caller that wants to cut a run everywhere lets it run once, reads `EffectLog.effects`, and runs it
again with one fault for each.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from simulator.core.instants import Duration, Instant
from simulator.core.transitions import NodeName
from simulator.engine.actions import Loss, When


class FaultKind(Enum):
    """What goes wrong."""

    CRASH = "crash"
    """The kubelet dies."""
    LATENCY = "latency"
    """The effect takes `duration` longer."""
    ERROR = "error"
    """The effect fails with `message`."""
    HANG = "hang"
    """The effect is not answered for `duration`, or for good."""
    SOCKET_LOSS = "socketLoss"
    """The plugin's stream breaks."""
    POWER_CUT = "powerCut"
    """The node loses power."""
    DISK_FULL = "diskFull"
    """The disk is full, for `duration` or for good."""


class Op(Enum):
    """The effects."""

    READ = "read"
    WRITE = "write"
    FSYNC = "fsync"
    RENAME = "rename"
    DIR_FSYNC = "dirFsync"
    LOAD = "load"
    COMMIT = "commit"
    ALLOCATE = "allocate"
    PREFERRED_ALLOCATION = "preferredAllocation"
    PRE_START = "preStart"
    REGISTER = "register"
    LIST_AND_WATCH = "listAndWatch"
    STATUS_PATCH = "statusPatch"
    BIND_DEVICES = "bindDevices"
    DEVICE_BINDING = "deviceBinding"


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that goes wrong, and where.

    Attributes:
        kind: What goes wrong.
        op: The effect; None for any effect.
        node: The node; None for any node.
        target: Name of the file or plugin; empty for any.
        nth: The occurrence, counted from 1 over the effects that match and begin from now on; None
            for each of them.
        number: The ordinal of one effect over the whole run (`Effect.number`), in place of `op`,
            `node`, `target` and `nth`.
        when: Before or after the effect.
        duration: Of a latency, hang or full disk; downtime after a crash or power cut.
        message: The error text.
        loss: What a power cut takes.
    """

    kind: FaultKind
    op: Op | None = None
    node: NodeName | None = None
    target: str = ""
    nth: int | None = 1
    number: int | None = None
    when: When = When.BEFORE
    duration: Duration | None = None
    message: str = "input/output error"
    loss: Loss = Loss.ALL


@dataclass(frozen=True, slots=True)
class Effect:
    """One effect that was announced.

    Attributes:
        number: Ordinal over the whole run, from 1.
        target: Name of the file or plugin.
    """

    number: int
    at: Instant
    node: NodeName
    op: Op
    target: str = ""


class EffectLog:
    """Numbers the effects of a run and tells which faults strike at each."""

    def __init__(self, faults: Iterable[Fault] = (), *, keep: bool = False) -> None:
        self._plans = [_Plan(fault) for fault in faults]
        self._keep = keep
        self._announced = 0
        self._effects: list[Effect] = []

    @property
    def count(self) -> int:
        """Number of effects so far."""
        return self._announced

    @property
    def effects(self) -> tuple[Effect, ...]:
        """The effects so far; empty unless they are kept."""
        return tuple(self._effects)

    def add(self, fault: Fault) -> None:
        """Plan one more fault; occurrences are counted from now on."""
        self._plans.append(_Plan(fault))

    def announce(self, at: Instant, node: NodeName, op: Op, target: str = "") -> Effect:
        """Number an effect that is about to happen."""
        self._announced += 1
        effect = Effect(self._announced, at, node, op, target)
        if self._keep:
            self._effects.append(effect)
        return effect

    def strike(self, effect: Effect, when: When) -> tuple[Fault, ...]:
        """Return the faults that fall on this side of the effect, in the order of the plan."""
        if not self._plans:
            return ()
        struck = tuple(plan.fault for plan in self._plans if plan.is_struck(effect, when))
        self._plans = [plan for plan in self._plans if not plan.spent]
        return struck


class _Plan:
    """A fault and how often its effect has begun."""

    def __init__(self, fault: Fault) -> None:
        self.fault = fault
        self.spent = False
        self._number = fault.number
        self._begun = 0

    def is_struck(self, effect: Effect, when: When) -> bool:
        if self.fault.nth is None and self.fault.number is None:
            return when is self.fault.when and self._matches(effect)
        if when is When.BEFORE and self._number is None and self._matches(effect):
            self._begun += 1
            if self._begun == self.fault.nth:
                self._number = effect.number
        self.spent = when is self.fault.when and effect.number == self._number
        return self.spent

    def _matches(self, effect: Effect) -> bool:
        fault = self.fault
        return (
            fault.op in {None, effect.op}
            and fault.node in {None, effect.node}
            and fault.target in {"", effect.target}
        )
