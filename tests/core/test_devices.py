"""Devices and groups of ids (S1.5, S2.2)."""

import pytest

from simulator.core.devices import (
    Device,
    DeviceId,
    DeviceInstances,
    NumaNode,
    device_ids,
    filter_instances,
)
from simulator.core.pods import Container, ContainerKind, ContainerName, Pod, PodUid
from simulator.core.resources import ResourceName

A, B, C = DeviceId("a"), DeviceId("b"), DeviceId("c")


@pytest.mark.parametrize(
    ("health", "healthy"),
    [("Healthy", True), ("Unhealthy", False), ("healthy", False), ("", False)],
)
def test_only_the_exact_word_is_healthy(health: str, *, healthy: bool) -> None:
    """S1.5, X17."""
    assert healthy == Device(A, health).is_healthy


def test_the_ids_of_all_numa_nodes_are_each_given_once() -> None:
    """S2.2: a device on two nodes stands under both."""
    grouped = {NumaNode(-1): (C,), NumaNode(1): (B, A), NumaNode(0): (A,)}

    assert device_ids(grouped) == ("a", "b", "c")
    assert device_ids(None) == ()


def test_a_device_without_a_topology_message_and_one_without_nodes_have_no_node() -> None:
    assert Device(A).numa_nodes == ()
    assert Device(A, topology=()).numa_nodes == ()
    assert Device(A, topology=(NumaNode(1), NumaNode(0))).numa_nodes == (1, 0)


def test_init_containers_are_admitted_before_regular_ones() -> None:
    """S3.1."""
    setup = Container(ContainerName("setup"), kind=ContainerKind.INIT)
    app = Container(ContainerName("app"))

    pod = Pod(PodUid("p"), "p", init_containers=(setup,), containers=(app,))

    assert list(pod.all_containers()) == [setup, app]


FOO, BAR, BAZ = (ResourceName(name) for name in ("foo", "bar", "baz"))


def ids(resource: ResourceName, *numbers: int) -> list[DeviceId]:
    return [DeviceId(f"dev-{resource}{number}") for number in numbers]


def instances(resource: ResourceName, *numbers: int) -> DeviceInstances:
    return {id_: Device(id_) for id_ in ids(resource, *numbers)}


ALL = {resource: instances(resource, 1, 2, 3) for resource in (FOO, BAR, BAZ)}


@pytest.mark.parametrize(
    ("wanted", "left"),
    [
        ({}, {}),
        (
            {FOO: ids(FOO, 1, 2), BAR: ids(BAR, 1)},
            {FOO: instances(FOO, 1, 2), BAR: instances(BAR, 1)},
        ),
        ({name: ids(name, 1, 2, 3) for name in (FOO, BAR, BAZ)}, ALL),
        ({name: ids(name, 1, 2, 3, 4) for name in (FOO, BAR, BAZ)}, ALL),
        (
            {name: ids(name, 1, 4, 7) for name in (FOO, BAR, BAZ)},
            {name: instances(name, 1) for name in (FOO, BAR, BAZ)},
        ),
        ({FOO: [], ResourceName("unknown"): ids(FOO, 1)}, {FOO: {}}),
    ],
)
def test_resource_device_instance_filter(
    wanted: dict[ResourceName, list[DeviceId]], left: dict[ResourceName, DeviceInstances]
) -> None:
    """TestResourceDeviceInstanceFilter; the last row is X18 and a resource never heard of."""
    assert left == filter_instances(ALL, wanted)
