"""The schema by migrations is the declared one, and going down and up again keeps what is kept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, NullPool, create_engine, text

from simulator.core.devices import DeviceId, NumaNode
from simulator.core.instants import Instant
from simulator.core.pods import ContainerName, PodUid
from simulator.core.resources import ResourceName
from simulator.core.transitions import (
    DeviceBinding,
    NodeBooted,
    NodeName,
    PodAdmitted,
    PodIdentity,
)
from simulator.errors import SchemaOutOfDateError
from store import migrating, schema
from store.sql_store import SqlStore
from store.tables import SCHEMA_REVISION

NODE = NodeName("n0")
REVISIONS = ["0001", "0002"]


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    made = create_engine(f"sqlite:///{tmp_path}/rebind.db")
    yield made
    made.dispose()


def _url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/rebind.db"


def _declaration(connection: Connection) -> dict[str, str]:
    rows = connection.execute(text("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL"))
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
    with (
        engine.begin() as migrated,
        create_engine("sqlite://", poolclass=NullPool).begin() as declared,
    ):
        migrating.upgrade(migrated)
        schema.create(declared)

        assert _declaration(migrated) == _declaration(declared)
        assert schema.revision_of(migrated) == schema.revision_of(declared) == SCHEMA_REVISION


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

        assert set(_declaration(connection)) == {"alembic_version"}
        migrating.upgrade(connection)

        assert _declaration(connection) == first


def test_down_and_up_again_keeps_bindings_and_history(tmp_path: Path, engine: Engine) -> None:
    store = SqlStore(_url(tmp_path))
    _admit(store)
    before = (store.load(NODE), store.holders(), store.history())
    store.close()
    with engine.begin() as connection:
        migrating.downgrade(connection, "0001")
        migrating.upgrade(connection)
        segments = connection.execute(text("SELECT * FROM history_segment")).all()

    assert segments == [(1, 1)]
    store = SqlStore(_url(tmp_path))

    assert (store.load(NODE), store.holders(), store.history()) == before
    assert len(before[0].bindings) == 1
    store.close()


def test_an_older_database_is_refused_with_the_command_that_upgrades_it(
    tmp_path: Path, engine: Engine
) -> None:
    with engine.begin() as connection:
        migrating.upgrade(connection, "0001")
    with pytest.raises(SchemaOutOfDateError) as refused:
        SqlStore(_url(tmp_path))

    assert str(refused.value) == (
        f"database {_url(tmp_path)} has schema 0001, this program needs 0002; "
        f"run: rebind db upgrade --db {_url(tmp_path)}"
    )


def test_a_newer_database_is_refused(tmp_path: Path, engine: Engine) -> None:
    SqlStore(_url(tmp_path)).close()
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(SchemaOutOfDateError, match=r"schema 9999, newer than this program's 0002"):
        SqlStore(_url(tmp_path))


def test_a_database_of_another_program_is_refused(tmp_path: Path, engine: Engine) -> None:
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE users (id INTEGER)"))
    with pytest.raises(SchemaOutOfDateError, match=r"has tables \(users\), but no Rebind schema"):
        SqlStore(_url(tmp_path))


def test_an_unknown_revision_is_refused(engine: Engine) -> None:
    with engine.begin() as connection:
        with pytest.raises(SchemaOutOfDateError, match="0815"):
            migrating.upgrade(connection, "0815")
        with pytest.raises(SchemaOutOfDateError, match="0815"):
            migrating.downgrade(connection, "0815")
