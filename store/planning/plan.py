"""The rows that a batch of transitions adds, changes and ends.

A plan reads nothing but the writer's own `NodeEntry`s, except for pods that ended and come back and
for bindings that are replaced, which are rare. It does not know who holds a device: where another
pod does, the database refuses the rows.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable

from simulator.core.devices import DeviceId
from simulator.core.instants import Instant
from simulator.core.pods import PodUid
from simulator.core.resources import ResourceName
from simulator.core.transitions import NodeName, Transition
from simulator.ports import Committed
from store.changes import KINDS, detail_of, pods_of
from store.database import Writer
from store.node_entries import (
    SEGMENT_CHANGES_MAX,
    SEGMENT_LENGTH,
    Keys,
    KnownPods,
    NodeEntry,
    read_keys,
    read_node,
)
from store.planning.statements import Writes, compiled

PodKey = tuple[PodUid, int]
"""A pod's uid and its key."""


class Plan:
    """Rows of one batch, and the writer's memory of the nodes behind them.

    Attributes:
        at: The instant of the transition that is planned.
        contested: Pod, resource and device of holdings that an import under way disputes.
        pods: Of the nodes that were planned for.
        places: Of the devices of each resource that was reported last, for nodes that are alike.
        part: Which part of the batch is planned; the rows of a part are written together.
        revisions: Of the nodes that the part changes, by key.
    """

    def __init__(self, writer: Writer) -> None:
        """Begin with what the database says.

        Args:
            writer: Reads and writes; all rows of a batch within one transaction.
        """
        self.connection = connection = writer.connection
        self._write = writer.write
        self._statements = compiled(f"{connection.dialect.name}.{connection.dialect.driver}")
        self._has_booleans = connection.dialect.supports_native_boolean
        self.writes = Writes()
        self.keys = read_keys(connection)
        self.contested: set[tuple[PodUid, ResourceName, DeviceId]] = set()
        self.nodes: dict[NodeName, NodeEntry] = {}
        self.pods: KnownPods = {}
        self.places: dict[ResourceName, dict[DeviceId, int]] = {}
        self.at = Instant(0)
        self.part = 1
        self.revisions: dict[int, int] = {}

    def node(self, name: NodeName) -> NodeEntry | None:
        """Return what is known of a node, None for an unknown one."""
        node = self.nodes.get(name)
        if node is None:
            node = read_node(self.connection, name, self.pods)
            if node is not None:
                self.nodes[name] = node
                for resource in node.resources.values():
                    resource.share(self.places)
        return node

    def node_or_new(self, name: NodeName) -> NodeEntry:
        """Return a node, made if it is unknown."""
        node = self.node(name)
        if node is None:
            self.keys.node += 1
            node = self.nodes[name] = NodeEntry(self.keys.node, name, 0)
            self.writes.nodes.append((node.id, name, 0))
        return node

    def forget(self, transitions: Iterable[Transition], keys: Keys) -> None:
        """Drop everything planned since `keys` were taken: these transitions.

        Of their nodes' other pods what is known stays true, or is read again with the node.
        """
        gone: set[NodeName] = set()
        for transition in transitions:
            node = self.nodes.get(transition.node)
            if node is not None:
                gone.add(node.name)
                for uid in pods_of(transition):
                    self.pods.pop((node.id, uid), None)
        for name in gone:
            del self.nodes[name]
        self.keys = copy.copy(keys)
        self.writes = Writes()
        self.contested = set()
        self.revisions.clear()

    def forget_pods(self, gone: Iterable[tuple[int, PodUid]]) -> None:
        """Forget the keys of pods whose rows were dropped, by their nodes' keys and their uids."""
        for pod in gone:
            if not isinstance(self.pods.get(pod), tuple):
                self.pods.pop(pod, None)

    def among_others(self, node: NodeEntry) -> None:
        """Plan for a node what may be written together with what other pods of it do."""
        if node.alone == self.part:
            self.flush()
        node.touched = self.part

    def alone(self, node: NodeEntry) -> None:
        """Plan for a node what must be written after and before all else that it does."""
        if node.touched == self.part:
            self.flush()
        node.touched = node.alone = self.part

    def let_read(self, node: NodeEntry) -> None:
        """Write what was planned for a node, so that it can be read, and go on alone."""
        self.flush()
        node.touched = node.alone = self.part

    def flush(self) -> None:
        """Write the rows that wait: what is planned later comes after them."""
        self.part += 1
        if self.revisions:
            self.writes.node_updates.extend(
                zip(self.revisions.values(), self.revisions, strict=True)
            )
            self.revisions.clear()
        self.writes.run(self._write, self._statements, has_booleans=self._has_booleans)

    def room(self) -> int:
        """Return how many changes there may be before one begins a segment of the history."""
        keys = self.keys
        if not keys.segment_change:
            return 0
        return keys.segment_change + SEGMENT_CHANGES_MAX - keys.change - 1

    def next_revision(self, node: NodeEntry, at: Instant) -> int:
        """Take the next revision for a change of `node`."""
        self.at = at
        keys = self.keys
        keys.revision += 1
        keys.change += 1
        revision = node.revision = self.revisions[node.id] = keys.revision
        if (
            at >= keys.segment_end
            or keys.change - keys.segment_change >= SEGMENT_CHANGES_MAX
            or not keys.segment_change
        ):
            keys.segment_change, keys.segment_end = keys.change, at + SEGMENT_LENGTH
            self.writes.segments.append((revision, at, keys.change))
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
