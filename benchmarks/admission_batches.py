"""Batches of admissions on many nodes, for stores whose write paths are measured."""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Final, TypeVar

from benchmarks.nodes import fill_store, pod_admitted
from benchmarks.timing import Contestant
from simulator.core.transitions import NodeName, PodAdmitted
from store.sql_store import SqlStore

T = TypeVar("T")

NODES: Final = 512
DEVICES: Final = 64
BATCHES: Final = {1: 40, 8: 12, 64: 4, 512: 2}
"""Admissions in one commit, and how many such commits make a turn."""

ROUNDS: Final = 15
WARM_UP: Final = NODES * 4


def node_name(index: int) -> NodeName:
    """Return the name of a node."""
    return NodeName(f"n{index}")


def arrivals() -> Iterator[PodAdmitted]:
    """Iterate over admissions, one node after the other, each with the node's next free device."""
    for device in range(DEVICES):
        for index in range(NODES):
            number = device * NODES + index
            yield pod_admitted(node_name(index), number, device=device)


def make_database(url: str) -> Iterator[PodAdmitted]:
    """Make a database of many nodes with some pods each; return the admissions still to come."""
    coming = arrivals()
    with opened(url) as store:
        store.apply(list(islice(coming, WARM_UP)))
    return coming


@contextmanager
def opened(url: str) -> Iterator[SqlStore]:
    """Open a store and let it meet every node, so that no turn pays for that."""
    store = SqlStore(url)
    fill_store(store, [node_name(index) for index in range(NODES)], bound=0, devices=DEVICES)
    try:
        yield store
    finally:
        store.close()


def turns(coming: Iterator[PodAdmitted]) -> dict[int, deque[list[PodAdmitted]]]:
    """Return the batches of all turns, by size."""
    return {
        size: deque(list(islice(coming, size)) for _ in range(commits * ROUNDS))
        for size, commits in BATCHES.items()
    }


def in_turn(run: Callable[[T], object], waiting: deque[T], size: int) -> Contestant:
    """Return what runs the next of the waiting batches at each call.

    Each batch is made anew, outside its time, just before it is run, as a live node makes its own:
    else the time would be that of fetching into the processor's cache what was made long ago.
    """
    frozen = deque(pickle.dumps(batch) for batch in waiting)
    fresh: list[T] = []
    return Contestant(
        lambda: run(fresh[0]),
        before=lambda: fresh.append(pickle.loads(frozen.popleft())),  # noqa: S301 - our own
        after=fresh.clear,
        repeat=BATCHES[size],
        operations=size,
    )
