"""What a timeline is made of: lanes with bars for what lasts and ticks for what happens at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from simulator.core.instants import Instant
from simulator.core.records import Stamped

Numbered = tuple[int, Stamped]
"""A record and its index among all records of the run."""


class LaneKind(Enum):
    """What a lane tells of."""

    NODE = "node"
    KUBELET = "kubelet"
    PLUGIN = "plugin"
    CONTAINER = "container"
    DEVICE = "device"
    CALLS = "plugin calls"
    WRITES = "state writes"
    CHANGES = "changes"


class State(Enum):
    """What a bar says of its lane's subject."""

    UP = "up"
    DOWN = "down"
    STARTING = "starting"
    STOPPED = "stopped"
    CRASHED = "crashed"
    FAILED = "failed"
    CONNECTED = "connected"
    GRACE = "in grace"
    GONE = "gone"
    PENDING = "pending"
    RUNNING = "running"
    WAITING = "waiting"
    EXITED = "exited"
    HELD = "held"
    """The device manager has a record of the device for the pod."""
    IN_USE = "in use"
    """A running container was started with the device."""
    UNHEALTHY = "unhealthy"
    UNLISTED = "not listed"
    """The plugin's latest list has not got the device any more."""


class TickKind(Enum):
    """How something ended that took no time worth showing."""

    DONE = "done"
    FAILED = "failed"
    WAITS = "waits"


@dataclass(frozen=True, slots=True)
class Bar:
    """Something that lasted.

    Attributes:
        until: None when it still lasted at the end of the run.
        label: Short text for the bar itself, e.g. the pod that holds a device.
        record: Index of the record that began it.
        row: Bars of one lane that overlap stand in different rows, from 0.
    """

    state: State
    since: Instant
    until: Instant | None
    label: str
    record: int
    row: int = 0


@dataclass(frozen=True, slots=True)
class Tick:
    """Something that happened at once."""

    kind: TickKind
    at: Instant
    record: int


@dataclass(frozen=True, slots=True)
class Lane:
    """One subject over time.

    Attributes:
        node: Empty for what belongs to no node.
        name: E.g. `trainer/main`; a device is named by resource and id.
    """

    kind: LaneKind
    node: str
    name: str
    bars: tuple[Bar, ...] = ()
    ticks: tuple[Tick, ...] = ()


@dataclass(slots=True)
class Track:
    """Bars of one subject that is in one state at a time; they are added as time goes on."""

    bars: list[Bar] = field(default_factory=list)
    _open: Bar | None = None

    @property
    def state(self) -> State | None:
        """The present state, None before the first and after an end."""
        return None if self._open is None else self._open.state

    def turn(self, state: State, index: int, at: Instant, label: str = "") -> None:
        """Be in `state` from `at` on; nothing changes if it is so already, with the same label."""
        if self._open is not None and (self._open.state, self._open.label) == (state, label):
            return
        self.end(at)
        self._open = Bar(state, at, None, label, index)

    def end(self, at: Instant) -> None:
        """Be in no state from `at` on."""
        if self._open is not None and self._open.since < at:
            last = self._open
            self.bars.append(Bar(last.state, last.since, at, last.label, last.record))
        self._open = None

    def done(self) -> list[Bar]:
        """Return all bars; the open one lasts to the end of the run."""
        return [*self.bars, *([] if self._open is None else [self._open])]
