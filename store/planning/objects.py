"""The rows that a batch of writes of objects adds and changes.

As with transitions, nothing is read for a write: of every collection that is written to, the writer
remembers which objects there are, with uid and revision (about 300 bytes each). The JSON of those
written last is remembered too (`store.object_cache`); an older one, which an update or a deletion
replaces, is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Final

from sqlalchemy import Connection, Dialect, bindparam, delete, insert, select, update
from sqlalchemy.dialects import registry

from simulator.core.preconditions import Standing
from simulator.object_ports import (
    ChangeType,
    CreateObject,
    DeleteObject,
    NotFound,
    ObjectChange,
    ObjectOutcome,
    ObjectWrite,
    UpdateObject,
    Written,
)
from store import tables as t
from store.database import Row, Statement, Writer
from store.node_entries import Keys
from store.object_cache import Cached, ObjectCache, Place, refilled
from store.object_decisions import TYPES, refusal_of
from store.planning.statements import BY_PLACE

GATHERED: Final = 64
"""Writes whose rows are written together; more of them leave the processor's cache."""

_ADDED: Final = TYPES[ChangeType.ADDED]
_MODIFIED: Final = TYPES[ChangeType.MODIFIED]
_DELETED: Final = TYPES[ChangeType.DELETED]


@dataclass(slots=True)
class Collection:
    """A collection of objects.

    Attributes:
        standings: Every object that there is.
    """

    id: int
    standings: dict[Place, Standing] = field(default_factory=dict)


@dataclass(slots=True)
class _Rows:
    """Rows that wait to be written, in the order of the statements; one for each object."""

    collections: list[Row] = field(default_factory=list)
    changes: list[Row] = field(default_factory=list)
    deletes: list[Row] = field(default_factory=list)
    updates: list[Row] = field(default_factory=list)
    inserts: list[Row] = field(default_factory=list)


@cache
def _compiled(database: str) -> tuple[str, ...]:
    """Return the statements of `_Rows`, compiled for a dialect."""
    kind = registry.load(database)
    dialect: Dialect = kind(paramstyle=BY_PLACE.get(kind.name))
    this = [
        t.api_object.c[name] == bindparam(f"this_{name}")
        for name in ("collection_id", "namespace", "name")
    ]
    new = {name: bindparam(f"new_{name}", type_=t.LARGE) for name in ("revision", "expires_at")}
    return tuple(
        str(statement.compile(dialect=dialect))
        for statement in (
            insert(t.api_collection),
            insert(t.api_change),
            delete(t.api_object).where(*this),
            update(t.api_object).where(*this).values(new),
            insert(t.api_object),
        )
    )


