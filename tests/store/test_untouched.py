"""Looking at a database without touching it."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from simulator.errors import StoreUnavailableError
from store.sqlite import untouched
from store.sqlite.untouched import WriterSeen, untouched_copy, writer_of
from store.writer_lock import WriterLock, own_name


def a_database(folder: Path) -> Path:
    path = folder / "node.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t (a)")
        connection.commit()
    return path


def test_a_writer_is_seen_while_it_lives_and_its_name_after_that(tmp_path: Path) -> None:
    path = a_database(tmp_path)
    assert writer_of(path) == WriterSeen("", is_writing=False)
    with WriterLock(path):
        assert writer_of(path) == WriterSeen(own_name(), is_writing=True)

    assert writer_of(path) == WriterSeen(own_name(), is_writing=False)


def test_where_the_system_shows_no_locks_nobody_can_tell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = a_database(tmp_path)
    with WriterLock(path):
        pass
    monkeypatch.setattr(untouched, "_LOCKS", tmp_path / "absent")

    assert writer_of(path) == WriterSeen(own_name(), is_writing=None)


def test_a_copy_has_what_only_the_log_has_and_leaves_no_file(tmp_path: Path) -> None:
    path = a_database(tmp_path)
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("INSERT INTO t VALUES (7)")
        writer.commit()
        before = sorted((each.name, each.stat().st_mtime_ns) for each in tmp_path.iterdir())
        with untouched_copy(path) as copy, closing(sqlite3.connect(copy)) as reader:
            assert reader.execute("SELECT a FROM t").fetchall() == [(7,)]

        assert sorted((e.name, e.stat().st_mtime_ns) for e in tmp_path.iterdir()) == before
    assert not copy.exists()


def test_a_database_that_changes_all_the_time_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = a_database(tmp_path)
    copyfile = shutil.copyfile

    def changed(source: Path, target: Path) -> None:
        copyfile(source, target)
        with source.open("ab") as stream:
            stream.write(b"x")

    monkeypatch.setattr(shutil, "copyfile", changed)

    with pytest.raises(StoreUnavailableError, match="it changes all the time"):
        untouched_copy(path).__enter__()


def test_a_folder_in_its_place_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailableError, match="Is a directory; name a database"):
        untouched_copy(tmp_path).__enter__()
