"""Strategies that break their promise: what a checker must catch."""

from __future__ import annotations

from collections.abc import Sequence

from typing_extensions import override

from simulator.core.calls import StoreDecision
from simulator.core.devices import Device
from simulator.core.persistence.checkpoint import CheckpointPersistence
from simulator.core.persistence.database import DatabasePersistence
from simulator.core.persistence.protocol import ManagerView
from simulator.core.pods import Pod, PodUid
from simulator.core.refusals import Refusal
from simulator.core.resources import ResourceName
from simulator.core.transitions import DeviceBinding


class AnnouncesBeforeTheWrite(CheckpointPersistence):
    """Writes an admission with the next message of a plugin, after it was announced."""

    @override
    def on_container_allocated(
        self, view: ManagerView, pod: Pod, added: Sequence[DeviceBinding]
    ) -> StoreDecision[Refusal | None]:
        yield from ()
        return None


class TakesFailureForSuccess(CheckpointPersistence):
    """Announces an admission although its write failed."""

    @override
    def on_container_allocated(
        self, view: ManagerView, pod: Pod, added: Sequence[DeviceBinding]
    ) -> StoreDecision[Refusal | None]:
        yield from super().on_container_allocated(view, pod, added)
        return None


class AnnouncesBeforeTheCommit(DatabasePersistence):
    """Commits an admission with the next device list or release, after it was announced."""

    def __init__(self) -> None:
        super().__init__()
        self._late: list[tuple[Pod, Sequence[DeviceBinding]]] = []

    @override
    def on_pod_admitted(
        self, view: ManagerView, pod: Pod, added: Sequence[DeviceBinding]
    ) -> StoreDecision[Refusal | None]:
        yield from ()
        self._late.append((pod, added))
        return None

    @override
    def on_devices_changed(
        self, view: ManagerView, resource: ResourceName, devices: Sequence[Device]
    ) -> StoreDecision[Refusal | None]:
        yield from self._catch_up(view)
        return (yield from super().on_devices_changed(view, resource, devices))

    @override
    def on_released(
        self, view: ManagerView, pods: Sequence[PodUid]
    ) -> StoreDecision[Refusal | None]:
        yield from self._catch_up(view)
        return (yield from super().on_released(view, pods))

    def _catch_up(self, view: ManagerView) -> StoreDecision[None]:
        late, self._late = self._late, []
        for pod, added in late:
            yield from super().on_pod_admitted(view, pod, added)
