"""The rows that a batch of transitions adds, changes and ends.

A plan reads nothing but the writer's own `NodeEntry`s, except for pods that ended and come back and
for bindings that are replaced, which are rare. It does not know who holds a device: where another
pod does, the database refuses the rows.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Final

from sqlalchemy import Connection

from simulator.core.instants import HOUR, Instant
from simulator.core.pods import PodUid
from simulator.core.transitions import NodeName, Transition
from simulator.ports import Committed
from store.changes import KINDS, detail_of
from store.node_entries import Keys, NodeEntry, read_keys, read_node
from store.statements import Writes, compiled

SEGMENT_LENGTH: Final = HOUR
SEGMENT_CHANGES_MAX: Final = 65_536
"""A segment of the history ends after this span or this many changes."""

PodKey = tuple[PodUid, int]
"""A pod's uid and its key."""


class Plan:
    """Rows of one batch, and the writer's memory of the nodes behind them."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self._statements = compiled(connection.dialect)
        self.writes = Writes()
        self.keys = read_keys(connection)
        self.careful = False
        self._nodes: dict[NodeName, NodeEntry] = {}
        self._revisions: dict[int, int] = {}

    def node(self, name: NodeName) -> NodeEntry | None:
        """Return what is known of a node, None for an unknown one."""
        node = self._nodes.get(name)
        if node is None:
            node = read_node(self.connection, name)
            if node is not None:
                self._nodes[name] = node
        return node

    def node_or_new(self, name: NodeName) -> NodeEntry:
        """Return a node, made if it is unknown."""
        node = self.node(name)
        if node is None:
            self.keys.node += 1
            node = self._nodes[name] = NodeEntry(self.keys.node, name, 0)
            self.writes.nodes.append((node.id, name, 0))
        return node

    def forget(self, names: Iterable[NodeName], keys: Keys) -> None:
        """Drop everything planned since `keys` were taken; these nodes were planned for."""
        for name in names:
            self._nodes.pop(name, None)
        self.keys = copy.copy(keys)
        self.writes = Writes()
        self._revisions.clear()

    def flush(self) -> None:
        """Write the rows that wait."""
        if self._revisions:
            self.writes.node_updates.extend((rev, key) for key, rev in self._revisions.items())
            self._revisions.clear()
        self.writes.run(self.connection, self._statements)

    def next_revision(self, node: NodeEntry, at: Instant) -> int:
        """Take the next revision for a change of `node`."""
        keys = self.keys
        keys.revision += 1
        revision = node.revision = self._revisions[node.id] = keys.revision
        if (
            not keys.segment_started <= at < keys.segment_started + SEGMENT_LENGTH
            or revision - keys.segment_revision >= SEGMENT_CHANGES_MAX
            or not keys.segment_revision
        ):
            keys.segment_revision, keys.segment_started = revision, at
            self.writes.segments.append((revision, at))
        return revision

    def record(
        self, node: NodeEntry, revision: int, transition: Transition, pods: tuple[PodKey, ...]
    ) -> Committed:
        """Write a transition's row of the history."""
        self.writes.changes.append(
            (
                revision,
                transition.at,
                node.id,
                KINDS[type(transition)],
                pods[0][1] if len(pods) == 1 else None,
                detail_of(transition, tuple(uid for uid, _ in pods)),
            )
        )
        if len(pods) > 1:
            self.writes.change_pods.extend((revision, key) for _, key in pods)
        return Committed(revision)
