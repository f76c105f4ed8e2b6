"""A damaged database is refused with a clear message; it is never taken for an empty one."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import pytest
from sqlalchemy import NullPool, create_engine, inspect, text

from simulator.errors import ConfigError, SchemaOutOfDateError, StoreUnavailableError
from store import maintenance, revisions
from store.sql_store import SqlStore
from store.sqlite.wal import EMPTY, inspect_log
from tests.store.world import NODE, admits_one

PAGE = 4_096
FRAME = PAGE + 24


def _url(folder: Path) -> str:
    return f"sqlite:///{folder}/rebind.db"


def _filled(folder: Path) -> Path:
    with closing(SqlStore(_url(folder))) as store:
        for number in range(50):
            store.apply([admits_one(f"p{number}", f"g{number}")])
    return folder / "rebind.db"


def _abandoned(folder: Path) -> Path:
    """Return a database as a power cut leaves it: ten commits are in the log only."""
    whole = folder / "whole"
    whole.mkdir()
    with closing(SqlStore(_url(whole))) as store:
        store.database.settle(store.writer)
        for number in range(10):
            store.apply([admits_one(f"p{number}", f"g{number}")])
        for name in ("rebind.db", "rebind.db-wal"):
            shutil.copy(whole / name, folder)
    return folder / "rebind.db"


def _spoil(path: Path, at: int, content: bytes = b"\xff" * 16) -> None:
    with path.open("r+b") as stream:
        stream.seek(at)
        stream.write(content)


def test_a_file_that_lost_its_bytes_is_not_an_empty_database(tmp_path: Path) -> None:
    _filled(tmp_path).write_bytes(b"")
    with pytest.raises(StoreUnavailableError, match="the file has no bytes, so what it held is go"):
        SqlStore(_url(tmp_path))


def test_a_truncated_file_is_refused(tmp_path: Path) -> None:
    path = _filled(tmp_path)
    path.write_bytes(path.read_bytes()[: 3 * PAGE])
    with pytest.raises(StoreUnavailableError, match="the database is damaged; restore it from a"):
        SqlStore(_url(tmp_path))


def test_a_spoiled_header_is_refused(tmp_path: Path) -> None:
    _spoil(_filled(tmp_path), 0)
    with pytest.raises(StoreUnavailableError, match="not a SQLite database, or its header is dam"):
        SqlStore(_url(tmp_path))


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "rebind.db").write_text("apiVersion: v1\n" * 100)
    with pytest.raises(StoreUnavailableError, match="not a SQLite database"):
        SqlStore(_url(tmp_path))


def test_spoiled_pages_are_found_when_they_are_read_and_by_the_check(tmp_path: Path) -> None:
    path = _filled(tmp_path)
    size = path.stat().st_size
    for page in range(2, size // PAGE):
        _spoil(path, page * PAGE, b"\x00" * PAGE)
    with pytest.raises(StoreUnavailableError, match="the database is damaged"):
        SqlStore(_url(tmp_path)).load(NODE)


@pytest.mark.parametrize(
    ("spoil", "asked", "said"),
    [
        (
            "UPDATE device SET numa_nodes = 'abc'",
            SqlStore.devices,
            "'abc' is no list of NUMA nodes",
        ),
        ("UPDATE pod SET standing = 9", SqlStore.pods, "9 is no standing of a pod"),
        ("UPDATE change SET kind = 77", SqlStore.history, "77 is no kind of change"),
    ],
)
def test_a_value_that_nobody_wrote_is_damage(
    database_url: str, spoil: str, asked: Callable[[SqlStore], object], said: str
) -> None:
    with closing(SqlStore(database_url)) as store:
        store.apply([admits_one("a", "g0")])
        store.writer.say(spoil)
        with pytest.raises(StoreUnavailableError, match=f"the database is damaged: {said}"):
            asked(store)


@pytest.mark.parametrize(
    ("spoil", "asked"),
    [
        ("UPDATE change SET at = 'abc'", SqlStore.history),
        ("UPDATE device_holding SET since_at = 'abc'", SqlStore.holders),
        ("UPDATE device_holding SET since_revision = 'abc'", SqlStore.holders),
        ("UPDATE device SET slot = 'abc'", SqlStore.devices),
        ("UPDATE node SET revision = 'abc'", SqlStore.nodes),
    ],
)
def test_text_among_numbers_is_damage(
    tmp_path: Path, spoil: str, asked: Callable[[SqlStore], object]
) -> None:
    """SQLite takes it; PostgreSQL refuses it itself."""
    _filled(tmp_path)
    with closing(SqlStore(_url(tmp_path))) as store:
        store.writer.say(spoil)
        with pytest.raises(StoreUnavailableError, match="damaged: 'abc' is no whole number; res"):
            asked(store)


@pytest.mark.parametrize(
    ("spoil", "problem"),
    [
        ("DROP INDEX uq_device_holding_one_holder", "index uq_device_holding_one_holder"),
        ("DROP TABLE imported_checkpoint", "table imported_checkpoint"),
        ("ALTER TABLE node RENAME COLUMN revision TO r", "column node.revision"),
    ],
)
def test_the_check_names_what_is_missing_of_the_schema(
    tmp_path: Path, spoil: str, problem: str
) -> None:
    """Without its unique index SQLite would take a second holder (acceptance 7)."""
    _filled(tmp_path)
    with closing(SqlStore(_url(tmp_path))) as store:
        store.writer.say(spoil)
    found = {each.subject: each.problems for each in maintenance.examine(_url(tmp_path))}

    assert found["schema"] == (f"{problem} is missing",)


def test_a_schema_without_a_revision_is_no_schema_of_ours(database_url: str) -> None:
    with closing(SqlStore(database_url)) as store:
        store.writer.say("UPDATE alembic_version SET version_num = ''")

    for use in (SqlStore, revisions.upgrade, maintenance.revision_of):
        with pytest.raises(SchemaOutOfDateError, match="but no Rebind schema"):
            use(database_url)


def test_another_programs_tables_are_left_alone(database_url: str) -> None:
    with create_engine(database_url, poolclass=NullPool).begin() as connection:
        connection.execute(text("CREATE TABLE recipes (id INTEGER)"))

    for use in (SqlStore, revisions.upgrade):
        with pytest.raises(SchemaOutOfDateError, match=r"has tables \(recipes\)"):
            use(database_url)
    with create_engine(database_url, poolclass=NullPool).begin() as connection:
        assert inspect(connection).get_table_names() == ["recipes"]


def test_another_programs_database_is_not_given_our_tables(tmp_path: Path) -> None:
    path = tmp_path / "rebind.db"
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute("CREATE TABLE recipes (id INTEGER)")
    before = path.read_bytes()

    for use in (SqlStore, revisions.upgrade):
        with pytest.raises(SchemaOutOfDateError, match=r"has tables \(recipes\)"):
            use(_url(tmp_path))
    with closing(sqlite3.connect(path)) as raw:
        assert raw.execute("SELECT name FROM sqlite_master").fetchall() == [("recipes",)]
    assert len(path.read_bytes()) == len(before)


def test_the_check_names_dangling_rows(tmp_path: Path) -> None:
    _filled(tmp_path)
    with closing(SqlStore(_url(tmp_path))) as store:
        store.writer.say("DELETE FROM pod WHERE id = 7")
    found = {each.subject: each.problems for each in maintenance.examine(_url(tmp_path))}

    assert found["references"][0].endswith("names a missing pod")
    assert found["schema"] == found["integrity"] == found["log"] == ()


def test_a_missing_database_is_made_by_a_writer_and_refused_to_a_reader(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailableError, match=r"rebind\.db does not exist"):
        SqlStore(_url(tmp_path), read_only=True)

    assert list(tmp_path.iterdir()) == []
    SqlStore(_url(tmp_path)).close()
    SqlStore(_url(tmp_path), read_only=True).close()


def test_a_folder_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "rebind.db").mkdir()
    for read_only in (True, False):
        with pytest.raises(StoreUnavailableError, match="Is a directory; name a database with"):
            SqlStore(_url(tmp_path), read_only=read_only)

    assert [each.name for each in tmp_path.iterdir()] == ["rebind.db"]


def test_a_folder_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailableError, match="No such file or directory"):
        SqlStore(f"sqlite:///{tmp_path}/nowhere/rebind.db")


def test_a_path_may_hold_odd_characters(tmp_path: Path) -> None:
    """In a URL they are percent-encoded."""
    folder = tmp_path / "a b#c%41?d"
    folder.mkdir()
    url = f"sqlite:///{quote(str(folder))}/rebind.db"
    with closing(SqlStore(url)) as store:
        store.apply([admits_one("a", "g0")])
    with closing(SqlStore(url, read_only=True)) as store:
        assert store.load(NODE).revision == 1
    assert (folder / "rebind.db").exists()


def test_a_lock_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "rebind.db-writer").symlink_to("/dev/full")

    with pytest.raises(StoreUnavailableError, match=r"cannot write rebind\.db-writer"):
        SqlStore(_url(tmp_path))


@pytest.mark.parametrize(
    "url",
    [
        "rebind.db",
        "postgresql+asyncpg://db.example.com/x",
        "mysql://db.example.com/x",
        "sqlite:///x?a=b",
        "sqlite:///x?y",
        "sqlite+aiosqlite:///x.db",
        "sqlite:///x\0y",
    ],
)
def test_a_url_of_anything_else_is_refused(url: str) -> None:
    with pytest.raises(ConfigError, match=r"write e\.g\. sqlite:///rebind\.db"):
        SqlStore(url)


def test_a_schema_that_was_taken_away_is_made_anew_only_when_nothing_is_there(
    database_url: str,
) -> None:
    with closing(SqlStore(database_url)) as store:
        store.apply([admits_one("a", "g0")])
    revisions.downgrade(database_url, "0001")
    with pytest.raises(SchemaOutOfDateError, match="rebind db upgrade"):
        SqlStore(database_url)

    assert revisions.upgrade(database_url) == "0004"
    assert revisions.downgrade(database_url, "base") == ""
    with closing(SqlStore(database_url)) as store:
        assert store.nodes() == []


def test_r95_a_whole_log_is_replayed(tmp_path: Path) -> None:
    path = _abandoned(tmp_path)

    assert inspect_log(path).readable == 10
    assert inspect_log(path).damaged_frame == 0
    with closing(SqlStore(_url(tmp_path))) as store:
        assert store.load(NODE).revision == 10


def test_r95_a_torn_last_commit_is_dropped_without_a_word(tmp_path: Path) -> None:
    """The commit under way at a power cut was not acknowledged."""
    path = _abandoned(tmp_path)
    log = path.with_name("rebind.db-wal")
    _spoil(log, log.stat().st_size - FRAME + 100)
    report = inspect_log(path)

    assert (report.readable, report.unreadable, report.acknowledged_lost) == (9, 1, 0)
    with closing(SqlStore(_url(tmp_path))) as store:
        assert store.load(NODE).revision == 9


def test_r95_a_log_cut_off_in_a_frame_is_replayed_up_to_there(tmp_path: Path) -> None:
    path = _abandoned(tmp_path)
    log = path.with_name("rebind.db-wal")
    log.write_bytes(log.read_bytes()[:-100])
    with closing(SqlStore(_url(tmp_path))) as store:
        assert store.load(NODE).revision == 9


@pytest.mark.parametrize("where", [8, 100], ids=["salt", "page"])
def test_r95_lost_acknowledged_commits_are_refused_and_the_log_stays(
    tmp_path: Path, where: int
) -> None:
    path = _abandoned(tmp_path)
    log = path.with_name("rebind.db-wal")
    middle = log.stat().st_size // FRAME // 2
    _spoil(log, 32 + middle * FRAME + where)
    before = log.read_bytes()
    report = inspect_log(path)
    with pytest.raises(StoreUnavailableError) as refused:
        SqlStore(_url(tmp_path))

    assert report.readable + report.unreadable == 10
    assert report.damaged_frame == middle + 1
    assert report.acknowledged_lost == report.unreadable - 1 > 0
    assert str(refused.value) == (
        f"database {path}: the log is damaged at frame {middle + 1}; the {report.readable} commits "
        f"before it are whole, at least {report.acknowledged_lost} acknowledged ones after it are "
        f"lost; restore a copy, or go on without them: rebind db recover --db sqlite:///{path}"
    )
    assert log.read_bytes() == before
    assert maintenance.recover(_url(tmp_path)) == report.readable
    with closing(SqlStore(_url(tmp_path))) as store:
        assert store.load(NODE).revision == report.readable


def test_a_log_with_a_spoiled_header_belongs_to_no_one(tmp_path: Path) -> None:
    path = _abandoned(tmp_path)
    log = path.with_name("rebind.db-wal")
    _spoil(log, 0)

    assert inspect_log(path) == EMPTY
    log.write_bytes(b"short")

    assert inspect_log(path) == EMPTY
    log.unlink()

    assert inspect_log(path) == EMPTY


def test_a_lost_log_never_makes_a_database_look_empty(tmp_path: Path) -> None:
    """The schema is moved out of the log as soon as it is made."""
    path = _abandoned(tmp_path)
    path.with_name("rebind.db-wal").unlink()
    with closing(SqlStore(_url(tmp_path))) as store:
        assert store.load(NODE).revision == 0
    found = maintenance.examine(_url(tmp_path))

    assert [each.problems for each in found] == [(), (), (), ()]
