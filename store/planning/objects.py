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

from simulator.core.instants import Instant
from simulator.object_ports import (
    CreateObject,
    DeleteObject,
    NotFound,
    ObjectChange,
    ObjectKey,
    ObjectOutcome,
    ObjectWrite,
    Written,
)
from store import tables as t
from store.database import Row, Statement, Writer
from store.node_entries import Keys
from store.object_cache import CachedBody, ObjectCache
from store.object_decisions import TYPES, Standing, refusal_of, type_of
from store.planning.statements import BY_PLACE

GATHERED: Final = 64
"""Writes whose rows are written together; more of them leave the processor's cache."""


@dataclass(slots=True)
class Collection:
    """A collection of objects.

    Attributes:
        standings: Every object that there is, by namespace and name.
    """

    id: int
    standings: dict[ObjectKey, Standing] = field(default_factory=dict)


@cache
def _compiled(database: str) -> tuple[str, ...]:
    """Return the statements in the order of `ObjectPlan.flush`, compiled for a dialect."""
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
        self._new: list[Row] = []
        self._changes: list[Row] = []
        # Per object: what was there before these rows, and when it is to expire now.
        self._touched: dict[ObjectKey, tuple[Standing | None, Instant | None]] = {}
        self._bodies: dict[ObjectKey, CachedBody | None] = {}

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
        key = write.key
        collection = self._collections.get(key.collection)
        if collection is None:
            collection = self._read_collection(key.collection)
            if collection is None:
                if not isinstance(write, CreateObject):
                    return NotFound()
                collection = self._new_collection(key.collection, keys)
        standings = collection.standings
        standing = standings.get(key)
        refusal = refusal_of(write, standing)
        if refusal is not None:
            return refusal
        previous = None if standing is None else self._body(key, standing.revision)
        before = self._touched[key][0] if key in self._touched else standing
        keys.revision += 1
        revision = keys.revision
        type_ = type_of(write)
        offset, stored = None, None
        if isinstance(write, DeleteObject):
            del standings[key]
            self._touched[key] = (before, None)
            self._bodies[key] = None
            body = b"" if previous is None else previous.at(revision)
        else:
            uid = standing.uid if standing is not None else write.uid or ""
            standings[key] = Standing(revision, uid)
            self._touched[key] = (before, write.expires)
            offset = len(write.body.before)
            body = stored = write.body.at(revision)
            self._bodies[key] = CachedBody(revision, offset, body)
        self._changes.append(
            (
                revision,
                write.at,
                collection.id,
                key.namespace,
                key.name,
                TYPES[type_],
                None if previous is None else previous.revision,
                offset,
                stored,
            )
        )
        if previous is None:
            return Written(ObjectChange(revision, type_, key, body))
        return Written(ObjectChange(revision, type_, key, body, previous.body, previous.revision))

    def _flush(self) -> None:
        """Write the rows that wait, those of one object as one."""
        deletes: list[Row] = []
        updates: list[Row] = []
        inserts: list[Row] = []
        for key, (before, expires) in self._touched.items():
            collection = self._collections[key.collection]
            place = (collection.id, key.namespace, key.name)
            now = collection.standings.get(key)
            if now is not None and before is not None and now.uid == before.uid:
                updates.append((now.revision, expires, *place))
                continue
            if before is not None:
                deletes.append(place)
            if now is not None:
                inserts.append((*place, now.uid, now.revision, expires))
        rows = (self._new, self._changes, deletes, updates, inserts)
        waiting: list[Statement] = [
            (sql, some) for sql, some in zip(self._statements, rows, strict=True) if some
        ]
        self._new, self._changes, self._touched = [], [], {}
        if waiting:
            self._writer.write(waiting)

    def _new_collection(self, name: str, keys: Keys) -> Collection:
        keys.collection += 1
        self._new.append((keys.collection, name))
        made = self._collections[name] = Collection(keys.collection)
        return made

    def _read_collection(self, name: str) -> Collection | None:
        """Read which objects a collection has; None for one that nothing was ever written to."""
        connection = self._writer.connection
        names = t.api_collection.c
        known = connection.scalar(select(names.id).where(names.name == name))
        if known is None:
            return None
        collection = self._collections[name] = Collection(known)
        there = t.api_object.c
        rows = connection.execute(
            select(there.namespace, there.name, there.revision, there.uid).where(
                there.collection_id == known
            )
        )
        for namespace, name_, revision, uid in rows:
            collection.standings[ObjectKey(name, namespace, name_)] = Standing(revision, uid)
        return collection

    def _body(self, key: ObjectKey, revision: int) -> CachedBody:
        """Return an object's JSON at its present revision."""
        found = self._bodies.get(key) or self._cache.get(key)
        if found is not None and found.revision == revision:
            return found
        return _read_body(self._writer.connection, revision)


def _read_body(connection: Connection, revision: int) -> CachedBody:
    change = t.api_change.c
    offset, body = connection.execute(
        select(change.revision_offset, change.body).where(change.revision == revision)
    ).one()
    return CachedBody(revision, offset, bytes(body))