class ObjectPlan:
    """Rows of one batch, and the writer's memory of the objects behind them.

    Args:
        writer: Reads and writes; all rows of a batch within one transaction.
        cache: What is committed; asked for the JSON that a write replaces.
    """

    def __init__(self, writer: Writer, cache: ObjectCache) -> None:
        self._writer = writer
        self._cache = cache
        dialect = writer.connection.dialect
        self._statements = _compiled(f"{dialect.name}.{dialect.driver}")
        self._collections: dict[str, Collection] = {}
        self._rows = _Rows()
        self._bodies: dict[Place, Cached | None] = {}
        self._touched: set[Place] = set()

    def apply(self, writes: Sequence[ObjectWrite], keys: Keys) -> list[ObjectOutcome]:
        """Write the rows of a batch, within a transaction; `keys` go on counting."""
        outcomes: list[ObjectOutcome] = []
        for start in range(0, len(writes), GATHERED):
            outcomes += [self._apply(one, keys) for one in writes[start : start + GATHERED]]
            self._flush()
        return outcomes

    def settle(self) -> None:
        """Show a batch that is durable to those who read."""
        self._cache.keep(self._bodies)
        self._bodies = {}

    def _apply(self, write: ObjectWrite, keys: Keys) -> ObjectOutcome:
        place = collection_name, namespace, name = tuple(write.key)
        collection = self._collections.get(collection_name) or self._read(collection_name)
        if collection is None:
            if not isinstance(write, CreateObject):
                return NotFound()
            collection = self._new_collection(collection_name, keys)
        standings = collection.standings
        standing = standings.get(place)
        refusal = refusal_of(write, standing)
        if refusal is not None:
            return refusal
        if place in self._touched:
            self._flush()
        self._touched.add(place)
        revision = keys.revision = keys.revision + 1
        number = collection.id
        begin = (revision, write.at, number, namespace, name)
        if isinstance(write, CreateObject):
            standings[place] = (revision, write.uid)
            body = write.body.at(revision)
            offset = len(write.body.before)
            self._bodies[place] = (revision, offset, body)
            rows = self._rows
            rows.inserts.append((number, namespace, name, write.uid, revision, write.expires))
            rows.changes.append((*begin, _ADDED, None, offset, body))
            return Written(ObjectChange(revision, ChangeType.ADDED, write.key, body))
        return self._replace(write, collection, begin)

    def _replace(
        self, write: UpdateObject | DeleteObject, collection: Collection, begin: Row
    ) -> ObjectOutcome:
        """Put a body, or nothing, in place of the one that there is."""
        place, rows, revision = tuple(write.key), self._rows, begin[0]
        was, uid = collection.standings.pop(place)
        previous = self._body(place, was)
        if isinstance(write, DeleteObject):
            type_, body = ChangeType.DELETED, refilled(previous, revision)
            self._bodies[place] = None
            rows.deletes.append(begin[2:])
            rows.changes.append((*begin, _DELETED, was, None, None))
        else:
            type_, body = ChangeType.MODIFIED, write.body.at(revision)
            offset = len(write.body.before)
            self._bodies[place] = (revision, offset, body)
            collection.standings[place] = (revision, uid)
            rows.updates.append((revision, write.expires, *begin[2:]))
            rows.changes.append((*begin, _MODIFIED, was, offset, body))
        return Written(ObjectChange(revision, type_, write.key, body, previous[2], was))

    def _flush(self) -> None:
        """Write the rows that wait."""
        rows, self._rows = self._rows, _Rows()
        self._touched.clear()
        waiting: list[Statement] = [
            (sql, some)
            for sql, some in zip(
                self._statements,
                (rows.collections, rows.changes, rows.deletes, rows.updates, rows.inserts),
                strict=True,
            )
            if some
        ]
        if waiting:
            self._writer.write(waiting)

    def _new_collection(self, name: str, keys: Keys) -> Collection:
        keys.collection += 1
        self._rows.collections.append((keys.collection, name))
        made = self._collections[name] = Collection(keys.collection)
        return made

    def _read(self, name: str) -> Collection | None:
        """Read which objects a collection has; None for one that nothing was ever written to."""
        connection = self._writer.connection
        names = t.api_collection.c
        known = connection.scalar(select(names.id).where(names.name == name))
        if known is None:
            return None
        there = t.api_object.c
        query = select(there.namespace, there.name, there.revision, there.uid)
        rows = connection.execute(query.where(there.collection_id == known))
        standings: dict[Place, Standing] = {
            (name, space, each): (revision, uid) for space, each, revision, uid in rows
        }
        collection = self._collections[name] = Collection(known, standings)
        return collection

    def _body(self, place: Place, revision: int) -> Cached:
        """Return an object's JSON at its present revision."""
        found = self._bodies.get(place) or self._cache.get(place)
        if found is not None and found[0] == revision:
            return found
        return _read_body(self._writer.connection, revision)


def _read_body(connection: Connection, revision: int) -> Cached:
    change = t.api_change.c
    query = select(change.revision_offset, change.body).where(change.revision == revision)
    offset, body = connection.execute(query).one()
    return (revision, offset, bytes(body))
