"""Running the numbered revisions of `migrations` on a database."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection

import migrations
from simulator.errors import ConfigError, SchemaOutOfDateError


def configuration(connection: Connection) -> Config:
    """Return Alembic's configuration for a connection, from wherever this package is installed."""
    config = Config()
    config.set_main_option(
        "script_location", str(Path(migrations.__file__).parent).replace("%", "%%")
    )
    config.attributes["connection"] = connection
    return config


def revision_of(connection: Connection) -> str | None:
    """Return the revision that Alembic has noted, None when there is none."""
    revision: str | None = MigrationContext.configure(connection).get_current_revision()
    return revision


def upgrade(connection: Connection, revision: str = "head") -> None:
    """Bring a database up to a revision.

    Raises:
        ConfigError: There is no such revision.
        SchemaOutOfDateError: The database has one that this program does not know.
    """
    _refuse_unknown(connection, revision)
    try:
        command.upgrade(configuration(connection), revision)
    except CommandError as error:
        raise SchemaOutOfDateError(str(error)) from error


def downgrade(connection: Connection, revision: str) -> None:
    """Bring a database down to a revision.

    Raises:
        ConfigError: There is no such revision.
        SchemaOutOfDateError: The database has one that this program does not know, or none.
    """
    _refuse_unknown(connection, revision)
    try:
        command.downgrade(configuration(connection), revision)
    except CommandError as error:
        raise SchemaOutOfDateError(str(error)) from error


def _refuse_unknown(connection: Connection, revision: str) -> None:
    scripts = ScriptDirectory.from_config(configuration(connection))
    known = sorted(script.revision for script in scripts.walk_revisions())
    if revision not in {"base", "head", *known}:
        reason = f"there is no schema {revision!r}; known are base, {', '.join(known)} and head"
        raise ConfigError(reason)
    present = revision_of(connection)
    if present is not None and present not in known:
        reason = f"the database has schema {present}, unknown to this program; use a newer Rebind"
        raise SchemaOutOfDateError(reason)
