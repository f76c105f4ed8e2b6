"""A batch that is planned in groups leaves the rows that its transitions leave one by one."""

from __future__ import annotations

from contextlib import closing

from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select

from simulator.core.devices import Device, DeviceId
from simulator.core.instants import HOUR, Instant
from simulator.core.pods import PodUid
from simulator.core.transitions import (
    DeviceBinding,
    DevicesReported,
    NodeName,
    PodAdmitted,
    PodIdentity,
    Transition,
)
from simulator.ports import Committed, Refused
from store.sql_store import SqlStore
from store.tables import metadata
from tests.store.transitions import CONTAINERS, INSTANTS, NODES, NUMA, RESPONSES, TRANSITIONS
from tests.store.world import GPU, admits_one, released

UIDS = st.integers(0, 11).map(lambda number: PodUid(f"uid-{number}"))
IDS = [DeviceId(f"d{number}") for number in range(8)]
NODE_NAMES = [NodeName("n0"), NodeName("n1")]
ELSEWHERE = NodeName("n9")
BEFORE: list[Transition] = [
    admits_one("first", "g0", node=ELSEWHERE),
    *(DevicesReported(node, Instant(0), GPU, tuple(map(Device, IDS))) for node in NODE_NAMES),
]
REFUSED = admits_one("second", "g0", node=ELSEWHERE)
"""The database refuses it: then the rows of its whole batch are planned again, one by one."""


@st.composite
def arrivals(draw: st.DrawFn) -> PodAdmitted:
    """Draw an admission of the commonest kind; its pod may be known and its device be held."""
    pod = PodIdentity(draw(UIDS), "default", "trainer")
    devices = {draw(NUMA): (draw(st.sampled_from(IDS)),)}
    binding = DeviceBinding(pod.uid, draw(CONTAINERS), GPU, devices, draw(RESPONSES))
    return PodAdmitted(draw(NODES), draw(INSTANTS), pod, (binding,))


BATCHES = st.lists(
    st.lists(st.one_of(arrivals(), arrivals(), arrivals(), TRANSITIONS), min_size=1, max_size=12),
    max_size=3,
)


def _rows(store: SqlStore) -> dict[str, list[tuple[object, ...]]]:
    connection = store.writer.connection
    return {
        table.name: [
            tuple(row) for row in connection.execute(select(table).order_by(*table.primary_key))
        ]
        for table in metadata.sorted_tables
    }


def _check(batches: list[list[Transition]]) -> None:
    with closing(SqlStore("sqlite://")) as grouped, closing(SqlStore("sqlite://")) as one_by_one:
        for store in (grouped, one_by_one):
            store.apply(BEFORE)
        for batch in batches:
            outcomes = grouped.apply(batch)
            *others, refused = one_by_one.apply([*batch, REFUSED])

            assert outcomes == others
            assert isinstance(refused, Refused)
            assert _rows(grouped) == _rows(one_by_one)


@given(batches=BATCHES)
def test_rows_of_a_group_are_those_of_its_transitions_one_by_one(
    batches: list[list[Transition]],
) -> None:
    _check(batches)


def test_a_segment_of_the_history_begins_within_a_group() -> None:
    batch: list[Transition] = [
        admits_one(f"p{number}", f"d{number}", at=1 + number * HOUR // 2) for number in range(5)
    ]
    with closing(SqlStore("sqlite://")) as store:
        store.apply(BEFORE)
        outcomes = store.apply(batch)
        segments = _rows(store)["history_segment"]

    assert outcomes == [Committed(revision) for revision in (4, 5, 6, 7, 8)]
    # The first change begins one, and each that comes an hour after it begins the next.
    assert segments == [(1, 5, 1), (7, 3 * HOUR // 2 + 1, 7)]


def test_what_a_pod_does_after_its_arrival_is_written_after_it() -> None:
    arrived, another = admits_one("a", "d0", at=6), admits_one("b", "d1", at=7)
    gone, again = released("a", at=8), admits_one("a", "d2", at=9)
    _check([[arrived, gone, again, another], [gone, admits_one("c", "d3"), arrived]])
