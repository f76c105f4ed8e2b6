"""What happened to the objects of a kind, in order, as far back as it is kept.

Every watch reads here at its own pace and holds nothing but its place, so that a thousand watchers
cost the memory of one, and one that is too slow finds its place gone and has to begin anew: that is
the 410 of Kubernetes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from simulator.api.serving.stored import Stored

EVENTS_MAX: Final = 65_536
"""Events of one kind that are kept, at most."""
EVENT_BYTES_MAX: Final = 64 * 1024 * 1024
"""Bytes of the objects in them, at most."""

_LINED_MAX: Final = 1_024
"""Events that keep their lines; who is further behind has them made again."""

ADDED: Final = "ADDED"
MODIFIED: Final = "MODIFIED"
DELETED: Final = "DELETED"

Line = tuple[str, str]
"""A type, and the form in which the object is shown."""


@dataclass(slots=True, eq=False)
class Event:
    """One change of one object.

    Attributes:
        old: It before; None when it was not there.
        new: It afterwards; None when it is gone.
        lines: It as watchers are told it, made once for all who want the same; None for none.
    """

    revision: int
    old: Stored | None
    new: Stored | None
    lines: dict[Line, bytes] | None = None

    @property
    def size(self) -> int:
        """Bytes that it keeps alive, about."""
        state = self.new or self.old
        return len(state.body) if state is not None else 0

    def seen(self, matches: Callable[[Stored], bool]) -> tuple[str, Stored] | None:
        """Return what it is to somebody who sees a part of the objects, and of which state.

        An object that enters the part is added to it, one that leaves it is deleted, and shown as
        it was while it was in it (Kubernetes: cacheWatcher.convertToWatchEvent).
        """
        was = self.old if self.old is not None and matches(self.old) else None
        if self.new is not None and matches(self.new):
            return (ADDED if was is None else MODIFIED), self.new
        return None if was is None else (DELETED, was)


class Window:
    """The latest events of a kind, each with a number that counts from the first on.

    Args:
        floor: The revision up to which events are not known any more.
        events_max: Most events that are kept.
        bytes_max: Most bytes that they keep alive.
    """

    def __init__(
        self, floor: int, *, events_max: int = EVENTS_MAX, bytes_max: int = EVENT_BYTES_MAX
    ) -> None:
        self.floor = floor
        self._events_max = events_max
        self._bytes_max = bytes_max
        self._events: list[Event] = []
        self._dropped = 0  # At the beginning of the list; it is cut only now and then.
        self._cut = 0
        self._bytes = 0
        self._lined: deque[Event] = deque()

    @property
    def end(self) -> int:
        """The number that the next event will have."""
        return self._cut + len(self._events)

    def append(self, event: Event) -> int:
        """Add the latest event, drop the oldest ones if there are too many; return its number."""
        events = self._events
        number = self._cut + len(events)
        events.append(event)
        self._bytes += event.size
        while (
            len(events) - self._dropped > self._events_max or self._bytes > self._bytes_max
        ) and self._dropped < len(events):
            gone = events[self._dropped]
            self.floor = gone.revision
            self._bytes -= gone.size
            self._dropped += 1
        if self._dropped > len(events) // 2:
            del events[: self._dropped]
            self._cut += self._dropped
            self._dropped = 0
        return number

    def line(self, event: Event, line: Line, make: Callable[[], bytes]) -> bytes:
        """Return an event as a watcher is told it, made once for all who want the same."""
        if event.lines is None:
            event.lines = {}
            self._lined.append(event)
            if len(self._lined) > _LINED_MAX:
                self._lined.popleft().lines = None
        made = event.lines.get(line)
        if made is None:
            made = event.lines[line] = make()
        return made

    def number_after(self, revision: int) -> int | None:
        """Return the number of the first event after a revision; None when some of them are gone.

        A revision of the future is after all of them.
        """
        if revision < self.floor:
            return None
        low, high = self._dropped, len(self._events)
        while low < high:
            middle = (low + high) // 2
            if self._events[middle].revision <= revision:
                low = middle + 1
            else:
                high = middle
        return self._cut + low

    def from_number(self, number: int, most: int) -> Sequence[Event] | None:
        """Return up to `most` events from a number on; None when some of them are gone."""
        start = number - self._cut
        if start < self._dropped:
            return None
        return self._events[start : start + most]

    def since(self, revision: int) -> Sequence[Event] | None:
        """Return all events after a revision; None when some of them are gone."""
        number = self.number_after(revision)
        return None if number is None else self._events[number - self._cut :]
