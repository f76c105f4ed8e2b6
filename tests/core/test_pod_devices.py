"""Who holds what: pod_devices_test.go (upstream-tests 3), and the bookkeeping beside it."""

import pytest

from simulator.core.devices import DeviceId, DevicesPerNuma, NumaNode
from simulator.core.facts import ActivePods
from simulator.core.inventory import Inventory
from simulator.core.pod_devices import PodDevices, group_by_numa, ungroup
from simulator.core.pods import ContainerName, PodUid
from simulator.core.resources import ResourceName
from simulator.core.transitions import DeviceBinding
from tests.core.hint_notation import devices, ids

R1 = ResourceName("resource1")
POD, CONTAINER = PodUid("pod1"), ContainerName("con1")
DEV1, DEV2 = DeviceId("dev1"), DeviceId("dev2")
ON_TWO_NODES: DevicesPerNuma = {NumaNode(0): (DEV1,), NumaNode(1): (DEV1,)}


@pytest.fixture
def pod_devices() -> PodDevices:
    """Return the record of upstream's tests: dev1, on nodes 0 and 1, held by pod1/con1."""
    found = PodDevices(Inventory())
    found.insert(DeviceBinding(POD, CONTAINER, R1, ON_TWO_NODES, b""), ActivePods())
    return found


def test_get_container_devices(pod_devices: PodDevices) -> None:
    """TestGetContainerDevices: one device, whose topology has two nodes."""
    recorded = pod_devices.of_container(POD, CONTAINER)[R1]

    assert ungroup(recorded.binding.devices) == {DEV1: (0, 1)}
    assert recorded.ids == (DEV1,)


def test_get_pod_and_container_for_device(pod_devices: PodDevices) -> None:
    """TestGetPodAndContainerForDevice."""
    assert pod_devices.owner(DEV2) is None
    assert pod_devices.owner(DEV1) == POD


def test_grouping_and_ungrouping_keep_the_nodes_of_every_device() -> None:
    """S2.2, S8.9: a device without topology stands under -1 and comes back without."""
    listed = devices("dev1@0,1 dev2@1 dev3 dev4@")
    nodes = {id_: one.numa_nodes for id_, one in listed.items()}

    grouped = group_by_numa(ids("dev1 dev2 dev3 dev4"), nodes, NumaNode(-1))

    assert grouped == {-1: ("dev3", "dev4"), 0: ("dev1",), 1: ("dev1", "dev2")}
    assert ungroup(grouped) == {"dev1": (0, 1), "dev2": (1,), "dev3": None, "dev4": None}


def test_devices_without_topology_were_recorded_under_node_0_in_1_20() -> None:
    """R102, 1.20.2/DIFFERENCES 7."""
    assert group_by_numa(ids("dev3"), {DeviceId("dev3"): ()}, NumaNode(0)) == {0: ("dev3",)}


def test_the_owner_of_an_id_is_sought_in_any_resource() -> None:
    """S9.6: two resources that use one id mislead the kubelet; here the elder owner is meant."""
    found, active = PodDevices(Inventory()), ActivePods()
    pods = [PodUid("elder"), PodUid("younger")]
    for uid, resource in zip(pods, (R1, ResourceName("resource2")), strict=True):
        found.insert(DeviceBinding(uid, CONTAINER, resource, ON_TWO_NODES, b""), active)

    assert found.owner(DEV1) == "elder"
    found.remove_pod(pods[0])
    assert found.owner(DEV1) == "younger"
    found.remove_pod(pods[1])
    assert found.owner(DEV1) is None
