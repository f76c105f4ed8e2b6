"""The strategy `pod-status` (P4): the file, and the ids in the status of the pod."""

from __future__ import annotations

from simulator.core.devices import device_ids
from simulator.core.persistence.checkpoint import CheckpointPersistence
from simulator.core.persistence.pod_status import PodStatusPersistence
from tests.core.driving import GPU, MAIN, Rig, pod


def test_the_status_says_what_the_pod_holds() -> None:
    rig = Rig(persistence=PodStatusPersistence)
    rig.plug(GPU, "g0", "g1")
    created = pod("p1", {GPU: 2})
    assert rig.manager.api.status_devices(created.uid) == ()

    rig.admit(created)

    [said] = rig.manager.api.status_devices(created.uid)
    assert (said.container, said.resource) == (MAIN, GPU)
    assert device_ids(said.devices) == ("g0", "g1")


def test_the_file_is_that_of_the_checkpoint_and_nothing_is_asked_of_the_api() -> None:
    """§3.1: P4 makes no call of its own, and still needs the file for recovery."""
    told, plain = Rig(persistence=PodStatusPersistence), Rig(persistence=CheckpointPersistence)
    for rig in (told, plain):
        rig.plug(GPU, "g0", "g1")
        created = pod("p1", {GPU: 1})
        rig.admit(created)
        assert rig.run(rig.manager.api.before_start(created)).admitted

    assert told.writes == plain.writes
    assert told.start().source == "checkpoint"
    assert not told.manager.api.is_owed
    assert PodStatusPersistence(told.behavior).name == "pod-status"
