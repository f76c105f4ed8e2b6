"""Answers from a store to what the core asks of one, the same for every driver."""

from __future__ import annotations

from collections.abc import Sequence

from simulator.core.calls import Conflict, StateLoaded, Stored, StoreReply
from simulator.core.checkpoint.exporting import NodeFile
from simulator.core.devices import HEALTHY, DeviceId
from simulator.core.resources import ResourceName
from simulator.core.transitions import NodeName, NodeState
from simulator.ports import Committed, Outcome, Refused, StoreReader


def loaded(store: StoreReader, node: NodeName, *, with_file: bool) -> StateLoaded:
    """Answer a `LoadState`.

    Raises:
        StoreError: The store cannot be read.
    """
    state = store.load(node)
    return StateLoaded(state, known_file(store, state) if with_file else None)


def known_file(store: StoreReader, state: NodeState) -> NodeFile:
    """Return what a file of a node needs beside its state.

    Raises:
        StoreError: The store cannot be read.
    """
    imported = store.imported_checkpoint(state.node)
    is_own = imported is not None and imported.revision == state.revision
    healthy: dict[ResourceName, list[DeviceId]] = {name: [] for name in state.registered}
    for device in store.devices(node=state.node):
        if device.listed and device.health == HEALTHY and device.resource in healthy:
            healthy[device.resource].append(device.device)
    return NodeFile(
        unchanged=imported.content if imported is not None and is_own else None,
        healthy=tuple((name, tuple(ids)) for name, ids in healthy.items()),
    )


def committed(outcomes: Sequence[Outcome]) -> StoreReply:
    """Answer a `Commit` of which these are the outcomes."""
    refused = next((outcome for outcome in outcomes if isinstance(outcome, Refused)), None)
    if refused is not None:
        return Conflict(refused.message)
    revisions = [outcome.revision for outcome in outcomes if isinstance(outcome, Committed)]
    return Stored(max(revisions, default=0))
