"""The health of devices in the pod status (S9.3 to S9.6)."""

import pytest

from simulator.core.devices import Device, DeviceId
from simulator.core.pods import Container, ContainerKind, ContainerName, Pod, PodUid
from simulator.core.resource_health import (
    ResourceStatus,
    allocated_resources_status,
    changed_health,
    device_health,
)
from simulator.core.resources import ResourceName

GPU = ResourceName("example.com/gpu")
NIC = ResourceName("example.com/nic")
A, B, GONE = DeviceId("a"), DeviceId("b"), DeviceId("gone")
INIT, SIDECAR, APP, IDLE = (ContainerName(name) for name in ("setup", "proxy", "training", "idle"))


@pytest.mark.parametrize(
    ("health", "shown"),
    [
        ("Healthy", "Healthy"),
        ("Unhealthy", "Unhealthy"),
        ("healthy", "Unhealthy"),
        ("", "Unhealthy"),
    ],
)
def test_health_is_what_the_plugin_last_said(health: str, shown: str) -> None:
    """S9.4, S1.5."""
    assert shown == device_health(A, {A: Device(A, health)})


def test_a_device_that_left_the_list_is_shown_as_healthy() -> None:
    """S9.4, X1."""
    assert device_health(GONE, {A: Device(A)}) == "Healthy"


def test_only_regular_containers_have_a_status() -> None:
    """S9.3, X1: the status is sorted by resource and id (S9.5)."""
    pod = Pod(
        PodUid("p"),
        "p",
        init_containers=(
            Container(INIT, kind=ContainerKind.INIT),
            Container(SIDECAR, kind=ContainerKind.SIDECAR),
        ),
        containers=(Container(APP), Container(IDLE)),
    )
    held = {INIT: {GPU: [A]}, SIDECAR: {GPU: [A]}, APP: {NIC: [A], GPU: [B, A, GONE]}}

    status = allocated_resources_status(
        pod,
        held=lambda container: held.get(container, {}),
        devices={GPU: {A: Device(A, "Unhealthy"), B: Device(B)}},
    )

    assert status == {
        APP: (
            ResourceStatus(GPU, ((A, "Unhealthy"), (B, "Healthy"), (GONE, "Healthy"))),
            ResourceStatus(NIC, ((A, "Healthy"),)),
        )
    }


def test_new_and_changed_devices_are_told_and_vanished_ones_are_not() -> None:
    """S9.6."""
    previous = {A: Device(A), GONE: Device(GONE), DeviceId("same"): Device(DeviceId("same"))}
    listed = [Device(B), Device(A, "Unhealthy"), Device(DeviceId("same"))]

    assert changed_health(listed, previous) == (A, B)
