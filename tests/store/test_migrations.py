"""The schema by migrations is the declared one, and going down and up again keeps what is kept."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, NullPool, create_engine, inspect, text

from simulator.core.devices import DeviceId, NumaNode
from simulator.core.instants import Instant
from simulator.core.migration.phases import Phase
from simulator.core.pods import ContainerName, PodUid
from simulator.core.resources import ResourceName
from simulator.core.transitions import (
    DeviceBinding,
    NodeBooted,
    NodeName,
    PhaseChanged,
    PodAdmitted,
    PodIdentity,
)
from simulator.errors import ConfigError, SchemaOutOfDateError
from simulator.ports import Committed
from store import migrating, schema
from store.sql_store import SqlStore
from store.tables import SCHEMA_REVISION
from tests.store.objects import change_of, deleted, key, made

NODE = NodeName("n0")
REVISIONS = ["0001", "0002", "0003", "0004"]


# Columns in their order, constraints and indexes, as PostgreSQL itself writes them out.
CATALOG = """
    SELECT attrelid::regclass || '.' || attname AS name,
           concat_ws(' ', attnum, format_type(atttypid, atttypmod), attnotnull) AS sql
    FROM pg_attribute WHERE attnum > 0
      AND attrelid IN (SELECT oid FROM pg_class
                       WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace)
    UNION ALL
    SELECT 'constraint ' || conname, pg_get_constraintdef(oid) FROM pg_constraint
    WHERE connamespace = 'public'::regnamespace
    UNION ALL
    SELECT 'index ' || indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'
    ORDER BY 1
