"""What the writer remembers of nodes and pods between batches is what the database has."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Final

import pytest

from simulator.core.transitions import NodeName
from simulator.ports import Committed, Holding, Refused
from store.sql_store import SqlStore
from tests.store.world import (
    NODE,
    RESPONSE,
    admits_one,
    admitted,
    binding,
    device,
    released,
    reported,
)

A: Final = NodeName("a")
B: Final = NodeName("b")
LISTED: Final = [device("g0"), device("g1")]


@pytest.fixture
def store() -> Iterator[SqlStore]:
    with closing(SqlStore("sqlite://")) as opened:
        yield opened


def held(holdings: list[Holding]) -> list[tuple[str, str, str]]:
    """Return who holds what, sorted."""
    return sorted((each.node, each.device, each.pod.name) for each in holdings)


def test_nodes_that_are_alike_part_when_one_of_them_gets_a_device(store: SqlStore) -> None:
    store.apply([reported(*LISTED, node=A), reported(*LISTED, node=B)])
    outcomes = store.apply(
        [
            reported(*LISTED, device("g2"), node=B),
            admits_one("x", "g1", node=A),
            admits_one("y", "g2", node=B),
            admits_one("z", "g1", node=B),
            reported(*LISTED, device("g3"), node=A),
            admits_one("v", "g3", node=A),
            admits_one("w", "g1", node=A),
        ]
    )

    assert outcomes[-1] == Refused("device g1 of example.com/gpu is held by pod uid-x")
    assert held(store.holders()) == [
        ("a", "g1", "x"),
        ("a", "g3", "v"),
        ("b", "g1", "z"),
        ("b", "g2", "y"),
    ]
    assert [(each.node, each.device) for each in store.devices()] == [
        ("a", "g0"),
        ("a", "g1"),
        ("a", "g3"),
        ("b", "g0"),
        ("b", "g1"),
        ("b", "g2"),
    ]


def test_of_a_refused_pod_nothing_is_remembered_and_of_its_neighbors_everything(
    store: SqlStore,
) -> None:
    store.apply([admits_one("old", "g9")])
    outcomes = store.apply(
        [admits_one("a", "g0"), admits_one("b", "g0"), admits_one("c", "g1"), released("old")]
    )
    again = store.apply([released("a"), admits_one("b", "g0"), admits_one("c", "g2")])
    old = store.apply([admits_one("old", "g1")])

    assert [type(each) for each in outcomes] == [Committed, Refused, Committed, Committed]
    assert again == [Committed(5), Committed(6), Committed(7)]
    assert old == [Committed(8)]
    assert held(store.holders()) == [("n0", "g0", "b"), ("n0", "g1", "old"), ("n0", "g2", "c")]
    assert [each.pod.name for each in store.pods()] == ["old", "a", "c", "b"]


def test_rows_of_new_pods_and_of_others_are_written_side_by_side(store: SqlStore) -> None:
    """A pod with two devices is planned by itself, among those that have one."""
    store.apply([reported(*LISTED, node=A), reported(*LISTED, device("g2"), node=B)])
    store.apply(
        [
            admits_one("x", "g0", node=A),
            admitted("y", binding("y", {0: ("g0",), 1: ("g2",)}), node=B),
            admits_one("z", "g1", node=A),
        ]
    )

    assert held(store.holders()) == [
        ("a", "g0", "x"),
        ("a", "g1", "z"),
        ("b", "g0", "y"),
        ("b", "g2", "y"),
    ]
    assert [each.pod.name for each in store.pods()] == ["x", "z", "y"]
    assert [change.detail for change in store.history()][2:] == [
        "main example.com/gpu=g0",
        "main example.com/gpu=g0,g2",
        "main example.com/gpu=g1",
    ]


def test_a_binding_without_devices_or_response_is_kept_among_new_pods(store: SqlStore) -> None:
    store.apply([reported(*LISTED)])
    outcomes = store.apply(
        [
            admits_one("x", "g0"),
            admitted("empty", binding("empty", {0: ()})),
            admitted("silent", binding("silent", {0: ("g1",)}, response=None)),
        ]
    )

    assert [type(each) for each in outcomes] == [Committed] * 3
    found = [(each.pod, each.devices, each.response) for each in store.load(NODE).bindings]
    assert found == [
        ("uid-x", {0: ("g0",)}, RESPONSE),
        ("uid-empty", {0: ()}, RESPONSE),
        ("uid-silent", {0: ("g1",)}, None),
    ]
