"""A device manager whose strategy keeps nothing in the API asks the API for nothing."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from simulator.core.api_calls import BindDevices
from simulator.core.behavior import Behavior
from simulator.core.calls import ReadCheckpoint, of_store
from simulator.core.migration.phases import Phase
from simulator.core.persistence.checkpoint import CheckpointPersistence
from simulator.core.persistence.database import DatabasePersistence
from simulator.core.persistence.dual_write import DualWritePersistence
from simulator.core.persistence.protocol import Persistence
from simulator.core.pods import PodUid
from simulator.core.refusals import ADMITTED
from simulator.core.transitions import PodIdentity
from tests.core.driving import GPU, Rig, pod


@pytest.mark.parametrize(
    "persistence",
    [
        CheckpointPersistence,
        lambda _: DatabasePersistence(),
        lambda behavior: DualWritePersistence(behavior, Phase.CHECKPOINT),
    ],
)
def test_what_is_kept_on_the_node_never_waits_for_the_api(
    persistence: Callable[[Behavior], Persistence],
) -> None:
    rig = Rig(persistence=persistence)
    rig.plug(GPU, "g0")
    created = pod("p1", {GPU: 1})

    assert rig.run(rig.manager.api.pods_listed([created])) == ""
    assert rig.admit(created).admitted
    assert rig.run(rig.manager.api.before_start(created)) == ADMITTED
    assert rig.run(rig.manager.api.flush())
    assert not rig.manager.api.is_owed
    assert rig.manager.api.flush_period is None
    assert rig.manager.api.status_devices(created.uid) == ()


def test_a_driver_without_an_api_server_says_so() -> None:
    read = ReadCheckpoint()

    assert of_store(read) is read
    with pytest.raises(TypeError, match="only a store is asked here"):
        of_store(BindDevices(PodIdentity(PodUid("p1")), ()))
