"""Lists with selectors: what they choose, and that they keep nobody waiting meanwhile."""

from __future__ import annotations

import asyncio
import json

import pytest

from simulator.api.dialect import tables
from simulator.api.dialect.documents import Object
from simulator.api.dialect.kinds import PODS
from simulator.api.dialect.negotiation import Form, Shape
from simulator.api.dialect.queries import ListQuery, read_continue
from simulator.api.dialect.routes import Route
from simulator.api.dialect.selectors import read_selection
from simulator.api.dialect.tables import Page
from simulator.api.serving.objects import Objects
from simulator.api.serving.reads import LOOKED_AT_BYTES, listed
from simulator.api.serving.showing import Showing
from simulator.api.serving.stored import Stored, encoded
from simulator.core.instants import Instant
from simulator.object_ports import CreateObject, DeleteObject, ObjectKey
from store.memory.objects import MemoryObjectStore
from tests.api.serving.stores import CommitsAtOnce

NOW = Instant(0)
NODES = ("n0", "n1", "")
PHASES = ("Pending", "Running")
LARGE = 4_096


def key(place: tuple[str, str]) -> ObjectKey:
    return ObjectKey("pods", *place)


def pod(place: tuple[str, str], number: int, size: int = 0) -> Object:
    namespace, name = place
    labels: Object = {"tier": "gpu" if number % 2 else "cpu"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "uid": name, "labels": labels},
        "spec": {"nodeName": NODES[number % 3], "schedulerName": "x" * size},
        "status": {"phase": PHASES[number // 3 % 2]},
    }


async def make(objects: Objects, place: tuple[str, str], number: int, size: int = 0) -> None:
    document = pod(place, number, size)
    objects.turns.take_now(key(place))
    await objects.commit([(CreateObject(NOW, key(place), "u", encoded(document)), document)])


async def with_pods(count: int, size: int = 0) -> Objects:
    """Return objects `a/p000`, `b/p001`, `a/p002`, …, in no order."""
    objects = Objects(CommitsAtOnce(MemoryObjectStore()))
    for number in sorted(range(count), key=lambda one: one * 7 % count):
        await make(objects, ("ab"[number % 2], f"p{number:03}"), number, size)
    return objects


def places(items: list[Stored] | tuple[Stored, ...]) -> list[tuple[str, str]]:
    return [each.place for each in items]


async def all_listed(
    objects: Objects, route: Route, labels: str, fields: str, limit: int = 0
) -> list[tuple[str, str]]:
    """Read a list to its end, page by page."""
    selection = read_selection(PODS, labels, fields)
    found: list[tuple[str, str]] = []
    query = ListQuery(limit=limit)
    while True:
        items, page = await listed(objects, route, query, selection)
        assert not limit or len(items) <= limit
        found += places([*items])
        if not page.token:
            return found
        query = ListQuery(limit=limit, start=read_continue(page.token))


@pytest.mark.parametrize("limit", [0, 1, 4, 100])
@pytest.mark.parametrize("namespace", ["", "a"])
@pytest.mark.parametrize(
    ("labels", "fields"),
    [
        ("", ""),
        ("tier=gpu", ""),
        ("tier", "spec.nodeName=n1"),
        ("", "spec.nodeName=n0"),
        ("", "spec.nodeName="),
        ("", "spec.nodeName!=n0"),
        ("", "metadata.name=p004"),
        ("", "metadata.name=p004,metadata.name=p004"),
        ("", "metadata.name=p003,metadata.name=p004"),
        ("", "metadata.name=p004,spec.nodeName=n1,metadata.namespace=a"),
        ("", "metadata.name=p004,status.phase=Running"),
        ("", "status.phase=Running"),
        ("old", ""),
    ],
)
def test_a_list_has_those_that_its_selectors_name(
    labels: str, fields: str, namespace: str, limit: int
) -> None:
    async def run() -> None:
        objects = await with_pods(14)
        selection = read_selection(PODS, labels, fields)
        wanted = sorted(
            ("ab"[number % 2], f"p{number:03}")
            for number in range(14)
            if namespace in {"", "ab"[number % 2]}
            and selection.matches(pod(("ab"[number % 2], f"p{number:03}"), number))
        )

        assert await all_listed(objects, Route(PODS, namespace), labels, fields, limit) == wanted

    asyncio.run(run())


def test_a_list_with_a_selector_gives_way_and_is_of_the_moment_in_which_it_was_asked_for() -> None:
    count = 200

    async def run() -> None:
        objects = await with_pods(count, size=LARGE)
        revision = objects.revision
        selection = read_selection(PODS, "tier=gpu", "")
        listing = asyncio.create_task(listed(objects, Route(PODS), ListQuery(), selection))
        await asyncio.sleep(0)
        turns = 1
        last = ("b", f"p{count - 1}")
        objects.turns.take_now(key(last))
        await objects.commit([(DeleteObject(NOW, key(last)), None)])
        await make(objects, ("b", "p999"), 999)
        while not listing.done():
            await asyncio.sleep(0)
            turns += 1
        items, page = await listing

        assert turns >= count * LARGE // LOOKED_AT_BYTES == 3
        assert places([*items]) == [("b", f"p{number:03}") for number in range(1, count, 2)]
        assert page == Page(revision)
        assert objects.revision == revision + 2
        now, _ = await listed(objects, Route(PODS), ListQuery(), selection)
        assert places([*now])[-2:] == [("b", "p197"), ("b", "p999")]

    asyncio.run(run())


@pytest.mark.parametrize("count", [0, 1, 250])
@pytest.mark.parametrize("shape", list(Shape))
def test_a_list_in_pieces_is_the_list_in_one(shape: Shape, count: int) -> None:
    async def run() -> None:
        objects = await with_pods(count)
        items, page = await listed(objects, Route(PODS), ListQuery(), read_selection(PODS, "", ""))
        documents = [objects.document_of(each) for each in items]
        form = Form(shape)
        whole = {
            Shape.OBJECT: lambda: tables.listing(PODS, documents, page),
            Shape.TABLE: lambda: tables.table(PODS, documents, NOW, page, form=form),
            Shape.PARTIAL: lambda: tables.partial_list(documents, page, form),
        }[shape]()

        pieces = [*Showing(objects, form, "Metadata", NOW).all(PODS, items, page)]

        made = json.loads(b"".join(pieces))
        assert made == whole
        assert [*made] == [*whole]
        assert len(pieces) >= 2 + count // 1_000

    asyncio.run(run())
