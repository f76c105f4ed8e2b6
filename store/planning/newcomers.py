"""Rows of pods that came with one device each, made while they are written.

Six rows would be made for each such pod and kept until they are written. Here one tuple is kept for
each, and the rows are columns of them put side by side when the writer takes them, a few at a time.

What is null for every newcomer is left out of the statements, and the rest is of types that
Python's driver of SQLite binds as they are. Of a None, a bool or a bytes it first looks up what it
could be adapted to: 0.3 us for each value, 2 us of the 9 that the SQL of such a pod took.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat
from typing import Final

from simulator.core.devices import NumaNode
from simulator.core.instants import Instant
from simulator.core.pods import ContainerName, PodUid
from simulator.core.transitions import PodAdmitted
from simulator.ports import Standing
from store import tables as t
from store.changes import KINDS, STANDINGS
from store.database import Row

Newcomer = tuple[
    int,  # pod: its key
    int,  # node: its key
    PodUid,
    str,  # namespace
    str,  # name
    int,  # revision
    Instant,
    ContainerName,
    int,  # holding: its key
    int,  # device: its key
    int | None,  # boot: its key
    NumaNode,
    int,  # resource: its key
    bytes,  # response
    str,  # the history's line
]

_ADMITTED: Final = repeat(STANDINGS[Standing.ADMITTED])
_POD_ADMITTED: Final = repeat(KINDS[PodAdmitted])
_EMPTY: Final = repeat("")
_FIRST: Final = repeat(0)

LEFT_OUT: Final = {
    "pods_of_newcomers": (t.pod, {"ended_revision"}),
    "holdings_of_newcomers": (t.device_holding, {"until_revision", "until_at"}),
    "responses_of_newcomers": (t.allocate_response, {"empty_numa_nodes"}),
}
"""The tables and columns that are null, by the name of the statement."""


def rows_of(newcomers: Sequence[Newcomer], *, has_booleans: bool) -> Mapping[str, Iterable[Row]]:
    """Return rows by the name of their statement; each can be gone through once."""
    no, yes = map(repeat, (False, True) if has_booleans else (0, 1))
    (
        pods,
        nodes,
        uids,
        namespaces,
        names,
        revisions,
        instants,
        containers,
        holdings,
        devices,
        boots,
        numa_nodes,
        resources,
        responses,
        lines,
    ) = zip(*newcomers, strict=True)
    return {
        "pods_of_newcomers": _rows(
            pods, nodes, uids, namespaces, names, _ADMITTED, _EMPTY, _EMPTY, yes
        ),
        "containers": _rows(pods, _FIRST, containers),
        "holdings_of_newcomers": _rows(holdings, devices, pods, boots, revisions, instants, no),
        "bindings": _rows(holdings, _FIRST, _FIRST, numa_nodes),
        "responses_of_newcomers": _rows(
            pods, _FIRST, resources, revisions, _FIRST, map(bytearray, responses)
        ),
        "changes": _rows(revisions, instants, nodes, _POD_ADMITTED, pods, lines),
    }


def _rows(*columns: Iterable[object]) -> Iterable[Row]:
    return zip(*columns, strict=False)
