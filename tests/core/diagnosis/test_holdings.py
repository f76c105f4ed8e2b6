"""What a checkpoint file says about one pod."""

from __future__ import annotations

from simulator.core.behavior import CheckpointFormat
from simulator.core.checkpoint.values import Checkpoint, CheckpointEntry
from simulator.core.devices import DeviceId, NumaNode
from simulator.core.diagnosis.holdings import holdings_of, sentences
from simulator.core.diagnosis.observed import ObservedContainer, ObservedPod
from simulator.core.pods import ContainerName, PodUid
from simulator.core.resources import ResourceName

GPU = ResourceName("example.com/gpu")
NIC = ResourceName("example.com/nic")
APP = ContainerName("app")
POD = ObservedPod(
    uid=PodUid("u1"), name="trainer", containers=(ObservedContainer(APP, limits=((GPU, 2),)),)
)


def entry(pod: str, resource: ResourceName, groups: dict[int, tuple[str, ...]]) -> CheckpointEntry:
    devices = {NumaNode(node): tuple(map(DeviceId, ids)) for node, ids in groups.items()}
    return CheckpointEntry(PodUid(pod), APP, resource, devices, b"")


def said(*entries: CheckpointEntry, registered: dict[ResourceName, tuple[str, ...]]) -> list[str]:
    checkpoint = Checkpoint(
        CheckpointFormat.V2,
        entries,
        {name: tuple(map(DeviceId, ids)) for name, ids in registered.items()},
    )
    return list(sentences(holdings_of(POD, checkpoint, lenient=True)))


def test_devices_are_told_by_numa_node_with_the_resources_account() -> None:
    assert said(
        entry("u1", GPU, {0: ("g0",), -1: ("g9",)}),
        entry("u2", GPU, {1: ("g1",)}),
        registered={GPU: ("g0", "g1", "g2", "g9")},
    ) == [
        "Container app holds example.com/gpu: no NUMA node: g9; NUMA 0: g0.",
        (
            "example.com/gpu is registered with 4 healthy devices, 1 of them free "
            "(u1 holds 2, u2 holds 1)."
        ),
    ]


def test_a_device_under_two_pods_is_told_with_the_other_pod() -> None:
    """R79."""
    lines = said(
        entry("u1", GPU, {0: ("g0",)}), entry("u2", GPU, {0: ("g0",)}), registered={GPU: ("g0",)}
    )

    assert "g0 of example.com/gpu is also held by 1 other pod: u2 (R79)." in lines


def test_a_device_of_the_same_name_but_another_resource_is_no_conflict() -> None:
    lines = said(
        entry("u1", GPU, {0: ("d0",)}), entry("u2", NIC, {0: ("d0",)}), registered={GPU: ("d0",)}
    )

    assert not any("also held" in line for line in lines)


def test_devices_that_are_gone_are_named() -> None:
    """F07: the plugin is away, so no id is healthy."""
    lines = said(entry("u1", GPU, {0: ("g0", "g1")}), registered={GPU: ("g1",)})

    assert "Not among the healthy devices of example.com/gpu: g0." in lines


def test_a_pod_without_an_entry_is_told_so_and_a_resource_that_is_not_registered() -> None:
    assert said(entry("u2", NIC, {0: ("n0",)}), registered={}) == [
        (
            "It has no entry of this pod (entries of 1 other pod): "
            "by the file the pod holds no device."
        ),
        "example.com/gpu is not registered in the file: no plugin had reported it.",
    ]


def test_devices_are_counted_once_by_container_and_resource() -> None:
    """F05: a device near two nodes stands under both."""
    checkpoint = Checkpoint(
        CheckpointFormat.V2, (entry("u1", GPU, {0: ("g0",), 1: ("g0", "g1")}),), {}
    )

    assert holdings_of(POD, checkpoint, lenient=True).counts() == {(APP, GPU): 2}


def test_a_resource_that_nobody_holds_is_told_so() -> None:
    assert said(registered={GPU: ("g0",)})[-1] == (
        "example.com/gpu is registered with 1 healthy device, 1 of them free (no pod holds any)."
    )
