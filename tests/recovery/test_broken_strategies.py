"""A checker that finds nothing proves nothing: strategies that break their promise are caught."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from typing_extensions import override

from simulator.core.behavior import Behavior, Reservations
from simulator.core.calls import StoreDecision
from simulator.core.devices import Device
from simulator.core.persistence.checkpoint import CheckpointPersistence
from simulator.core.persistence.database import DatabasePersistence
from simulator.core.persistence.protocol import ManagerView
from simulator.core.pods import Pod, PodUid
from simulator.core.refusals import Refusal
from simulator.core.resources import ResourceName
from simulator.core.transitions import DeviceBinding
from store.memory_store import MemoryStore
from tests.recovery.exploring import Setup, explore
from tests.recovery.outside import CheckpointDisk, Database, Fate
from tests.recovery.scenarios import STORIES


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


@pytest.mark.parametrize("fate", [Fate.DIES_BEFORE, Fate.DIES_AFTER])
def test_a_database_that_commits_after_the_announcement_is_caught(fate: Fate) -> None:
    setup = Setup(
        lambda: Database(MemoryStore()), AnnouncesBeforeTheCommit, Reservations.TRANSACTIONAL
    )

    found = explore(STORIES["pods_come_and_go"], setup)

    assert lost(found.findings, fate)


@pytest.mark.parametrize(
    ("strategy", "fate"),
    [
        (AnnouncesBeforeTheWrite, Fate.DIES_BEFORE),
        (AnnouncesBeforeTheWrite, Fate.DIES_AFTER),
        (TakesFailureForSuccess, Fate.FAILS),
    ],
)
def test_a_checkpoint_that_is_not_written_before_the_announcement_is_caught(
    strategy: type[CheckpointPersistence], fate: Fate
) -> None:
    setup = Setup(CheckpointDisk, lambda: strategy(Behavior()), Reservations.UPSTREAM)

    found = explore(STORIES["pods_come_and_go"], setup)

    assert lost(found.findings, fate)


def lost(findings: Sequence[str], fate: Fate) -> list[str]:
    """Return the findings of cuts with this fate that tell of an announced pod that lost devices.

    Where the kubelet dies that is told by the next one's start, where a call fails by the disk.
    """
    where = "durable" if fate is Fate.FAILS else "restored"
    return [
        one for one in findings if f": {fate.value}: {where}: " in one and "was announced" in one
    ]
