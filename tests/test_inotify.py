"""Directories are watched by inotify, or looked at where that cannot be had."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from pathlib import Path

import pytest

from simulator.inotify import DirectoryChanges

Scenario = Callable[["Seen"], Coroutine[None, None, None]]


class Seen:
    """Notices of one directory."""

    def __init__(self, changes: DirectoryChanges, directory: Path) -> None:
        self.changes = changes
        self.directory = directory
        self.count = 0
        self.noticed = asyncio.Event()
        self.watch = changes.watch(directory, self._changed)

    def _changed(self) -> None:
        self.count += 1
        self.noticed.set()

    async def next(self) -> None:
        """Wait for a notice that comes from now on."""
        self.noticed.clear()
        async with asyncio.timeout(60):
            await self.noticed.wait()


def run(directory: Path, scenario: Scenario, *, native: bool) -> None:
    async def whole() -> None:
        changes = DirectoryChanges(native=native, look_again_s=0.01)
        assert changes.is_native is native
        try:
            await scenario(Seen(changes, directory))
        finally:
            changes.close()

    asyncio.run(whole())


@pytest.mark.parametrize("native", [True, False])
def test_a_file_that_comes_goes_or_is_replaced_is_noticed(tmp_path: Path, *, native: bool) -> None:
    async def scenario(seen: Seen) -> None:
        for change in (
            (tmp_path / "a").touch,
            partial((tmp_path / "a").rename, tmp_path / "b"),
            (tmp_path / "b").unlink,
            (tmp_path / "sub").mkdir,
        ):
            asyncio.get_running_loop().call_soon(change)
            await seen.next()

    run(tmp_path, scenario, native=native)


@pytest.mark.parametrize("native", [True, False])
def test_a_directory_may_come_later_and_go_and_come_again(tmp_path: Path, *, native: bool) -> None:
    directory = tmp_path / "later"

    async def scenario(seen: Seen) -> None:
        await seen.next()
        for _ in range(2):
            directory.mkdir()
            await seen.next()
            (directory / "a").touch()
            await seen.next()
            (directory / "a").unlink()
            directory.rmdir()
            await seen.next()

    run(directory, scenario, native=native)


def test_a_directory_that_is_moved_away_is_watched_where_it_was(tmp_path: Path) -> None:
    directory = tmp_path / "here"
    directory.mkdir()

    async def scenario(seen: Seen) -> None:
        directory.rename(tmp_path / "there")
        await seen.next()
        directory.mkdir()
        await seen.next()
        (directory / "a").touch()
        await seen.next()

    run(directory, scenario, native=True)


def test_two_listeners_of_one_directory_are_both_told_until_each_ends(tmp_path: Path) -> None:
    async def scenario(first: Seen) -> None:
        second = Seen(first.changes, tmp_path)
        (tmp_path / "a").touch()
        await asyncio.gather(first.next(), second.next())

        first.changes.unwatch(first.watch)
        first.changes.unwatch(first.watch)
        before = first.count
        (tmp_path / "b").touch()
        await second.next()
        assert first.count == before

        first.changes.unwatch(second.watch)

    run(tmp_path, scenario, native=True)


def test_what_is_in_the_directory_already_is_no_change(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    other = tmp_path / "other"
    other.mkdir()

    async def scenario(seen: Seen) -> None:
        beside = Seen(seen.changes, other)
        (other / "b").touch()
        await beside.next()
        assert seen.count == 0

    run(tmp_path, scenario, native=True)
