"""The objects of an API server in a SQL database."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

from sqlalchemy import Connection

from simulator.core.instants import Instant
from simulator.object_ports import (
    DeleteObject,
    Expired,
    ObjectChanges,
    ObjectKey,
    ObjectOutcome,
    ObjectPage,
    ObjectWrite,
    Position,
    StoredObject,
)
from store import object_queries
from store.object_cache import ObjectCache


class SqlObjectStore:
    """An `ObjectStore`: the objects of one `SqlStore`.

    Args:
        reading: Yields a connection on which every question is of one instant.
        apply: Writes a batch with one commit.
        cache: What was written last.
    """

    def __init__(
        self,
        reading: Callable[[], AbstractContextManager[Connection]],
        apply: Callable[[Sequence[ObjectWrite]], list[ObjectOutcome]],
        cache: ObjectCache,
    ) -> None:
        self._reading = reading
        self._apply = apply
        self.cache = cache

    def apply(self, writes: Sequence[ObjectWrite]) -> list[ObjectOutcome]:
        """Apply a batch with one commit; see `simulator.object_ports.ObjectStore`."""
        return self._apply(writes)

    def revision(self) -> int:
        """Return the revision of the newest change in the database."""
        with self._reading() as connection:
            return object_queries.newest_revision(connection)

    def get(self, key: ObjectKey) -> StoredObject | None:
        """Return an object, None when there is none."""
        known = self.cache.get(key)
        if known is not None:
            revision, _, body = known
            return StoredObject(key, revision, body)
        with self._reading() as connection:
            return object_queries.object_at(connection, key)

    def page(
        self,
        collection: str,
        *,
        namespace: str | None = None,
        limit: int | None = None,
        after: Position | None = None,
    ) -> ObjectPage | Expired:
        """Return a page of the objects of a collection."""
        with self._reading() as connection:
            return object_queries.page_of(
                connection, collection, namespace=namespace, limit=limit, after=after
            )

    def since(
        self,
        revision: int,
        *,
        collection: str | None = None,
        namespace: str | None = None,
        limit: int | None = None,
    ) -> ObjectChanges | Expired:
        """Return the changes after a revision."""
        with self._reading() as connection:
            return object_queries.changes_since(
                connection, revision, collection=collection, namespace=namespace, limit=limit
            )

    def expired(self, at: Instant, *, limit: int) -> list[DeleteObject]:
        """Return deletions of objects whose `expires` has come."""
        with self._reading() as connection:
            return object_queries.expired_at(connection, at, limit=limit)
