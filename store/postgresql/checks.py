"""Whether a PostgreSQL database is sound: what the server does not look at by itself."""

from __future__ import annotations

from typing import Final

from sqlalchemy import Connection, func, select
from sqlalchemy import exc as sql_errors

from store import schema
from store import tables as t

_FOUND_MAX: Final = 20
_INDEXES: Final = ("enable_indexscan", "enable_indexonlyscan", "enable_bitmapscan")
_INVALID: Final = """
    SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
    WHERE NOT i.indisvalid AND c.relnamespace = current_schema()::regnamespace ORDER BY 1
"""


def damage(connection: Connection) -> list[str]:
    """Read every value without indexes, and look there for what an index should have refused."""
    if schema.missing_parts(connection):
        return []
    invalid = connection.exec_driver_sql(_INVALID).scalars()
    found = [f"index {name} is not valid" for name in invalid]
    for setting in _INDEXES:
        connection.exec_driver_sql(f"SET {setting} = off")
    for table in t.metadata.sorted_tables:
        columns = [func.count(column) for column in table.columns]
        try:
            connection.execute(select(*columns).select_from(table)).one()
        except sql_errors.DBAPIError as error:
            found.append(f"table {table.name}: {' '.join(str(error.orig).split())}")
    holding = t.device_holding
    twice = (
        select(holding.c.device_id)
        .where(holding.c.until_revision.is_(None), ~holding.c.disputed)
        .group_by(holding.c.device_id)
        .having(func.count() > 1)
        .order_by(holding.c.device_id)
    )
    found += [f"row {key} of device has two holders" for key in connection.scalars(twice)]
    for setting in _INDEXES:
        connection.exec_driver_sql(f"RESET {setting}")
    return found[:_FOUND_MAX]


def dangling(connection: Connection) -> list[str]:
    """Return which rows name rows that do not exist."""
    if schema.missing_parts(connection):
        return []
    found: list[str] = []
    for table in t.metadata.sorted_tables:
        for key in sorted(table.foreign_keys, key=lambda key: key.parent.name):
            target = key.column
            parent = target.table.alias("parent")
            lost = (
                select(key.parent)
                .join_from(table, parent, key.parent == parent.c[target.name], isouter=True)
                .where(key.parent.is_not(None), parent.c[target.name].is_(None))
                .order_by(key.parent)
                .limit(_FOUND_MAX)
            )
            found += [
                f"{key.parent.name} {value} of {table.name} names a missing {target.table.name}"
                for value in connection.scalars(lost)
            ]
    return found[:_FOUND_MAX]
