"""What a file is, and what is odd about it."""

from __future__ import annotations

import pytest

from simulator.core.behavior import CheckpointFormat
from simulator.core.checkpoint.findings import findings
from simulator.core.checkpoint.recognition import inspect
from simulator.core.checkpoint.render import render
from simulator.core.checkpoint.values import Checkpoint, CheckpointEntry, EntryDevices
from simulator.core.devices import DeviceId, NumaNode
from simulator.core.pods import ContainerName, PodUid
from simulator.core.resources import ResourceName
from simulator.errors import CheckpointTypeError

V1, V2 = CheckpointFormat.V1, CheckpointFormat.V2
R = ResourceName("v.com/r")
D0, D1 = DeviceId("d0"), DeviceId("d1")


def entry(
    pod: str, devices: EntryDevices, response: bytes | None = b"", container: str = "c"
) -> CheckpointEntry:
    return CheckpointEntry(PodUid(pod), ContainerName(container), R, devices, response)


def messages(
    *entries: CheckpointEntry, registered: dict[ResourceName, tuple[DeviceId, ...]]
) -> list[str]:
    checkpoint = Checkpoint(V2, entries, registered)
    return [each.message for each in findings(checkpoint, render(checkpoint))]


@pytest.mark.parametrize("form", [V1, V2])
def test_null_device_lists_leave_the_format_to_the_checksum(form: CheckpointFormat) -> None:
    """The dump names the type of DeviceIDs (1.20.2 recording "v1-05")."""
    checkpoint = Checkpoint(form, (entry("p", None),), {})

    inspection = inspect(render(checkpoint))

    assert inspection.is_valid
    assert inspection.checkpoint == checkpoint


def test_a_wrong_checksum_with_null_lists_is_reported_as_v2() -> None:
    content = b'{"Data":{"PodDeviceEntries":[{"DeviceIDs":null}]},"Checksum":1}'

    inspection = inspect(content)

    assert inspection.checkpoint.format is V2
    assert inspection.found == 1
    assert not inspection.is_valid


def test_lists_and_maps_in_one_file_are_a_type_error() -> None:
    with pytest.raises(CheckpointTypeError):
        inspect(b'{"Data":{"PodDeviceEntries":[{"DeviceIDs":[]},{"DeviceIDs":{}}]},"Checksum":1}')


def test_a_file_without_oddities_has_no_findings() -> None:
    held = entry("p", {NumaNode(0): (D0,)})

    assert messages(held, registered={R: (D0, D1)}) == []


def test_sharing_within_one_pod_is_not_odd() -> None:
    """S3.2: an init container's devices are handed on."""
    init = entry("p", {NumaNode(0): (D0,)}, container="init")
    app = entry("p", {NumaNode(0): (D0,)}, container="app")

    assert messages(init, app, registered={R: (D0,)}) == []


def test_two_pods_with_one_device_are_named() -> None:
    one, other = entry("p", {NumaNode(0): (D0,)}), entry("q", {NumaNode(-1): (D0, D1)})

    assert messages(one, other, registered={R: (D0, D1)}) == [
        "device d0 of v.com/r is held by 2 pods: p, q"
    ]


def test_devices_of_an_unregistered_resource_are_named() -> None:
    one, other = entry("p", {NumaNode(0): (D1,)}), entry("q", {NumaNode(0): (D0,)})

    assert messages(one, other, registered={}) == [
        "devices of v.com/r are held, but the resource is not registered: d1, d0"
    ]


def test_an_entry_without_devices_of_an_unregistered_resource_is_named_too() -> None:
    assert messages(entry("p", None), registered={}) == [
        "devices of v.com/r are held, but the resource is not registered: none"
    ]


def test_held_devices_that_are_not_healthy_are_named() -> None:
    """S4.4: only healthy ids are written."""
    assert messages(entry("p", {NumaNode(0): (D0, D1)}), registered={R: (D1,)}) == [
        "held, but not among the healthy devices of v.com/r: d0"
    ]


def test_an_entry_that_is_written_twice_is_named() -> None:
    again = entry("p", {NumaNode(0): (D0,)})

    assert messages(again, again, registered={R: (D0,)}) == [
        "pod p, container c, resource v.com/r stands more than once: the last entry counts"
    ]


@pytest.mark.parametrize(
    ("response", "who"),
    [
        (b"\x0a\xff\xff", "every kubelet skips"),
        (b"\x08\x01", "kubelets up to the time of 1.32 skip"),
        (b"\x0a\x03\x0a\x01\xff", "kubelets of the time of 1.36 skip"),
    ],
)
def test_an_entry_whose_response_cannot_be_decoded_is_named(response: bytes, who: str) -> None:
    """S4.13, 1.32.10/DIFFERENCES "AllocResp bytes"."""
    assert messages(entry("p", None, response), registered={R: ()}) == [
        f"the response of pod p, container c, resource v.com/r cannot be decoded: {who} the entry"
    ]


def test_a_reindented_file_is_not_what_a_kubelet_writes() -> None:
    checkpoint = Checkpoint(V2, None, {})

    found = findings(checkpoint, render(checkpoint).replace(b",", b", "))

    assert [each.oddity.value for each in found] == ["bytesDiffer"]
