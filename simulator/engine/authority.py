"""What a node's durable state says: the bindings that a kubelet started now would restore.

For the persistence `checkpoint` that is the file, read as the node's kubelet version reads it; for
`database` the rows. A database that cannot be opened restores nothing wrong: the kubelet refuses to
start, so there is no answer at all.
"""

from __future__ import annotations

from dataclasses import dataclass

from simulator.config import CHECKPOINT_FILE_NAME
from simulator.core.behavior import Behavior
from simulator.core.checkpoint.bindings import read_bindings
from simulator.core.checkpoint.parse import parse
from simulator.core.devices import DeviceId, device_ids
from simulator.core.pods import ContainerName, PodUid
from simulator.core.resources import ResourceName
from simulator.core.transitions import DeviceBinding, NodeName
from simulator.engine.database import Database
from simulator.engine.disk import Disk
from simulator.engine.observation import CheckpointObservation
from simulator.errors import CheckpointError, StoreError

HolderKey = tuple[PodUid, ContainerName, ResourceName]
"""What a binding is found by."""


@dataclass(frozen=True, slots=True)
class RestorableState:
    """What a start would restore.

    Attributes:
        error: Why nothing could be read; empty when something could.
        entries: Number of entries of a checkpoint file, those that are skipped included.
    """

    bindings: tuple[DeviceBinding, ...] = ()
    error: str = ""
    entries: int = 0

    def ids(self) -> dict[HolderKey, tuple[DeviceId, ...]]:
        """Return the ids by pod, container and resource."""
        return {
            (each.pod, each.container, each.resource): device_ids(each.devices)
            for each in self.bindings
        }


class Authority:
    """The durable state of one node; what has not changed is not read again."""

    def __init__(self, node: NodeName, disk: Disk, database: Database | None) -> None:
        self._node = node
        self._disk = disk
        self._database = database
        self._seen: object = None
        self._state = RestorableState()
        self._ids: dict[HolderKey, tuple[DeviceId, ...]] = {}

    def answers(self, behavior: Behavior) -> bool:
        """Tell whether there is an answer: not while a database cannot be read."""
        return self._database is None or not self.state(behavior).error

    def state(self, behavior: Behavior) -> RestorableState:
        """Return what a kubelet of this version would restore."""
        self._refresh(behavior)
        return self._state

    def ids(self, behavior: Behavior) -> dict[HolderKey, tuple[DeviceId, ...]]:
        """Return the ids by pod, container and resource."""
        self._refresh(behavior)
        return self._ids

    def checkpoint(self, behavior: Behavior) -> CheckpointObservation:
        """Return how the checkpoint file looks."""
        content = self._disk.read(CHECKPOINT_FILE_NAME)
        if content is None:
            return CheckpointObservation(exists=False, valid=False, entries=0)
        state = read_checkpoint(content, behavior)
        return CheckpointObservation(exists=True, valid=not state.error, entries=state.entries)

    def _refresh(self, behavior: Behavior) -> None:
        seen: object
        if self._database is None:
            content = self._disk.read(CHECKPOINT_FILE_NAME)
            seen = (content, behavior.checkpoints_read)
            if seen != self._seen:
                self._state = read_checkpoint(content, behavior)
        else:
            seen = (self._database.store, self._database.commits, self._database.damage)
            if seen != self._seen:
                self._state = self._read_database(self._database)
        if seen != self._seen:
            self._seen = seen
            self._ids = self._state.ids()

    def _read_database(self, database: Database) -> RestorableState:
        if database.damage:
            return RestorableState(error=database.damage)
        try:
            return RestorableState(database.store.load(self._node).bindings)
        except StoreError as error:
            return RestorableState(error=str(error))


def read_checkpoint(content: bytes | None, behavior: Behavior) -> RestorableState:
    """Return what a kubelet of this version makes of a file; None for no file."""
    if content is None:
        return RestorableState()
    try:
        checkpoint = parse(content, behavior.checkpoints_read)
    except CheckpointError as error:
        return RestorableState(error=str(error))
    read = read_bindings(checkpoint, lenient=behavior.lenient_allocate_responses)
    return RestorableState(read.bindings, entries=len(checkpoint.entries or ()))
