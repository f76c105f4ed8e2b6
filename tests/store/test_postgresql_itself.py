"""What is PostgreSQL's own: its lock, its sessions, its errors in one line."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import psycopg
import pytest

from benchmarks.postgresql_server import PostgresServer
from simulator.errors import StoreError, StoreUnavailableError, WriterLockedError
from simulator.ports import Committed, Durability, Refused
from store import maintenance, revisions
from store.postgresql import database as postgresql
from store.postgresql import writer as postgresql_writer
from store.postgresql.lock import AdvisoryLock
from store.sql_store import SqlStore
from store.writer_lock import own_name
from tests.store.world import admits_one

_WAITING = """
    SELECT 1 FROM pg_stat_activity
    WHERE application_name LIKE 'rebind %' AND query LIKE '%FROM pg_locks%'
    AND pid <> pg_backend_pid()
"""

TAKEN_AND_ENDED = """
import os, sys
from store.sql_store import SqlStore
store = SqlStore(sys.argv[1])
print(os.getpid(), flush=True)
os._exit(0)
"""


def _name(url: str) -> str:
    return url.partition("@/")[2].partition("?")[0]


@pytest.fixture
def plain(postgres: PostgresServer, postgres_url: str) -> Iterator[psycopg.Connection]:
    with closing(postgres.connect(_name(postgres_url))) as connection:
        yield connection


@pytest.mark.parametrize(
    ("durability", "synchronous"),
    [(Durability.FULL, "on"), (Durability.NORMAL, "off"), (Durability.OFF, "off")],
)
def test_durability_is_whether_a_commit_waits_for_the_disk(
    postgres_url: str, durability: Durability, synchronous: str
) -> None:
    with closing(SqlStore(postgres_url, durability=durability)) as store:
        shown = store.writer.connection.exec_driver_sql("SHOW synchronous_commit").scalar()

    assert shown == synchronous


def test_a_refused_writer_hears_since_when_the_other_one_writes(postgres_url: str) -> None:
    with (
        closing(SqlStore(postgres_url)),
        pytest.raises(
            WriterLockedError,
            match=r"is being written by pid \d+ on \S+ since \d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ; stop",
        ),
    ):
        SqlStore(postgres_url)


def test_a_writer_that_ended_does_not_keep_the_next_one_waiting(postgres_url: str) -> None:
    for _ in range(3):
        subprocess.run(  # noqa: S603 - our own text, run by this very Python
            [sys.executable, "-c", TAKEN_AND_ENDED, postgres_url],
            env={"PYTHONPATH": ":".join(sys.path)},
            stdout=subprocess.DEVNULL,
            check=True,
        )
        SqlStore(postgres_url).close()


def test_a_writer_that_was_killed_elsewhere_is_waited_for(
    postgres: PostgresServer, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgresql_writer, "NOTICED_S", 60.0)
    with closing(postgres.connect(_name(postgres_url))) as elsewhere, ThreadPoolExecutor() as pool:
        elsewhere.execute("SET application_name = 'rebind 0 pid 1 on other.example.com'")
        assert AdvisoryLock("x", "somebody").take(elsewhere, patient=False)
        opened = pool.submit(SqlStore, postgres_url)
        while not elsewhere.execute(_WAITING).fetchone():
            assert not opened.done()
        elsewhere.close()

        opened.result().close()


def test_each_schema_has_a_writer_of_its_own(postgres_url: str, plain: psycopg.Connection) -> None:
    plain.execute("CREATE SCHEMA other")
    elsewhere = f"{postgres_url}&options=-csearch_path%3Dother"
    with closing(SqlStore(postgres_url)) as store, closing(SqlStore(elsewhere)) as other:
        store.apply([admits_one("a", "g0")])

        assert other.nodes() == []
        assert other.apply([admits_one("b", "g0")]) == [Committed(1)]
        with pytest.raises(WriterLockedError):
            SqlStore(elsewhere)


def test_whoever_took_the_lock_by_hand_is_named(
    postgres_url: str, plain: psycopg.Connection
) -> None:
    plain.execute("SET application_name = 'somebody'")
    AdvisoryLock("x", "somebody else").take(plain, patient=False)
    with pytest.raises(WriterLockedError, match=r"by session 'somebody', server process \d+"):
        SqlStore(postgres_url)


def test_another_sessions_lock_is_waited_for_and_then_reported(
    postgres_url: str, plain: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgresql, "LOCK_TIMEOUT_MS", 1)
    with closing(SqlStore(postgres_url)) as store:
        store.apply([admits_one("a", "g0")])
        with plain.transaction():
            plain.execute("LOCK TABLE pod")
            with pytest.raises(StoreUnavailableError, match="another session holds a lock"):
                store.apply([admits_one("b", "g1")])

        assert store.apply([admits_one("b", "g1")]) == [Committed(2)]


def test_a_server_that_is_not_there_is_one_clear_line(postgres_url: str) -> None:
    nowhere = postgres_url.replace("rebind-pg-", "nowhere-")
    for use in (SqlStore, revisions.upgrade, maintenance.examine, maintenance.revision_of):
        with pytest.raises(StoreUnavailableError) as refused:
            use(nowhere)

        assert str(refused.value).startswith(f"database {nowhere}: no server answers there; start")
        assert "\n" not in str(refused.value)


def test_a_database_that_does_not_exist_is_one_clear_line(postgres: PostgresServer) -> None:
    for use in (SqlStore, revisions.upgrade, maintenance.examine, maintenance.revision_of):
        with pytest.raises(StoreUnavailableError, match="there is no such database; make it with"):
            use(postgres.url("nosuch"))


def test_a_user_without_permission_is_one_clear_line(
    postgres: PostgresServer, postgres_url: str, plain: psycopg.Connection
) -> None:
    with pytest.raises(StoreUnavailableError, match=r'no such user|role "nobody_here" does not'):
        SqlStore(postgres.url(_name(postgres_url), user="nobody_here"))
    role = f"guest_of_{_name(postgres_url)}"
    plain.execute(f"CREATE ROLE {role} LOGIN".encode())
    plain.execute("REVOKE USAGE ON SCHEMA public FROM public")
    try:
        as_guest = postgres.url(_name(postgres_url), user=role)
        with pytest.raises(StoreUnavailableError, match="there is no schema for this user; make"):
            SqlStore(as_guest)
        plain.execute("GRANT USAGE ON SCHEMA public TO public")
        with pytest.raises(StoreUnavailableError, match="this user may not do that; grant it"):
            SqlStore(as_guest)
        SqlStore(postgres_url).close()
        with pytest.raises(StoreUnavailableError, match="this user may not do that; grant it"):
            SqlStore(as_guest, read_only=True)
    finally:
        plain.execute(f"DROP OWNED BY {role}".encode())
        plain.execute(f"DROP ROLE {role}".encode())


def test_a_database_of_another_encoding_is_refused(postgres: PostgresServer) -> None:
    with closing(postgres.connect()) as connection:
        connection.execute("CREATE DATABASE latin TEMPLATE template0 ENCODING 'LATIN1'")
    try:
        with pytest.raises(StoreUnavailableError, match=r"has the encoding LATIN1; make one with"):
            SqlStore(postgres.url("latin"))
    finally:
        postgres.drop_database("latin")


def test_text_with_a_null_character_is_refused(postgres_url: str) -> None:
    with closing(SqlStore(postgres_url)) as store:
        for count in (1, 20):
            batch = [admits_one(f"p{number}", f"\0{number}") for number in range(count)]
            with pytest.raises(StoreError, match=r"a value cannot be stored: .*NUL"):
                store.apply(batch)

        assert store.nodes() == []


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:secret@{}/x",
        "postgresql+psycopg://me@/x?host={}&password=secret",
        "postgresql+psycopg://me:secret@[/x",
        "postgresql+other://me:secret@/x",
    ],
)
def test_a_password_is_never_shown(url: str) -> None:
    with pytest.raises(Exception, match=r"\*\*\*") as refused:
        SqlStore(url.format("127.0.0.1:1"))

    assert "secret" not in str(refused.value)


def test_without_its_driver_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "store.postgresql.database", None)
    with pytest.raises(StoreUnavailableError, match=r"needs psycopg: pip install 'rebind"):
        SqlStore("postgresql://me:secret@db.example.com/x")


def test_the_plain_scheme_means_the_same(postgres_url: str) -> None:
    with closing(SqlStore(postgres_url.replace("+psycopg", ""))) as store:
        assert store.database.name == postgres_url


@pytest.mark.parametrize(
    ("spoil", "subject", "problem"),
    [
        ("DROP INDEX uq_device_holding_one_holder", "schema", "index uq_device_holding_one_holder"),
        ("DROP TABLE imported_checkpoint", "schema", "table imported_checkpoint is missing"),
        ("DELETE FROM pod", "references", "pod_id 1 of container names a missing pod"),
        (
            "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'ix_pod_ended'::regclass",
            "integrity",
            "index ix_pod_ended is not valid",
        ),
    ],
)
def test_the_check_finds_what_is_wrong(
    postgres_url: str, plain: psycopg.Connection, spoil: str, subject: str, problem: str
) -> None:
    with closing(SqlStore(postgres_url)) as store:
        store.apply([admits_one("a", "g0")])
    before = maintenance.examine(postgres_url)
    plain.execute(spoil.encode())
    after = {each.subject: each.problems for each in maintenance.examine(postgres_url)}

    assert [each.problems for each in before] == [(), (), (), ()]
    assert any(each.startswith(problem) for each in after[subject])


def test_there_is_nothing_to_recover(postgres_url: str) -> None:
    with closing(SqlStore(postgres_url)) as store:
        store.apply([admits_one("a", "g0")])

    assert maintenance.recover(postgres_url) is None
    with maintenance.copy_in_memory(postgres_url) as copy, closing(SqlStore(postgres_url)) as store:
        assert copy.apply([admits_one("b", "g1")]) == [Committed(2)]
        assert copy.load(store.nodes()[0].node).revision == 2
        assert len(store.holders()) == 1
    assert own_name().startswith("pid ")


def test_conflicts_in_a_row_refuse_none_but_themselves(postgres_url: str) -> None:
    """The sixth time psycopg prepares a statement, also where an error keeps the server from it."""
    with closing(SqlStore(postgres_url)) as store:
        store.apply([admits_one("first", "g0")])
        conflicts = [admits_one(f"late{number}", "g0") for number in range(8)]
        outcomes = store.apply([admits_one("a", "g1"), *conflicts, admits_one("b", "g2")])

    assert [type(each) for each in outcomes] == [Committed, *[Refused] * 8, Committed]
