"""All objects in memory, equal to what the database has: reads ask nobody else.

A change is put here when its commit is known, never before; so nobody reads what could be lost. A
list that is read page by page is of one revision: what has changed since is taken back by the
events in between, and when those are gone the list cannot be gone on with (410).
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from simulator.api.dialect.kinds import Kind
from simulator.api.serving.events import EVENT_BYTES_MAX, EVENTS_MAX, Window
from simulator.api.serving.stored import Place, Stored

_FEW: Final = 8
"""So many new places are put where they belong one by one; more are sorted in."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a list.

    Attributes:
        items: The objects.
        after: Where the next part begins: after this place; None when nothing is left.
        remaining: How many are left, where that is known.
    """

    items: Sequence[Stored]
    after: Place | None
    remaining: int | None


@dataclass(frozen=True, slots=True)
class Asked:
    """Which part of a list is asked for.

    Attributes:
        namespace: Whose objects; empty for those of all.
        revision: As of when; None for now.
        after: Where an earlier part ended.
        limit: Most objects; 0 for all.
        counted: Whether what is left over is counted, which is right if all match.
        node: Which `spec.nodeName` all that match have; empty if that is open.
    """

    namespace: str = ""
    revision: int | None = None
    after: Place | None = None
    limit: int = 0
    counted: bool = False
    node: str = ""


class Shelf:
    """The objects of one kind, and what happened to them lately.

    Args:
        kind: The kind.
        floor: The revision up to which events are not known.
        events_max: Most events that are kept.
        bytes_max: Most bytes that they keep alive.
    """

    def __init__(
        self,
        kind: Kind,
        *,
        floor: int = 0,
        events_max: int = EVENTS_MAX,
        bytes_max: int = EVENT_BYTES_MAX,
    ) -> None:
        self.kind = kind
        self.window = Window(floor, events_max=events_max, bytes_max=bytes_max)
        self._objects: dict[Place, Stored] = {}
        self._sorted: list[Place] = []
        self._unsorted: list[Place] = []
        self._gone = 0
        self._by_node: dict[str, dict[Place, Stored]] = {}

    def __len__(self) -> int:
        """Return how many objects there are."""
        return len(self._objects)

    def get(self, place: Place) -> Stored | None:
        """Return the object at a place, as it is now."""
        return self._objects.get(place)

    def put(self, stored: Stored) -> Stored | None:
        """Put an object where it belongs; return what was there."""
        place = stored.place
        old = self._objects.get(place)
        self._objects[place] = stored
        if old is None:
            self._unsorted.append(place)
        elif old.node != stored.node:
            self._leave_node(old)
        if stored.node:
            there = self._by_node.get(stored.node)
            if there is None:
                there = self._by_node[stored.node] = {}
            there[place] = stored
        return old

    def remove(self, place: Place) -> Stored | None:
        """Take an object away and return it."""
        old = self._objects.pop(place, None)
        if old is not None:
            self._gone += 1
            self._leave_node(old)
        return old

    def on_node(self, node: str) -> Sequence[Stored]:
        """Return the objects with this `spec.nodeName`, by place."""
        there = self._by_node.get(node, {})
        return [there[place] for place in sorted(there)]

    def all_in(self, namespace: str = "") -> Iterator[Stored]:
        """Iterate over the objects as they are now, all or those of a namespace, by place."""
        places = self._places()
        for place in places[_first(places, namespace) :]:
            if namespace and place[0] != namespace:
                return
            stored = self._objects.get(place)
            if stored is not None:
                yield stored

    def part(self, matches: Callable[[Stored], bool], asked: Asked = Asked()) -> Part | None:
        """Return the objects of a list, or the next of them.

        Args:
            matches: Which are wanted.
            asked: Where and when.

        Returns:
            The part, or None when what was then cannot be told any more.
        """
        past: dict[Place, Stored | None] = {}
        if asked.revision is not None:
            events = self.window.since(asked.revision)
            if events is None:
                return None
            for event in events:
                state = event.new or event.old
                if state is not None:
                    past.setdefault(state.place, event.old)
        places: Sequence[Place]
        if asked.node and asked.revision is None:
            places = sorted(self._by_node.get(asked.node, ()))
        else:
            places = self._places_then(past)
        start = _first(places, asked.namespace)
        if asked.after is not None:
            start = max(start, bisect_left(places, asked.after))
            start += start < len(places) and places[start] == asked.after
        return self._collected(matches, asked, places, start, past)

    def _collected(
        self,
        matches: Callable[[Stored], bool],
        asked: Asked,
        places: Sequence[Place],
        start: int,
        past: dict[Place, Stored | None],
    ) -> Part:
        items: list[Stored] = []
        for index in range(start, len(places)):
            place = places[index]
            if asked.namespace and place[0] != asked.namespace:
                break
            stored = past[place] if place in past else self._objects.get(place)
            if stored is None or not matches(stored):
                continue
            if asked.limit and len(items) == asked.limit:
                rest = self._count(places, index, asked.namespace, past) if asked.counted else None
                return Part(items, items[-1].place, rest)
            items.append(stored)
        return Part(items, None, None)

    def _count(
        self,
        places: Sequence[Place],
        start: int,
        namespace: str,
        past: dict[Place, Stored | None],
    ) -> int:
        end = len(places) if not namespace else bisect_left(places, (namespace + "\0", ""))
        if not past and not self._gone:
            return end - start
        return sum(
            (past[place] if place in past else self._objects.get(place)) is not None
            for place in places[start:end]
        )

    def _places_then(self, past: dict[Place, Stored | None]) -> Sequence[Place]:
        places = self._places()
        gone = [
            place
            for place, stored in past.items()
            if stored is not None and place not in self._objects
        ]
        return sorted({*places, *gone}) if gone else places

    def _places(self) -> list[Place]:
        """Return the places in order; gone ones may be among them."""
        if self._gone > len(self._objects) // 2 + _FEW:
            self._sorted = sorted(self._objects)
            self._unsorted.clear()
            self._gone = 0
        elif self._unsorted:
            if len(self._unsorted) <= _FEW:
                for place in self._unsorted:
                    if not _contains(self._sorted, place):
                        insort(self._sorted, place)
            else:
                known = self._sorted
                new = [place for place in self._unsorted if not _contains(known, place)]
                # Two parts in order are put together in one pass.
                self._sorted = sorted([*known, *sorted(set(new))])
            self._unsorted = []
        return self._sorted

    def _leave_node(self, stored: Stored) -> None:
        there = self._by_node.get(stored.node)
        if there is not None:
            there.pop(stored.place, None)
            if not there:
                del self._by_node[stored.node]


def _contains(places: Sequence[Place], place: Place) -> bool:
    at = bisect_left(places, place)
    return at < len(places) and places[at] == place


def _first(places: Sequence[Place], namespace: str) -> int:
    return bisect_left(places, (namespace, "")) if namespace else 0
