"""Objects as small as they can be, for tests of what stores promise of them."""

from __future__ import annotations

from simulator.core.instants import Instant
from simulator.object_ports import (
    Body,
    CreateObject,
    DeleteObject,
    ObjectChange,
    ObjectChanges,
    ObjectKey,
    ObjectOutcome,
    ObjectPage,
    ObjectReader,
    UpdateObject,
    Written,
)

PODS = "pods"
AT = Instant(7)


def key(name: str, *, namespace: str = "default", collection: str = PODS) -> ObjectKey:
    return ObjectKey(collection, namespace, name)


def body(text: str) -> Body:
    return Body(b'{"v":"', b'","is":"%b"}' % text.encode())


def made(
    name: str | ObjectKey, text: str = "new", *, uid: str | None = None, expires: int | None = None
) -> CreateObject:
    where = key(name) if isinstance(name, str) else name
    return CreateObject(
        AT,
        where,
        uid or f"uid-{where.name}",
        body(text),
        None if expires is None else Instant(expires),
    )


def changed(
    name: str | ObjectKey,
    text: str,
    *,
    revision: int | None = None,
    uid: str | None = None,
    expires: int | None = None,
) -> UpdateObject:
    where = key(name) if isinstance(name, str) else name
    ends = None if expires is None else Instant(expires)
    return UpdateObject(AT, where, body(text), revision, uid, ends)


def deleted(
    name: str | ObjectKey, *, revision: int | None = None, uid: str | None = None
) -> DeleteObject:
    return DeleteObject(AT, key(name) if isinstance(name, str) else name, revision, uid)


def change_of(outcome: ObjectOutcome) -> ObjectChange:
    assert isinstance(outcome, Written), outcome
    return outcome.change


def revisions_of(outcomes: list[ObjectOutcome]) -> list[int]:
    return [change_of(outcome).revision for outcome in outcomes]


def names_in(
    store: ObjectReader, collection: str = PODS, *, namespace: str | None = None
) -> list[str]:
    """Return the names that a list without a limit has."""
    page = store.page(collection, namespace=namespace)
    assert isinstance(page, ObjectPage), page
    return [item.key.name for item in page.items]


def seen_since(store: ObjectReader, revision: int) -> tuple[ObjectChange, ...]:
    """Return all changes after a revision."""
    found = store.since(revision)
    assert isinstance(found, ObjectChanges), found
    return found.changes
