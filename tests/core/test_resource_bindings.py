"""The rule of `BindResource` (persistence-designs 1.1): devices are added once, never changed."""

from __future__ import annotations

import pytest

from simulator.core.devices import DeviceId
from simulator.core.pods import Container, ContainerKind, ContainerName, Pod
from simulator.core.resource_bindings import (
    BoundDevices,
    ContainersMissing,
    DeviceHeld,
    DevicesUnfit,
    FaultKind,
    OthersBound,
    bind,
    bound_devices,
    told,
)
from simulator.core.resources import ResourceName
from tests.core.driving import GPU, NIC, container, ids, pod

A, B = ContainerName("a"), ContainerName("b")


def one(name: str, count: int = 1, kind: ContainerKind = ContainerKind.REGULAR) -> Container:
    return container(name, {GPU: count}, kind)


def gpus(name: ContainerName, *texts: str) -> BoundDevices:
    return bound_devices([((name, GPU), ids(*texts))])


def bound(before: Pod, asked: BoundDevices) -> Pod:
    after = bind(before, asked)
    assert isinstance(after, Pod)
    return after


def refused(before: Pod, asked: BoundDevices) -> tuple[type, str]:
    found = bind(before, asked)
    assert not isinstance(found, Pod)
    return type(found), told(before, found)


def test_devices_are_copied_into_the_container_that_is_named() -> None:
    after = bound(pod("p1", one("a"), one("b", 2)), gpus(B, "g1", "g2"))

    assert [each.bound_to(GPU) for each in after.containers] == [None, ids("g1", "g2")]


def test_containers_are_bound_one_after_the_other() -> None:
    first = bound(pod("p1", one("a"), one("b")), gpus(A, "g1"))

    after = bound(first, gpus(B, "g2"))

    assert [each.bound_to(GPU) for each in after.containers] == [ids("g1"), ids("g2")]


def test_the_same_devices_again_change_nothing() -> None:
    before = bound(pod("p1", one("a", 2)), gpus(A, "g1", "g2"))

    assert bind(before, gpus(A, "g2", "g1")) is before


def test_bound_devices_are_neither_exchanged_nor_removed() -> None:
    before = bound(pod("p1", one("a", 1)), gpus(A, "g1"))

    refusal = (
        OthersBound,
        (
            'container "a" of pod "name-p1" is bound to other devices of example.com/gpu: g1; '
            "devices are neither removed nor exchanged"
        ),
    )
    assert refused(before, gpus(A, "g2")) == refusal
    assert refused(before, gpus(A)) == refusal


def test_a_container_that_does_not_exist_is_refused() -> None:
    assert refused(pod("p1", one("a")), gpus(B, "g1")) == (
        ContainersMissing,
        'pod "name-p1" has no container "b"; it has: a',
    )


def test_a_resource_without_a_limit_is_refused() -> None:
    assert refused(pod("p1", one("a")), bound_devices([((A, NIC), ids("n1"))])) == (
        DevicesUnfit,
        'container "a" has no limit of example.com/nic',
    )


def test_a_container_has_a_device_once() -> None:
    assert refused(pod("p1", one("a", 2)), gpus(A, "g1", "g1")) == (
        DevicesUnfit,
        'container "a" is given a device of example.com/gpu twice',
    )


def test_regular_containers_share_no_device() -> None:
    before = pod("p1", one("a"), one("b"))

    assert refused(before, {**gpus(A, "g1"), **gpus(B, "g1")}) == (
        DevicesUnfit,
        'device g1 of example.com/gpu is given to "a" and "b"',
    )


def test_init_containers_hand_their_devices_on() -> None:
    """S3.2; up to 1.28 sidecars too."""
    before = pod(
        "p1", one("i", kind=ContainerKind.INIT), one("s", kind=ContainerKind.SIDECAR), one("a")
    )

    after = bound(
        before,
        {**gpus(ContainerName("i"), "g1"), **gpus(ContainerName("s"), "g1"), **gpus(A, "g1")},
    )

    assert {each.bound_to(GPU) for each in after.all_containers()} == {ids("g1")}


def test_a_request_with_a_problem_binds_nothing() -> None:
    before = pod("p1", one("a"), one("b", 2))

    assert refused(before, {**gpus(A, "g1"), **gpus(B, "g2")})[0] is DevicesUnfit
    assert [each.compute_devices for each in before.containers] == [(), ()]


def test_devices_of_another_pod_are_refused_if_somebody_looks() -> None:
    """§1.1: revision 1 cannot know; a server that keeps account of nodes can."""

    def holder(resource: ResourceName, device: DeviceId) -> str | None:
        del resource
        return {"g1": "default/other", "g2": "default/name-p1"}.get(device)

    before = pod("p1", one("a"))

    found = bind(before, gpus(A, "g1"), holder)
    assert isinstance(found, DeviceHeld)
    assert told(before, found) == "device g1 of example.com/gpu is bound to pod default/other"
    assert isinstance(bind(before, gpus(A, "g2"), holder), Pod)
    assert isinstance(bind(before, gpus(A, "g3"), holder), Pod)


def test_every_container_that_is_not_there_is_named() -> None:
    asked = {**gpus(ContainerName("x"), "g0"), **gpus(A, "g0"), ContainerName("y"): ()}

    found = bind(pod("p1", one("a")), asked)

    assert found == ContainersMissing((ContainerName("x"), ContainerName("y")))


@pytest.mark.parametrize(
    ("asked", "faults", "message"),
    [
        (
            gpus(B, "g0"),
            [(FaultKind.OTHER_COUNT, 0, 0)],
            'container "b" is limited to 2 example.com/gpu, but 1 device IDs are given',
        ),
        (
            gpus(B, "", "g1"),
            [(FaultKind.NO_DEVICE, 0, 0)],
            'container "b" is given devices of example.com/gpu: a device has no id',
        ),
        (
            bound_devices([((B, ResourceName("")), ids("g1"))]),
            [(FaultKind.NO_RESOURCE, 0, 0)],
            'container "b" is given devices of no resource: no resource is named',
        ),
        (
            bound_devices([((B, GPU), ids("g1", "g2")), ((B, GPU), ids("g3", "g4"))]),
            [(FaultKind.RESOURCE_TWICE, 1, 0)],
            'container "b" is given devices of example.com/gpu: a resource is named twice',
        ),
        (
            bound_devices([((B, GPU), ids("g1", "g1")), ((B, NIC), ids("n1"))]),
            [(FaultKind.DEVICE_TWICE, 0, 1), (FaultKind.NO_LIMIT, 1, 0)],
            'container "b" is given a device of example.com/gpu twice',
        ),
    ],
)
def test_all_that_is_wrong_is_said_with_its_place(
    asked: BoundDevices, faults: list[tuple[FaultKind, int, int]], message: str
) -> None:
    before = pod("p1", one("i", kind=ContainerKind.INIT), one("a"), one("b", 2))

    found = bind(before, asked)

    assert isinstance(found, DevicesUnfit)
    assert [(each.kind, each.entry, each.device) for each in found.faults] == faults
    assert {each.place for each in found.faults} == {2}
    assert told(before, found) == message
