"""A scale of time on which milliseconds within minutes stay readable.

The scale is piecewise: it runs from instant to instant at which something happens. A longer gap
gets more room than a shorter one, but far less than in proportion; a gap so long that it gets no
more room is a *break*, to be marked with its length. Real times stand at the instants.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from simulator.core.instants import Duration, Instant

_SMALL_ROOM: Final = 13.0
"""Room of a small gap: of that which a quarter of all gaps do not exceed."""
_ROOM_MIN: Final = 5.0
_EXPONENT: Final = 0.25
"""A gap ten thousand times as long gets ten times the room."""
_BREAK_FROM: Final = 300
"""A gap more than that many times as long as the small one is a break."""
_BREAK_ROOM: Final = 58.0
_HEAD_ROOM: Final = 12.0
"""Before the first instant."""
_TAIL_ROOM: Final = 44.0
"""After the last instant, for what still lasts at the end."""
_WIDTH_MAX: Final = 4_000.0


@dataclass(frozen=True, slots=True)
class Stop:
    """One instant on the scale.

    Attributes:
        position: Its distance from the left, in units of about a pixel.
        gap: How long nothing happens after it, if that is a break; else None.
    """

    at: Instant
    position: float
    gap: Duration | None


@dataclass(frozen=True, slots=True)
class Axis:
    """A scale of time.

    Attributes:
        stops: In order.
        width: Of the whole.
    """

    stops: tuple[Stop, ...]
    width: float


def axis(instants: Sequence[Instant]) -> Axis:
    """Return the scale for these instants, which must be in order and distinct."""
    gaps = [later - earlier for earlier, later in pairwise(instants)]
    small = sorted(gaps)[len(gaps) // 4] if gaps else 1
    longest = small * _BREAK_FROM
    rooms = [_BREAK_ROOM if gap > longest else _room(gap, small) for gap in gaps]
    shrink = min(1.0, _WIDTH_MAX / max(1.0, sum(rooms)))
    stops: list[Stop] = []
    position = _HEAD_ROOM
    for index, at in enumerate(instants):
        if index:
            position += rooms[index - 1] * shrink
        gap = gaps[index] if index < len(gaps) else 0
        stops.append(Stop(at, round(position, 1), Duration(gap) if gap > longest else None))
    position += _TAIL_ROOM
    return Axis(tuple(stops), round(position, 1))


def _room(gap: int, small: int) -> float:
    room: float = _SMALL_ROOM * (gap / small) ** _EXPONENT
    return max(_ROOM_MIN, room)
