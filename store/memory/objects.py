"""Objects without a database: what the SQL store must be equal to, in the simplest form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from simulator.core.instants import Instant
from simulator.core.preconditions import Standing
from simulator.object_ports import (
    Body,
    DeleteObject,
    Expired,
    ObjectChange,
    ObjectChanges,
    ObjectKey,
    ObjectOutcome,
    ObjectPage,
    ObjectWrite,
    Position,
    StoredObject,
    Written,
)
from store.object_decisions import REVISIONS_MAX, refusal_of, type_of


@dataclass(slots=True)
class Revisions:
    """The newest revision of a database, which objects and transitions share."""

    last: int = 0

    def next(self) -> int:
        """Take the next one."""
        self.last += 1
        return self.last


@dataclass(frozen=True, slots=True)
class _Object:
    revision: int
    uid: str
    body: Body
    expires: Instant | None

    def stored(self, key: ObjectKey) -> StoredObject:
        return StoredObject(key, self.revision, self.body.at(self.revision))

    def standing(self) -> Standing:
        return self.revision, self.uid


class MemoryObjectStore:
    """An `ObjectStore` that forgets everything when it is dropped.

    Args:
        revisions: Shared with the store of transitions, if there is one.
        revisions_max: As far back as this the changes are kept.
    """

    def __init__(
        self, revisions: Revisions | None = None, *, revisions_max: int = REVISIONS_MAX
    ) -> None:
        self._revisions = Revisions() if revisions is None else revisions
        self._revisions_max = revisions_max
        self._objects: dict[ObjectKey, _Object] = {}
        self._log: list[ObjectChange] = []

    def apply(self, writes: Sequence[ObjectWrite]) -> list[ObjectOutcome]:
        """Apply a batch; see `simulator.object_ports.ObjectStore`."""
        outcomes = [self._apply(write) for write in writes]
        oldest = self._oldest()
        if self._log and self._log[0].revision <= oldest:
            self._log = [change for change in self._log if change.revision > oldest]
        return outcomes

    def revision(self) -> int:
        """Return the revision of the newest change in the database."""
        return self._revisions.last

    def get(self, key: ObjectKey) -> StoredObject | None:
        """Return an object, None when there is none."""
        found = self._objects.get(key)
        return found.stored(key) if found else None

    def page(
        self,
        collection: str,
        *,
        namespace: str | None = None,
        limit: int | None = None,
        after: Position | None = None,
    ) -> ObjectPage | Expired:
        """Return a page of the objects of a collection."""
        revision = self._revisions.last if after is None else after.revision
        if revision < self._oldest():
            return Expired(self._oldest())
        begin = ("", "") if after is None else (after.namespace, after.name)
        present = self._as_of(revision)
        keys = [
            key
            for key in sorted(present, key=_in_bytes)
            if key.collection == collection
            and namespace in {None, key.namespace}
            and _in_bytes(key) > _in_bytes(ObjectKey(collection, *begin))
        ]
        chosen = keys[:limit]
        remaining = len(keys) - len(chosen)
        last = Position(revision, chosen[-1].namespace, chosen[-1].name) if remaining else None
        return ObjectPage(tuple(present[key] for key in chosen), revision, last, remaining)

    def since(
        self,
        revision: int,
        *,
        collection: str | None = None,
        namespace: str | None = None,
        limit: int | None = None,
    ) -> ObjectChanges | Expired:
        """Return the changes after a revision."""
        if revision < self._oldest():
            return Expired(self._oldest())
        found = [
            change
            for change in self._log
            if change.revision > revision
            and collection in {None, change.key.collection}
            and namespace in {None, change.key.namespace}
        ]
        if limit is not None and len(found) > limit:
            return ObjectChanges(tuple(found[:limit]), found[limit - 1].revision, more=True)
        return ObjectChanges(tuple(found), max(revision, self._revisions.last))

    def expired(self, at: Instant, *, limit: int) -> list[DeleteObject]:
        """Return deletions of objects whose `expires` has come."""
        due = sorted(
            (found.expires, found.revision, key)
            for key, found in self._objects.items()
            if found.expires is not None and found.expires <= at
        )
        return [DeleteObject(at, key, revision) for _, revision, key in due[:limit]]

    def _oldest(self) -> int:
        return max(0, self._revisions.last - self._revisions_max)

    def _as_of(self, revision: int) -> dict[ObjectKey, StoredObject]:
        """Undo, newest first, what happened after a revision."""
        present = {key: found.stored(key) for key, found in self._objects.items()}
        for change in reversed(self._log):
            if change.revision <= revision:
                break
            present.pop(change.key, None)
            if change.previous is not None:
                present[change.key] = StoredObject(
                    change.key, change.previous_revision, change.previous
                )
        return present

    def _apply(self, write: ObjectWrite) -> ObjectOutcome:
        found = self._objects.get(write.key)
        refusal = refusal_of(write, found.standing() if found else None)
        if refusal is not None:
            return refusal
        revision = self._revisions.next()
        if isinstance(write, DeleteObject):
            body = self._objects.pop(write.key).body
        else:
            body = write.body
            uid = found.uid if found else write.uid or ""
            self._objects[write.key] = _Object(revision, uid, body, write.expires)
        change = ObjectChange(
            revision=revision,
            type=type_of(write),
            key=write.key,
            body=body.at(revision),
            previous=found.body.at(found.revision) if found else None,
            previous_revision=found.revision if found else 0,
        )
        self._log.append(change)
        return Written(change)


def _in_bytes(key: ObjectKey) -> tuple[bytes, ...]:
    return tuple(part.encode() for part in key)
