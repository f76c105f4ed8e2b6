"""The strategy of a node that is being migrated: the database tells its phase at every start.

While both are written (`simulator.core.migration`), the strategies `checkpoint` and `database` are
both told of every change, and no change is acknowledged before both have it: an admission that one
of them cannot take is refused. After each change file and rows are read and compared, and where
they differ, as after a write that failed, both are made to say what the device manager holds. At a
start, as after a crash between the two writes, the side counts that the phase believes, and the
other one is made to say the same. A side that cannot be read is never believed.

Two things differ from what each does alone. The file is written after a release too, because rows
end at once, and a file that lags (S4.10) would differ. And its directory is fsynced, for a loss of
power could else bring the file before the last one back, which can be read and would count (W10).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from typing_extensions import override

from simulator.core.behavior import Behavior
from simulator.core.calls import (
    KeepingReply,
    LoadState,
    ReadCheckpoint,
    StateLoaded,
    StoreDecision,
    StoreFailed,
)
from simulator.core.devices import Device
from simulator.core.migration.agreement import Agreement, agreement
from simulator.core.migration.phases import Phase, Side, regime_of
from simulator.core.migration.repair import repair_rows
from simulator.core.persistence.checkpoint import CheckpointPersistence, file_of
from simulator.core.persistence.database import DatabasePersistence
from simulator.core.persistence.defaults import PersistenceDefaults
from simulator.core.persistence.protocol import ManagerView, Persistence, Restored
from simulator.core.pods import Pod, PodUid
from simulator.core.records import StatesDiffer, StateWritten
from simulator.core.refusals import Refusal
from simulator.core.resources import ResourceName
from simulator.core.transitions import DeviceBinding

T = TypeVar("T")


class DualWritePersistence(PersistenceDefaults):
    """Writes what the node's phase says: the file, the database, or both.

    Args:
        behavior: The kubelet version.
        unless_told: The phase of a node of which the database says none.
    """

    def __init__(self, behavior: Behavior, unless_told: Phase) -> None:
        self._behavior = behavior
        self._unless_told = unless_told
        self._regime = regime_of(unless_told)
        self._file = CheckpointPersistence(behavior)
        self._rows = DatabasePersistence()
        self._under_way = 0
        self._calls = 0
        self._noted = ""

    @property
    @override
    def name(self) -> str:
        return "dual-write"

    @override
    def load(self, view: ManagerView) -> StoreDecision[Restored]:
        """Restore what the phase believes; without a phase, as of an unreadable database, nothing.

        To guess that the file counts could bring back what has long changed.
        """
        reply = yield LoadState()
        if not isinstance(reply, StateLoaded):
            return self._rows.understood(reply)
        self._regime = regime_of(reply.state.phase or self._unless_told)
        if not self._regime.writes_rows:
            return (yield from self._file.load(view))
        if not self._regime.writes_file:
            return self._rows.understood(reply)
        self._file.directory_synced = True
        file = file_of((yield ReadCheckpoint()), self._behavior)
        found = agreement(self._regime, file, reply.state)
        self._file.take(found.bindings)
        if not found.holds:
            yield from self._repair_at_start(view, found)
        return Restored(
            source=found.believed.value,
            bindings=found.bindings,
            registered=found.registered,
            skipped=file.skipped,
        )

    @override
    def record(self, binding: DeviceBinding) -> None:
        """Have the binding in the next write."""
        for side in self._written():
            side.record(binding)

    @override
    def on_devices_changed(
        self, view: ManagerView, resource: ResourceName, devices: Sequence[Device]
    ) -> StoreDecision[Refusal | None]:
        """Write the list."""
        return self._tell(
            view, [side.on_devices_changed(view, resource, devices) for side in self._written()]
        )

    @override
    def on_container_allocated(
        self, view: ManagerView, pod: Pod, added: Sequence[DeviceBinding]
    ) -> StoreDecision[Refusal | None]:
        """Write the container; the pod as a whole is compared when it is admitted."""
        for side in self._written():
            refusal = yield from self._counted(side.on_container_allocated(view, pod, added))
            if refusal is not None:
                return refusal
        return None

    @override
    def on_pod_admitted(
        self, view: ManagerView, pod: Pod, added: Sequence[DeviceBinding]
    ) -> StoreDecision[Refusal | None]:
        """Write the pod."""
        return self._tell(view, [one.on_pod_admitted(view, pod, added) for one in self._written()])

    @override
    def on_pod_rejected(
        self, view: ManagerView, pod: Pod, reason: str, message: str
    ) -> StoreDecision[Refusal | None]:
        """Keep the refusal for the history."""
        return self._tell(
            view, [one.on_pod_rejected(view, pod, reason, message) for one in self._written()]
        )

    @override
    def on_taken_back(
        self, view: ManagerView, pod: Pod, added: Sequence[DeviceBinding]
    ) -> StoreDecision[Refusal | None]:
        """Write nothing of a refused allocation any more."""
        return self._tell(view, [one.on_taken_back(view, pod, added) for one in self._written()])

    @override
    def on_released(
        self, view: ManagerView, pods: Sequence[PodUid]
    ) -> StoreDecision[Refusal | None]:
        """Commit the release, then take the pods out of the file.

        A file that cannot be written then keeps entries of ended pods, as a kubelet's does (S4.10).
        """
        if not self._regime.writes_both:
            (side,) = self._written()
            return (yield from side.on_released(view, pods))
        self._under_way += 1
        refusal = yield from self._counted(self._rows.on_released(view, pods))
        if refusal is None:
            yield from self._file.on_released(view, pods)
            yield from self._counted(self._file.write(view, "release", view.registered()))
        self._under_way -= 1
        yield from self._compare(view)
        return refusal

    @override
    def on_resources_removed(
        self, view: ManagerView, resources: Sequence[ResourceName]
    ) -> StoreDecision[Refusal | None]:
        """Write that the resources are gone."""
        return self._tell(
            view, [side.on_resources_removed(view, resources) for side in self._written()]
        )

    def _written(self) -> tuple[Persistence, ...]:
        """Return the strategies that are told of changes, the file's first."""
        sides = ((self._file, self._regime.writes_file), (self._rows, self._regime.writes_rows))
        return tuple(side for side, is_written in sides if is_written)

    def _tell(
        self, view: ManagerView, steps: Iterable[StoreDecision[Refusal | None]]
    ) -> StoreDecision[Refusal | None]:
        """Take all steps, also after a refusal, which is returned; then compare."""
        before = self._calls
        refusal: Refusal | None = None
        self._under_way += 1
        for step in steps:
            refused = yield from self._counted(step)
            refusal = refusal or refused
        self._under_way -= 1
        if self._calls != before:
            yield from self._compare(view)
        return refusal

    def _counted(self, step: StoreDecision[T]) -> StoreDecision[T]:
        """Take a step and count its calls."""
        reply: KeepingReply | None = None
        while True:
            try:
                call = next(step) if reply is None else step.send(reply)
            except StopIteration as end:
                result: T = end.value
                return result
            self._calls += 1
            reply = yield call

    def _compare(self, view: ManagerView) -> StoreDecision[None]:
        """Read both sides; of several changes under way the last one compares.

        While the device manager runs it knows best: where the sides differ both are made to say
        what it holds, the file first.
        """
        if self._is_changing() or not self._regime.writes_both:
            return
        found = yield from self._looked()
        if found is None:
            return
        if found.holds:
            self._noted = ""
            return
        self._note(view, "memory", found.detail)
        self._under_way += 1
        refused = yield from self._file.write(view, "repair", view.registered())
        self._under_way -= 1
        found = None if refused else (yield from self._looked())
        if found is not None and not found.holds and found.believed is Side.FILE:
            yield from self._repair_rows(view, found)

    def _looked(self) -> StoreDecision[Agreement | None]:
        """Compare file and rows with the file as what counts; None if they changed meanwhile."""
        before = self._calls
        content = yield ReadCheckpoint()
        rows = yield LoadState()
        if self._calls != before or self._is_changing():
            return None
        if not isinstance(rows, StateLoaded):
            error = rows.message if isinstance(rows, StoreFailed) else ""
            detail = f"the database cannot be read: {error}"
            return Agreement(Side.DATABASE, (), (), detail=detail)
        file = file_of(content, self._behavior)
        return agreement(regime_of(Phase.DUAL_WRITE), file, rows.state, owed=self._rows.owed)

    def _is_changing(self) -> bool:
        return self._under_way > 0

    def _repair_at_start(self, view: ManagerView, found: Agreement) -> StoreDecision[None]:
        """Make the side that is not believed say the same.

        There are no resources with devices yet; a file's ids of them are ignored (S4.4).
        """
        self._note(view, found.believed.value, found.detail)
        if found.believed is Side.FILE:
            yield from self._repair_rows(view, found)
        else:
            registered = [(resource, ()) for resource in found.registered]
            yield from self._file.write(view, "repair", registered)

    def _repair_rows(self, view: ManagerView, found: Agreement) -> StoreDecision[None]:
        self._under_way += 1
        error = yield from repair_rows(view.node, view.now, found)
        self._under_way -= 1
        size = len(found.differing)
        view.note(StateWritten(target="database", cause="repair", size=size, error=error))

    def _note(self, view: ManagerView, believed: str, detail: str) -> None:
        """Note a difference when it is seen first."""
        if detail != self._noted:
            view.note(StatesDiffer(believed=believed, detail=detail))
        self._noted = detail
