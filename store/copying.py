"""A copy of a database in memory, to try something on."""

from __future__ import annotations

from typing import Final

from sqlalchemy import insert, select

from store import tables as t
from store.sql_store import SqlStore
from store.sqlite.writer import SqliteWriter

_NOT_COPIED: Final = {t.change, t.change_pod, t.history_segment, t.writer_lock}
"""What happened and who writes: no decision asks for it; nodes have their revision themselves.

The changes of objects are copied: the newest one of an object is the object.
"""


def copy_database(source: SqlStore, target: SqlStore) -> None:
    """Make an empty SQLite database the same as another one, of one instant, but for its history.

    Another SQLite database is copied whole, page by page.
    """
    if isinstance(source.writer, SqliteWriter) and isinstance(target.writer, SqliteWriter):
        source.writer.copy_into(target.writer)
        return
    source.database.begin_read(source.writer.connection)
    target.writer.begin()
    for table in t.metadata.sorted_tables:
        if table in _NOT_COPIED:
            continue
        rows = source.writer.connection.execute(select(table)).mappings().all()
        if rows:
            target.writer.connection.execute(insert(table), [dict(row) for row in rows])
    target.writer.commit()
    source.writer.roll_back()
