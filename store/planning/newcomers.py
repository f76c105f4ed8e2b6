"""Rows of pods that came with one device each, made while they are written.

Seven rows would be made for each such pod, kept until they are written and thrown away. Here one
tuple is kept for each, and the rows are columns of them put side by side: `zip` uses its tuple
again when the driver has bound its values and let go of it.
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
    bytes | None,  # response
    str,  # the history's line
]

_ADMITTED: Final = repeat(STANDINGS[Standing.ADMITTED])
_POD_ADMITTED: Final = repeat(KINDS[PodAdmitted])
_EMPTY: Final = repeat("")
_FIRST: Final = repeat(0)
_NULL: Final = repeat(None)
_YES: Final = repeat(True)  # noqa: FBT003 - a value of a column
_NO: Final = repeat(False)  # noqa: FBT003 - the same


def rows_of(newcomers: Sequence[Newcomer]) -> Mapping[str, Iterable[Row]]:
    """Return rows by the name of their statement; each can be gone through once."""
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
        "pods": _rows(pods, nodes, uids, namespaces, names, _ADMITTED, _EMPTY, _EMPTY, _YES, _NULL),
        "containers": _rows(pods, _FIRST, containers),
        "holdings": _rows(holdings, devices, pods, boots, revisions, instants, _NULL, _NULL, _NO),
        "bindings": _rows(holdings, _FIRST, _FIRST, numa_nodes),
        "responses": _rows(pods, _FIRST, resources, revisions, _FIRST, _NULL, responses),
        "changes": _rows(revisions, instants, nodes, _POD_ADMITTED, pods, lines),
    }


def _rows(*columns: Iterable[object]) -> Iterable[Row]:
    return zip(*columns, strict=False)