"""
MASTER = "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL"


@pytest.fixture
def engine(database_url: str) -> Iterator[Engine]:
    made = create_engine(database_url, poolclass=NullPool)
    yield made
    made.dispose()


def _declaration(connection: Connection) -> dict[str, str]:
    rows = connection.execute(text(MASTER if connection.dialect.name == "sqlite" else CATALOG))
    return {row.name: "".join(row.sql.split()) for row in rows}


def _admit(store: SqlStore) -> None:
    binding = DeviceBinding(
        pod=PodUid("uid-a"),
        container=ContainerName("main"),
        resource=ResourceName("example.com/gpu"),
        devices={NumaNode(0): (DeviceId("gpu-0"),)},
        response=b"\x0a\x00",
    )
    store.apply(
        [
            NodeBooted(NODE, Instant(1), "boot-1"),
            PodAdmitted(NODE, Instant(2), PodIdentity(PodUid("uid-a")), (binding,)),
        ]
    )


def test_all_migrations_together_make_the_declared_tables(engine: Engine) -> None:
    with engine.begin() as connection:
        migrating.upgrade(connection)
        migrated = _declaration(connection)

        assert schema.revision_of(connection) == SCHEMA_REVISION
        migrating.downgrade(connection, "base")
        connection.execute(text("DROP TABLE alembic_version"))
        schema.create(connection)

        assert schema.revision_of(connection) == SCHEMA_REVISION
        assert _declaration(connection) == migrated
        assert len(migrated) > 20


def test_the_newest_revision_is_the_one_that_the_program_needs() -> None:
    with create_engine("sqlite://", poolclass=NullPool).connect() as connection:
        scripts = ScriptDirectory.from_config(migrating.configuration(connection))

        assert scripts.get_current_head() == SCHEMA_REVISION
        assert [one.revision for one in scripts.walk_revisions()][::-1] == REVISIONS


def test_the_configuration_in_the_project_file_finds_the_same_revisions() -> None:
    project = Path(__file__).resolve().parents[2] / "pyproject.toml"
    scripts = ScriptDirectory.from_config(Config(toml_file=project))

    assert [one.revision for one in scripts.walk_revisions()][::-1] == REVISIONS


def test_every_revision_can_be_taken_back_to_nothing_and_made_again(engine: Engine) -> None:
    with engine.begin() as connection:
        migrating.upgrade(connection)
        first = _declaration(connection)
        migrating.downgrade(connection, "base")

        assert inspect(connection).get_table_names() == ["alembic_version"]
        migrating.upgrade(connection)

        assert _declaration(connection) == first


def test_down_and_up_again_keeps_bindings_and_history(database_url: str, engine: Engine) -> None:
    store = SqlStore(database_url)
    _admit(store)
    before = (store.load(NODE), store.holders(), store.history())
    store.close()
    with engine.begin() as connection:
        migrating.downgrade(connection, "0001")
        migrating.upgrade(connection)
        segments = connection.execute(text("SELECT * FROM history_segment")).all()

    assert segments == [(1, 1, 1)]
    store = SqlStore(database_url)

    assert (store.load(NODE), store.holders(), store.history()) == before
    assert len(before[0].bindings) == 1
    store.close()


@pytest.mark.parametrize("phase", [phase for phase in Phase if phase is not Phase.CHECKPOINT])
@pytest.mark.parametrize("revision", ["0002", "base"])
def test_a_schema_without_phases_is_refused_while_a_node_is_not_back_at_its_file(
    database_url: str, engine: Engine, phase: Phase, revision: str
) -> None:
    """Its file would be believed again, whatever has changed since."""
    with closing(SqlStore(database_url)) as store:
        _admit(store)
        store.apply([PhaseChanged(NODE, Instant(3), phase)])
    with (
        pytest.raises(SchemaOutOfDateError, match="take it back first: rebind migrate back --node"),
        engine.begin() as connection,
    ):
        migrating.downgrade(connection, revision)
    with closing(SqlStore(database_url)) as store:
        assert store.load(NODE).phase is phase
        assert len(store.load(NODE).bindings) == 1


def test_the_phase_of_a_node_that_is_back_at_its_file_may_be_lost(
    database_url: str, engine: Engine
) -> None:
    with closing(SqlStore(database_url)) as store:
        _admit(store)
        store.apply([PhaseChanged(NODE, Instant(3), Phase.CHECKPOINT)])
    with engine.begin() as connection:
        migrating.downgrade(connection, "0002")
        migrating.upgrade(connection)
    with closing(SqlStore(database_url)) as store:
        assert store.load(NODE).phase is None


def test_a_database_without_objects_is_upgraded_with_what_it_has(
    database_url: str, engine: Engine
) -> None:
    """Revisions go on; until then each was a change of the history."""
    with closing(SqlStore(database_url)) as store:
        _admit(store)
        before = (store.load(NODE), store.holders(), store.history())
    with engine.begin() as connection:
        migrating.downgrade(connection, "0003")

        assert inspect(connection).has_table("api_object") is False
        assert connection.execute(text("SELECT * FROM history_segment")).all() == [(1, 1)]
        migrating.upgrade(connection)
    with closing(SqlStore(database_url)) as store:
        assert (store.load(NODE), store.holders(), store.history()) == before
        assert store.objects.revision() == 2
        (made_,) = store.objects.apply([made("a")])

        assert change_of(made_).revision == 3
        assert store.apply([NodeBooted(NODE, Instant(4), "boot-2")]) == [Committed(4)]


def test_a_schema_without_objects_is_refused_while_there_are_some(
    database_url: str, engine: Engine
) -> None:
    with closing(SqlStore(database_url)) as store:
        store.objects.apply([made(key("default", namespace="", collection="namespaces"))])
        store.objects.apply([made("a")])
    for revision in ("0003", "base"):
        with (
            pytest.raises(
                SchemaOutOfDateError,
                match="has pods of an API server, which schema 0003 does not know; delete them",
            ),
            engine.begin() as connection,
        ):
            migrating.downgrade(connection, revision)
    with closing(SqlStore(database_url)) as store:
        assert store.objects.get(key("a")) is not None
        store.objects.apply([deleted("a")])
    with engine.begin() as connection:
        migrating.downgrade(connection, "base")


def test_an_older_database_is_refused_with_the_command_that_upgrades_it(
    database_url: str, engine: Engine
) -> None:
    with engine.begin() as connection:
        migrating.upgrade(connection, "0001")
    with pytest.raises(SchemaOutOfDateError) as refused:
        SqlStore(database_url)

    assert str(refused.value) == (
        f"database {database_url} has schema 0001, this program needs 0004; "
        f"run: rebind db upgrade --db {database_url}"
    )


def test_a_newer_database_is_refused(database_url: str, engine: Engine) -> None:
    SqlStore(database_url).close()
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(SchemaOutOfDateError, match=r"schema 9999, newer than this program's 0004"):
        SqlStore(database_url)


def test_a_database_of_another_program_is_refused(database_url: str, engine: Engine) -> None:
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE users (id INTEGER)"))
    with pytest.raises(SchemaOutOfDateError, match=r"has tables \(users\), but no Rebind schema"):
        SqlStore(database_url)


def test_an_unknown_revision_is_refused(engine: Engine) -> None:
    with engine.begin() as connection:
        for change in (migrating.upgrade, migrating.downgrade):
            with pytest.raises(ConfigError) as refused:
                change(connection, "0815")

            assert str(refused.value) == (
                "there is no schema '0815'; known are base, 0001, 0002, 0003, 0004 and head"
            )
        migrating.upgrade(connection)
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
        for change in (migrating.upgrade, migrating.downgrade):
            with pytest.raises(SchemaOutOfDateError, match="schema 9999, unknown to this program"):
                change(connection, "0001")
