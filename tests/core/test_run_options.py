"""Merging AllocateResponses: TestDeviceRunContainerOptions and S10.1 to S10.7."""

from itertools import permutations

import pytest

from simulator.core.allocate_response import AllocateResponse, DeviceSpec, Mount
from simulator.core.resources import ResourceName
from simulator.core.run_options import (
    Conflict,
    DeviceRunContainerOptions,
    Setting,
    merge_responses,
)

GPU = ResourceName("example.com/gpu")
NIC = ResourceName("example.com/nic")
NOTHING = DeviceRunContainerOptions(envs={}, mounts=(), devices=(), annotations={}, cdi_devices=())


def test_device_run_container_options_of_an_empty_response_are_empty() -> None:
    """TestDeviceRunContainerOptions."""
    merged = merge_responses([(ResourceName("resource1"), AllocateResponse())])

    assert merged.options == NOTHING
    assert merged.conflicts == ()


@pytest.mark.parametrize(
    ("offered", "names"),
    [
        (
            [("vendor1.com/class1=device1", "vendor2.com/class2=device2")],
            {"vendor1.com/class1=device1", "vendor2.com/class2=device2"},
        ),
        (
            [("v1/c=d1", "v2/c=d2"), ("v3/c=d3", "v4/c=d4")],
            {"v1/c=d1", "v2/c=d2", "v3/c=d3", "v4/c=d4"},
        ),
        ([("v1=d1", "v2=d2"), ("v2=d2", "v3=d3")], {"v1=d1", "v2=d2", "v3=d3"}),
    ],
)
def test_device_run_container_options_name_each_cdi_device_once(
    offered: list[tuple[str, ...]], names: set[str]
) -> None:
    """TestDeviceRunContainerOptions; S10.6."""
    merged = merge_responses(
        (ResourceName(f"resource{index}"), AllocateResponse(cdi_devices=devices))
        for index, devices in enumerate(offered, start=1)
    )

    assert names == set(merged.options.cdi_devices)
    assert len(names) == len(merged.options.cdi_devices)
    assert merged.conflicts == ()


GPU_RESPONSE = AllocateResponse(
    envs={"VISIBLE": "g0", "SAME": "1"},
    mounts=(Mount("/lib", "/usr/lib/gpu", read_only=True), Mount("/etc/x", "/etc/x")),
    devices=(DeviceSpec("/dev/d0", "/dev/g0", "rw"), DeviceSpec("/dev/ctl", "/dev/ctl", "r")),
    annotations={"a": "gpu"},
)
NIC_RESPONSE = AllocateResponse(
    envs={"VISIBLE": "n0", "SAME": "1", "NIC": "n0"},
    mounts=(Mount("/lib", "/usr/lib/nic"), Mount("/etc/x", "/etc/x", read_only=True)),
    devices=(DeviceSpec("/dev/d0", "/dev/n0", "rwm"), DeviceSpec("/dev/ctl", "/dev/ctl", "rw")),
    annotations={"a": "nic"},
)


def test_the_first_resource_by_name_wins_and_conflicts_are_told() -> None:
    """S10.2 to S10.5, S10.7: other permissions or another read_only alone are no conflict."""
    for order in permutations([(GPU, GPU_RESPONSE), (NIC, NIC_RESPONSE)]):
        merged = merge_responses(order)

        assert merged.options == DeviceRunContainerOptions(
            envs={"VISIBLE": "g0", "SAME": "1", "NIC": "n0"},
            mounts=GPU_RESPONSE.mounts,
            devices=GPU_RESPONSE.devices,
            annotations={"a": "gpu"},
            cdi_devices=(),
        )
        assert merged.conflicts == (
            Conflict(Setting.ENV, "VISIBLE", "g0", "n0", NIC),
            Conflict(Setting.DEVICE, "/dev/d0", "/dev/g0", "/dev/n0", NIC),
            Conflict(Setting.MOUNT, "/lib", "/usr/lib/gpu", "/usr/lib/nic", NIC),
            Conflict(Setting.ANNOTATION, "a", "gpu", "nic", NIC),
        )


def test_one_response_can_conflict_with_itself() -> None:
    """S10.3: keyed by path in the container, whoever offers it."""
    twice = AllocateResponse(
        devices=(DeviceSpec("/dev/d", "/dev/0"), DeviceSpec("/dev/d", "/dev/1"))
    )

    merged = merge_responses([(GPU, twice)])

    assert merged.options.devices == (DeviceSpec("/dev/d", "/dev/0"),)
    assert merged.conflicts == (Conflict(Setting.DEVICE, "/dev/d", "/dev/0", "/dev/1", GPU),)
