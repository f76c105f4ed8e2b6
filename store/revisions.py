"""Bringing a database from one schema revision to another.

Apart from the rest because only this needs Alembic, which takes long to load.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from sqlalchemy import Connection

from store import migrating, schema
from store.databases import reading, translating
from store.maintenance import revision_of


def upgrade(url: str, revision: str = "head") -> str:
    """Bring a database up to a schema revision, making it if need be; return its revision.

    Raises:
        StoreError: It cannot be used, another process writes it, or there is no such revision.
    """
    with _migrated(url) as connection:
        migrating.upgrade(connection, revision)
    return revision_of(url) or ""


def downgrade(url: str, revision: str) -> str:
    """Bring a database down to a schema revision; return its revision, empty for none.

    Raises:
        StoreError: As `upgrade`.
    """
    with reading(url) as connection:
        schema.revision_of(connection)
    with _migrated(url) as connection:
        migrating.downgrade(connection, revision)
    with reading(url) as connection:
        return migrating.revision_of(connection) or ""


@contextlib.contextmanager
def _migrated(url: str) -> Iterator[Connection]:
    """Yield a connection for Alembic: each revision is one transaction with its own record."""
    with translating(url) as database, database.migrating() as connection:
        schema.revision_of(connection)  # Another program's database is left alone.
        connection.commit()
        yield connection
        connection.commit()
