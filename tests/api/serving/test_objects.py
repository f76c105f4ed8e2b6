"""Memory equals the store, before and after a restart, and shows nothing that is not committed."""

from __future__ import annotations

import asyncio
import json

import pytest

from simulator.api.dialect.documents import Object
from simulator.api.dialect.kinds import PODS
from simulator.api.serving.objects import Objects, Proposal
from simulator.api.serving.shelves import Asked
from simulator.api.serving.stored import Stored, encoded, restamped
from simulator.api.serving.watches import Scope
from simulator.core.instants import Instant
from simulator.errors import StoreUnavailableError
from simulator.object_ports import CreateObject, DeleteObject, ObjectKey, UpdateObject
from store.memory.objects import MemoryObjectStore
from tests.api.serving.stores import CommitsAtOnce, HeldCommits

NOW = Instant(0)


def key(name: str) -> ObjectKey:
    return ObjectKey("pods", "default", name)


def pod(name: str, note: str = "") -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "uid": f"u-{name}"},
        "spec": {"nodeName": "n0"},
        "note": note,
    }


def creation(name: str, note: str = "") -> Proposal:
    document = pod(name, note)
    return CreateObject(NOW, key(name), f"u-{name}", encoded(document)), document


def update(name: str, note: str) -> Proposal:
    document = pod(name, note)
    return UpdateObject(NOW, key(name), encoded(document)), document


def everything(_: Stored) -> bool:
    return True


def watched(objects: Objects, revision: int) -> list[tuple[str, str, int]]:
    """Return type, name and revision of all that is told after a revision."""
    shelf = objects.shelf(PODS)
    watch = objects.hub.watch(shelf, Scope("", "", "", everything), revision=revision)
    assert watch is not None
    told = watch.take()
    assert told is not None
    return [(each.type, each.state.name, each.event.revision) for each in told]


def test_nothing_is_shown_before_its_commit_but_the_turn_is_taken() -> None:
    async def run() -> None:
        commits = HeldCommits(MemoryObjectStore())
        objects = Objects(commits)
        assert objects.turns.take_now(key("a"))
        writing = asyncio.create_task(objects.commit([creation("a")]))
        await asyncio.sleep(0)
        assert objects.get(key("a")) is None
        assert objects.turns.is_taken(key("a"))
        assert watched(objects, 0) == []

        commits.commit()

        [stored] = await writing
        assert isinstance(stored, Stored)
        assert objects.get(key("a")) is stored
        assert stored.revision == objects.revision == 1
        assert json.loads(stored.body) == objects.document_of(stored)
        assert json.loads(stored.body)["metadata"]["resourceVersion"] == "1"
        assert not objects.turns.is_taken(key("a"))
        assert watched(objects, 0) == [("ADDED", "a", 1)]

    asyncio.run(run())


def test_a_commit_that_fails_changes_nothing_and_gives_the_turn() -> None:
    async def run() -> None:
        commits = HeldCommits(MemoryObjectStore())
        objects = Objects(commits)
        objects.turns.take_now(key("a"))
        writing = asyncio.create_task(objects.commit([creation("a")]))
        await asyncio.sleep(0)
        commits.fail(StoreUnavailableError("the disk is full"))
        with pytest.raises(StoreUnavailableError, match="the disk is full"):
            await writing

        assert objects.get(key("a")) is None
        assert not objects.turns.is_taken(key("a"))

    asyncio.run(run())


def test_who_is_gone_before_the_commit_has_written_all_the_same() -> None:
    async def run() -> None:
        commits = HeldCommits(MemoryObjectStore())
        objects = Objects(commits)
        objects.turns.take_now(key("a"))
        writing = asyncio.create_task(objects.commit([creation("a")]))
        await asyncio.sleep(0)
        writing.cancel()
        await asyncio.gather(writing, return_exceptions=True)
        assert objects.turns.is_taken(key("a"))
        commits.commit()

        assert objects.get(key("a")) is not None
        assert not objects.turns.is_taken(key("a"))

    asyncio.run(run())


