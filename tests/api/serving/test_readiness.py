"""A server that could not write finds out by itself when it can again."""

from __future__ import annotations

import asyncio

import pytest

from simulator.api.dialect.kinds import PODS
from simulator.api.serving.objects import Objects
from simulator.api.serving.readiness import Readiness
from simulator.api.serving.shelves import Asked
from simulator.core.instants import Instant
from simulator.errors import StoreUnavailableError
from simulator.object_ports import ObjectKey, ObjectPage
from store.memory.objects import MemoryObjectStore
from tests.api.serving.stores import HeldCommits

FULL = StoreUnavailableError("the disk is full")


def now() -> Instant:
    return Instant(0)


async def after_a_failure(commits: HeldCommits) -> Objects:
    objects = Objects(commits)
    writing = asyncio.create_task(objects.commit([]))
    await asyncio.sleep(0)
    commits.fail(FULL)
    with pytest.raises(StoreUnavailableError):
        await writing
    return objects


def test_who_can_write_is_ready_and_tries_nothing() -> None:
    async def run() -> None:
        commits = HeldCommits(MemoryObjectStore())

        assert Readiness(Objects(commits), now).is_ready()
        assert commits.waiting == []

    asyncio.run(run())


def test_a_trial_that_works_makes_ready_and_leaves_no_object() -> None:
    async def run() -> None:
        commits = HeldCommits(MemoryObjectStore())
        objects = await after_a_failure(commits)
        readiness = Readiness(objects, now, pause_seconds=0)
        assert not readiness.is_ready()
        assert not readiness.is_ready()
        [(writes, _)] = commits.waiting  # Whoever asks meanwhile begins no second trial.
        commits.commit()

        assert readiness.is_ready()
        assert commits.waiting == []
        assert len({write.key for write in writes}) == 1
        page = commits.store.page(writes[0].key.collection)
        assert isinstance(page, ObjectPage)
        assert page.items == ()
        part = objects.shelf(PODS).part(lambda _: True, Asked())
        assert part is not None
        assert (objects.revision, part.items) == (0, [])

    asyncio.run(run())


def test_after_a_trial_that_fails_another_one_follows() -> None:
    async def run() -> None:
        commits = HeldCommits(MemoryObjectStore())
        readiness = Readiness(await after_a_failure(commits), now, pause_seconds=0)
        for _ in range(3):
            assert not readiness.is_ready()
            assert len(commits.waiting) == 1
            commits.fail(FULL)
        assert not readiness.is_ready()
        commits.commit()

        assert readiness.is_ready()

    asyncio.run(run())


def test_trials_are_no_more_frequent_than_agreed() -> None:
    async def run() -> None:
        commits = HeldCommits(MemoryObjectStore())
        readiness = Readiness(await after_a_failure(commits), now, pause_seconds=3_600)
        assert not readiness.is_ready()
        commits.fail(FULL)

        assert not readiness.is_ready()
        assert commits.waiting == []

    asyncio.run(run())


def test_objects_of_trials_are_not_served() -> None:
    async def run() -> None:
        commits = HeldCommits(MemoryObjectStore())
        readiness = Readiness(await after_a_failure(commits), now)
        readiness.is_ready()
        key: ObjectKey = commits.waiting[0][0][0].key
        commits.commit()
        again = Objects(commits)
        again.load(commits.store)

        assert again.revision == 2
        assert key.collection not in {"pods", "nodes", "namespaces", "events"}

    asyncio.run(run())
