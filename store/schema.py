"""Which schema a database has, and making one that has none."""

from __future__ import annotations

from functools import cache
from typing import Final

from sqlalchemy import Connection, create_mock_engine, inspect, text
from sqlalchemy.schema import ExecutableDDLElement

from simulator.errors import SchemaOutOfDateError
from store import tables

_VERSION_TABLE: Final = "alembic_version"


def revision_of(connection: Connection) -> str | None:
    """Return the schema revision of a database, None when it has no table at all.

    Raises:
        SchemaOutOfDateError: There are tables, but not this program's.
    """
    names = inspect(connection).get_table_names()
    revision = None
    if _VERSION_TABLE in names:
        revision = connection.scalar(text(f"SELECT version_num FROM {_VERSION_TABLE}"))  # noqa: S608  constant
    if revision is None and set(names) <= {_VERSION_TABLE}:
        return None
    if not revision:
        reason = (
            f"the database has tables ({', '.join(sorted(names)[:3])}), but no Rebind schema; "
            "name another database"
        )
        raise SchemaOutOfDateError(reason)
    return str(revision)


def missing_parts(connection: Connection) -> list[str]:
    """Return what a database of the present revision should have and has not, by name.

    Without its unique index a database would take a second holder, and say nothing.
    """
    present = inspect(connection)
    missing: list[str] = []
    for table in tables.metadata.sorted_tables:
        if not present.has_table(table.name):
            missing.append(f"table {table.name}")
            continue
        columns = {column["name"] for column in present.get_columns(table.name)}
        missing += [f"column {c}" for c in table.columns if c.name not in columns]
        indexes = {index["name"] for index in present.get_indexes(table.name)}
        missing += [f"index {name}" for i in table.indexes if (name := i.name) not in indexes]
    return sorted(missing)


def create(connection: Connection) -> None:
    """Give an empty database the present schema: what all migrations together make."""
    for statement in _declaration(f"{connection.dialect.name}+{connection.dialect.driver}"):
        connection.exec_driver_sql(statement)
    connection.execute(
        text(f"INSERT INTO {_VERSION_TABLE} (version_num) VALUES (:revision)"),  # noqa: S608  constant
        {"revision": tables.SCHEMA_REVISION},
    )


@cache
def _declaration(database: str) -> tuple[str, ...]:
    """Return the statements that make all tables; written once, for many small databases."""
    version = (
        f"CREATE TABLE IF NOT EXISTS {_VERSION_TABLE} (version_num VARCHAR(32) NOT NULL, "
        f"CONSTRAINT {_VERSION_TABLE}_pkc PRIMARY KEY (version_num))"
    )
    statements = [version]

    def keep(element: ExecutableDDLElement, *_: object, **__: object) -> None:
        statements.append(str(element.compile(dialect=engine.dialect)))

    engine = create_mock_engine(f"{database}://", keep)
    tables.metadata.create_all(engine, checkfirst=False)
    return tuple(statements)


def check(revision: str | None, *, url: str) -> None:
    """Refuse a database of another revision.

    Raises:
        SchemaOutOfDateError: With the command that helps.
    """
    present = tables.SCHEMA_REVISION
    if revision == present:
        return
    if revision is None:
        reason = f"database {url} is empty; run: rebind db upgrade --db {url}"
    elif revision < present:
        reason = (
            f"database {url} has schema {revision}, this program needs {present}; "
            f"run: rebind db upgrade --db {url}"
        )
    else:
        reason = (
            f"database {url} has schema {revision}, newer than this program's {present}; "
            "use a newer Rebind"
        )
    raise SchemaOutOfDateError(reason)