def test_turns_are_had_in_the_order_in_which_they_were_asked_for() -> None:
    async def run() -> list[str]:
        turns = Objects(HeldCommits(MemoryObjectStore())).turns
        had: list[str] = []

        async def take(name: str) -> None:
            await turns.take(key("a"))
            had.append(name)

        tasks = [asyncio.create_task(take(name)) for name in ("first", "gone", "third", "fourth")]
        await asyncio.sleep(0)
        tasks[1].cancel()
        await asyncio.sleep(0)
        for _ in range(3):
            turns.give(key("a"))
            await asyncio.sleep(0)
        assert not turns.is_taken(key("a"))
        return had

    assert asyncio.run(run()) == ["first", "third", "fourth"]


def test_a_turn_that_comes_to_somebody_who_is_just_leaving_goes_to_the_next() -> None:
    async def run() -> None:
        turns = Objects(HeldCommits(MemoryObjectStore())).turns
        turns.take_now(key("a"))
        leaving, next_ = (asyncio.create_task(turns.take(key("a"))) for _ in range(2))
        await asyncio.sleep(0)
        turns.give(key("a"))
        leaving.cancel()
        await asyncio.wait_for(next_, 5)
        turns.give(key("a"))

        assert not turns.is_taken(key("a"))

    asyncio.run(run())


def test_after_a_restart_objects_revisions_and_events_are_the_same() -> None:
    async def run() -> None:
        store = MemoryObjectStore()
        objects = Objects(CommitsAtOnce(store))
        proposals = [
            creation("a"),
            creation("b"),
            update("a", "later"),
            (DeleteObject(NOW, key("b")), None),
            creation("b", "again"),
        ]
        for proposal in proposals:
            objects.turns.take_now(proposal[0].key)
            await objects.commit([proposal])
        again = Objects(CommitsAtOnce(store))
        again.load(store)

        assert again.revision == objects.revision == 5
        assert [each.body for each in again.shelf(PODS).all_in()] == [
            each.body for each in objects.shelf(PODS).all_in()
        ]
        for revision in range(6):
            assert watched(again, revision) == watched(objects, revision)
        page = again.shelf(PODS).part(everything, Asked(revision=2))
        assert page is not None
        assert [(each.name, each.revision) for each in page.items] == [("a", 1), ("b", 2)]

    asyncio.run(run())


def test_a_server_that_starts_with_a_long_history_knows_the_end_of_it() -> None:
    async def run() -> None:
        store = MemoryObjectStore(revisions_max=10)
        objects = Objects(CommitsAtOnce(store))
        for number in range(25):
            objects.turns.take_now(key(f"p{number}"))
            await objects.commit([creation(f"p{number}")])
        again, small = Objects(CommitsAtOnce(store)), Objects(CommitsAtOnce(store), events_max=4)
        again.load(store)
        small.load(store)

        assert len(again.shelf(PODS)) == len(small.shelf(PODS)) == 25
        assert again.shelf(PODS).window.floor == 15
        assert small.shelf(PODS).window.floor == 21
        assert watched(again, 22) == watched(small, 22) == watched(objects, 22)

    asyncio.run(run())


@pytest.mark.parametrize("text", ["é", "\ud800", 'quo"te', '"resourceVersion":"7"', ""])
def test_what_is_encoded_around_a_revision_is_the_document_with_it(text: str) -> None:
    document = pod("a", text)
    before: Object = {"labels": {"l": text}, "resourceVersion": "1"}
    body = encoded({**document, "metadata": before})
    after: Object = {"labels": {"l": text}, "resourceVersion": "12"}
    wanted: Object = {**document, "metadata": after}

    assert json.loads(body.at(12)) == wanted
    assert restamped(body.at(12), 345) == body.at(345)


def test_an_object_without_anything_else_is_encoded_too() -> None:
    bare: Object = {"apiVersion": "v1", "kind": "Pod", "metadata": {}}

    assert json.loads(encoded(bare).at(3)) == {**bare, "metadata": {"resourceVersion": "3"}}
