"""What is asked of the objects in a SQL database, within a transaction of one instant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Row, func, literal, select, tuple_

from simulator.core.instants import Instant
from simulator.object_ports import (
    ChangeType,
    DeleteObject,
    Expired,
    ObjectChange,
    ObjectChanges,
    ObjectKey,
    ObjectPage,
    Position,
    StoredObject,
)
from store import tables as t
from store.changes import refuse_value
from store.object_cache import refilled
from store.object_decisions import TYPES

_NAMES: Final = t.api_collection.c
_OBJECT: Final = t.api_object.c
_CHANGE: Final = t.api_change.c
_TYPES: Final = {number: type_ for type_, number in TYPES.items()}
_ASKED_MAX: Final = 500
"""Keys in one question; SQLite takes 32,766, PostgreSQL 65,535."""


def newest_revision(connection: Connection) -> int:
    """Read the revision of the newest change in the database."""
    columns = (t.change.c.revision, t.node.c.revision, _CHANGE.revision, t.api_horizon.c.revision)
    newest = select(*(select(func.max(column)).scalar_subquery() for column in columns))
    return max(revision or 0 for revision in connection.execute(newest).one())


def oldest_revision(connection: Connection) -> int:
    """Read after which revision all changes of objects are known."""
    return connection.scalar(select(t.api_horizon.c.revision)) or 0


def object_at(connection: Connection, key: ObjectKey) -> StoredObject | None:
    """Read an object."""
    query = (
        select(_CHANGE.revision, _CHANGE.body)
        .join(t.api_object, _OBJECT.revision == _CHANGE.revision)
        .join(t.api_collection, _NAMES.id == _OBJECT.collection_id)
        .where(_NAMES.name == key.collection)
        .where(_OBJECT.namespace == key.namespace, _OBJECT.name == key.name)
    )
    row = connection.execute(query).one_or_none()
    return None if row is None else StoredObject(key, row.revision, bytes(row.body))


def page_of(
    connection: Connection,
    collection: str,
    *,
    namespace: str | None,
    limit: int | None,
    after: Position | None,
) -> ObjectPage | Expired:
    """Read a page of a list."""
    newest = newest_revision(connection)
    at = newest if after is None else after.revision
    oldest = oldest_revision(connection)
    if at < oldest:
        return Expired(oldest)
    number = connection.scalar(select(_NAMES.id).where(_NAMES.name == collection)) or 0
    chosen = [_CHANGE.collection_id == number]
    there = [_OBJECT.collection_id == number]
    if namespace is not None:
        chosen.append(_CHANGE.namespace == namespace)
        there.append(_OBJECT.namespace == namespace)
    if after is not None:
        begin = tuple_(literal(after.namespace), literal(after.name))
        chosen.append(tuple_(_CHANGE.namespace, _CHANGE.name) > begin)
        there.append(tuple_(_OBJECT.namespace, _OBJECT.name) > begin)
    changed: dict[ObjectKey, int] = {}
    if at < newest:
        changed = _replaced_since(connection, at, collection, chosen)
        there.append(_OBJECT.revision <= at)
    query = select(_OBJECT.namespace, _OBJECT.name, _OBJECT.revision, _CHANGE.body).join(
        t.api_change, _OBJECT.revision == _CHANGE.revision
    )
    query = query.where(*there).order_by(_OBJECT.namespace, _OBJECT.name)
    rows = connection.execute(query if limit is None else query.limit(limit + 1))
    found: dict[ObjectKey, StoredObject | int] = {}
    for space, name, revision, body in rows:
        key = ObjectKey(collection, space, name)
        found[key] = StoredObject(key, revision, body)
    if changed:
        found.update(changed)
        found = dict(sorted(found.items(), key=lambda item: _in_bytes(item[0])))
    keys = list(found)[:limit]
    remaining = 0
    if len(found) > len(keys):
        count = select(func.count()).select_from(t.api_object).where(*there)
        remaining = (connection.scalar(count) or 0) + len(changed) - len(keys)
    items = _with_bodies(connection, [(key, found[key]) for key in keys])
    last = Position(at, keys[-1].namespace, keys[-1].name) if remaining else None
    return ObjectPage(items, at, last, remaining)


def changes_since(
    connection: Connection,
    revision: int,
    *,
    collection: str | None,
    namespace: str | None,
    limit: int | None,
) -> ObjectChanges | Expired:
    """Read changes, each with what it replaced."""
    oldest = oldest_revision(connection)
    if revision < oldest:
        return Expired(oldest)
    before = t.api_change.alias("before")
    query = (
        select(
            t.api_change,
            _NAMES.name.label("collection"),
            before.c.revision_offset.label("offset_before"),
            before.c.body.label("body_before"),
        )
        .join(t.api_collection, _NAMES.id == _CHANGE.collection_id)
        .outerjoin(before, before.c.revision == _CHANGE.previous_revision)
        .where(_CHANGE.revision > revision)
        .order_by(_CHANGE.revision)
    )
    if collection is not None:
        query = query.where(_NAMES.name == collection)
    if namespace is not None:
        query = query.where(_CHANGE.namespace == namespace)
    rows = connection.execute(query if limit is None else query.limit(limit + 1)).all()
    changes = tuple(_change(row) for row in rows[:limit])
    if len(rows) > len(changes):
        return ObjectChanges(changes, changes[-1].revision, more=True)
    return ObjectChanges(changes, max(revision, newest_revision(connection)))


def expired_at(connection: Connection, at: Instant, *, limit: int) -> list[DeleteObject]:
    """Read which objects expire."""
    query = (
        select(_NAMES.name, _OBJECT.namespace, _OBJECT.name, _OBJECT.revision)
        .join(t.api_collection, _NAMES.id == _OBJECT.collection_id)
        .where(_OBJECT.expires_at <= at)
        .order_by(_OBJECT.expires_at, _OBJECT.revision)
        .limit(limit)
    )
    return [DeleteObject(at, ObjectKey(*place), rev) for *place, rev in connection.execute(query)]


def _replaced_since(
    connection: Connection, revision: int, collection: str, chosen: Sequence[ColumnElement[bool]]
) -> dict[ObjectKey, int]:
    """Read which objects of a revision have changed since, and which change was theirs then."""
    query = (
        select(_CHANGE.namespace, _CHANGE.name, _CHANGE.previous_revision)
        .where(_CHANGE.revision > revision, *chosen)
        .order_by(_CHANGE.revision)
    )
    first: dict[ObjectKey, int | None] = {}
    for namespace, name, previous in connection.execute(query):
        first.setdefault(ObjectKey(collection, namespace, name), previous)
    return {key: previous for key, previous in first.items() if previous is not None}


def _with_bodies(
    connection: Connection, found: Iterable[tuple[ObjectKey, StoredObject | int]]
) -> tuple[StoredObject, ...]:
    """Read the bodies of those of which only the revision is known."""
    items = list(found)
    asked = [item for _, item in items if isinstance(item, int)]
    bodies: dict[int, bytes] = {}
    for start in range(0, len(asked), _ASKED_MAX):
        query = select(_CHANGE.revision, _CHANGE.body)
        some = query.where(_CHANGE.revision.in_(asked[start : start + _ASKED_MAX]))
        bodies.update((row.revision, row.body) for row in connection.execute(some))
    return tuple(
        StoredObject(key, item, bodies[item]) if isinstance(item, int) else item
        for key, item in items
    )


def _change(row: Row[Any]) -> ObjectChange:
    type_ = _TYPES.get(row.kind)
    if type_ is None:
        refuse_value("kind of change of an object", row.kind)
    key = ObjectKey(row.collection, row.namespace, row.name)
    if row.previous_revision is None:
        return ObjectChange(row.revision, type_, key, bytes(row.body))
    was, before = row.previous_revision, bytes(row.body_before)
    is_deletion = type_ is ChangeType.DELETED
    body = refilled((was, row.offset_before, before), row.revision) if is_deletion else row.body
    return ObjectChange(row.revision, type_, key, bytes(body), before, was)


def _in_bytes(key: ObjectKey) -> tuple[bytes, ...]:
    return tuple(part.encode() for part in key)
