"""What a node's durable state says: the bindings that a kubelet started now would restore.

For the persistence `checkpoint` that is the file, read as the node's kubelet version reads it; for
`database` the rows; in a migration what its phase says. A database that cannot be opened restores
nothing wrong: the kubelet refuses to start, so there is no answer at all. Where bindings are kept
in the API it is what the pods' specs or the DeviceBinding objects say; under `checkpoint+api` the
file counts, and the specs for what it does not have.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from simulator.config import CHECKPOINT_FILE_NAME
from simulator.core.behavior import Behavior
from simulator.core.checkpoint.reading import read_file
from simulator.core.devices import DeviceId, device_ids
from simulator.core.migration.agreement import agreement
from simulator.core.pods import ContainerName, PodUid
from simulator.core.resources import ResourceName
from simulator.core.transitions import DeviceBinding
from simulator.engine.api_bindings import ApiBindings
from simulator.engine.node_phase import NodePhase
from simulator.engine.observation import CheckpointObservation
from simulator.engine.storage_ports import Directory

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

    def __init__(self, disk: Directory, phase: NodePhase, api: ApiBindings | None = None) -> None:
        self._disk = disk
        self._phase = phase
        self._api = api
        self._seen: list[object] = []
        self._no_answer = False
        self._rows: dict[HolderKey, tuple[DeviceId, ...]] | None = None
        self._state = RestorableState()
        self._ids: dict[HolderKey, tuple[DeviceId, ...]] = {}

    def answers(self, behavior: Behavior) -> bool:
        """Tell whether there is an answer: not while a database is needed and cannot be read."""
        self._refresh(behavior)
        return not self._no_answer

    def rows(self, behavior: Behavior) -> dict[HolderKey, tuple[DeviceId, ...]] | None:
        """Return the ids in the rows; None where none are written, or they cannot be read."""
        self._refresh(behavior)
        return self._rows

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
        regime = self._phase.regime
        seen: list[object] = [regime]
        content = None
        if regime.writes_file:
            content = self._disk.read(CHECKPOINT_FILE_NAME)
            seen += [content, behavior.checkpoints_read]
        rows = self._phase.rows() if self._phase.uses_database else None
        seen.append(rows)
        if self._api is not None:
            seen.append(self._api.revision)
        if seen == self._seen:
            return
        self._seen = seen
        self._no_answer = isinstance(rows, str)
        self._rows = None
        if isinstance(rows, str):
            self._state = RestorableState(error=rows)
        elif rows is None or not regime.writes_rows:
            self._state = read_checkpoint(content, behavior)
            if self._api is not None:
                self._state = self._with_api(self._state, self._api)
        else:
            found = rows.bindings
            if regime.writes_file:
                found = agreement(regime, read_file(content, behavior), rows).bindings
            self._state = RestorableState(found)
            self._rows = RestorableState(rows.bindings).ids()
        self._ids = self._state.ids()

    def _with_api(self, state: RestorableState, api: ApiBindings) -> RestorableState:
        known = {(each.pod, each.container, each.resource) for each in state.bindings}
        added = tuple(
            each
            for each in api.bindings()
            if (each.pod, each.container, each.resource) not in known
        )
        return replace(state, bindings=(*state.bindings, *added))


def read_checkpoint(content: bytes | None, behavior: Behavior) -> RestorableState:
    """Return what a kubelet of this version makes of a file; None for no file."""
    file = read_file(content, behavior)
    return RestorableState(file.bindings, file.error, file.entries)
