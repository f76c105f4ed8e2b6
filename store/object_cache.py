"""The JSON of objects that were written last, as it is in the database.

The writer takes from here what an update or a deletion replaces; readers take what they ask for.
Only what is committed is in it, and the writer alone puts it there, so that it is never older than
what was acknowledged. It is empty again when a commit fails: what is in the database then is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from simulator.object_ports import Body, ObjectKey

BYTES_MAX: Final = 64 * 1024 * 1024
_ENTRY_BYTES: Final = 200
"""What an entry takes beside its JSON, about."""


class CachedBody(NamedTuple):
    """An object's JSON, and where in it the digits of its revision begin."""

    revision: int
    offset: int
    body: bytes

    def at(self, revision: int) -> bytes:
        """Return it with another resourceVersion."""
        end = self.offset + len(str(self.revision))
        return Body(self.body[: self.offset], self.body[end:]).at(revision)


class ObjectCache:
    """JSON by object, the one that was written last at the end."""

    def __init__(self, *, bytes_max: int = BYTES_MAX) -> None:
        self._bytes_max = bytes_max
        self.clear()

    def get(self, key: ObjectKey) -> CachedBody | None:
        """Return an object's JSON; None when it is not here, which says nothing. Any thread."""
        return self._bodies.get(key)

    def keep(self, written: Mapping[ObjectKey, CachedBody | None]) -> None:
        """Take over what was committed, None for what is deleted; the oldest make room."""
        bodies = self._bodies
        for key, body in written.items():
            former = bodies.pop(key, None)
            if former is not None:
                self._bytes -= len(former.body) + _ENTRY_BYTES
            if body is not None:
                bodies[key] = body
                self._bytes += len(body.body) + _ENTRY_BYTES
        while self._bytes > self._bytes_max:
            oldest = next(iter(bodies))
            self._bytes -= len(bodies.pop(oldest).body) + _ENTRY_BYTES

    def clear(self) -> None:
        """Forget everything."""
        self._bodies: dict[ObjectKey, CachedBody] = {}
        self._bytes = 0
