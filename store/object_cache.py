"""The JSON of objects that were written last, as it is in the database.

The writer takes from here what an update or a deletion replaces; readers take what they ask for.
Only what is committed is in it, and the writer alone puts it there, so that it is never older than
what was acknowledged. It is empty again when a commit fails: what is in the database then is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from simulator.object_ports import Body

BYTES_MAX: Final = 64 * 1024 * 1024
_ENTRY_BYTES: Final = 200
"""What an entry takes beside its JSON, about."""

Place = tuple[str, ...]
"""An `ObjectKey`, as a plain tuple."""

Cached = tuple[int, int, bytes]
"""An object's revision, where in its JSON the digits of it begin, and the JSON.

Plain tuples of plain values: Python's collector of garbage looks at them once and never again, else
it would stop everybody for longer the more objects there are.
"""


def refilled(cached: Cached, revision: int) -> bytes:
    """Return the JSON with another resourceVersion."""
    was, offset, body = cached
    return Body(body[:offset], body[offset + len(str(was)) :]).at(revision)


class ObjectCache:
    """JSON by object, the one that was written last at the end."""

    def __init__(self, *, bytes_max: int = BYTES_MAX) -> None:
        self._bytes_max = bytes_max
        self.clear()

    def get(self, key: Place) -> Cached | None:
        """Return an object's JSON; None when it is not here, which says nothing. Any thread."""
        return self._bodies.get(key)

    def keep(self, written: Mapping[Place, Cached | None]) -> None:
        """Take over what was committed, None for what is deleted; the oldest make room."""
        bodies = self._bodies
        for place, cached in written.items():
            former = bodies.pop(place, None)
            if former is not None:
                self._bytes -= len(former[2]) + _ENTRY_BYTES
            if cached is not None:
                bodies[place] = cached
                self._bytes += len(cached[2]) + _ENTRY_BYTES
        while self._bytes > self._bytes_max:
            _, _, body = bodies.pop(next(iter(bodies)))
            self._bytes -= len(body) + _ENTRY_BYTES

    def clear(self) -> None:
        """Forget everything."""
        self._bodies: dict[Place, Cached] = {}
        self._bytes = 0
