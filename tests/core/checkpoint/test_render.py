"""Writing: Go's escapes of both times, key order, and bytes that are not UTF-8."""

from __future__ import annotations

import pytest

from simulator.core.behavior import CheckpointFormat
from simulator.core.checkpoint.bindings import (
    checkpoint_of,
    entry_of,
    read_bindings,
    with_rewritten_responses,
)
from simulator.core.checkpoint.go_strings import quoted
from simulator.core.checkpoint.render import render, render_entry, render_registered
from simulator.core.checkpoint.values import Checkpoint, CheckpointEntry
from simulator.core.devices import DeviceId, NumaNode
from simulator.core.pods import ContainerName, PodUid
from simulator.core.resources import ResourceName
from simulator.core.transitions import DeviceBinding

V1, V2 = CheckpointFormat.V1, CheckpointFormat.V2
UID, CONTAINER, GPU = PodUid("pod-a"), ContainerName("main"), ResourceName("v.com/r")


@pytest.mark.parametrize(
    ("text", "written", "legacy"),
    [
        ("plain é 😀 \x7f", '"plain é 😀 \x7f"', None),
        ('"\\', r'"\"\\"', None),
        ("<>&", r'"\u003c\u003e\u0026"', None),
        ("\u2028\u2029", r'"\u2028\u2029"', None),
        ("\n\r\t", r'"\n\r\t"', None),
        ("\0\x1f", r'"\u0000\u001f"', None),
        ("\b\f", r'"\b\f"', r'"\u0008\u000c"'),
        ("\ufffd", '"\ufffd"', None),
        ("bad-\udcff\udcfe", '"bad-\ufffd\ufffd"', r'"bad-\ufffd\ufffd"'),
    ],
)
def test_a_string_is_quoted_as_go_of_either_time_does(
    text: str, written: str, legacy: str | None
) -> None:
    """S4.2; 1.20.2/DIFFERENCES 24: None where older Go writes the same."""
    assert quoted(text, legacy_escapes=False) == written
    assert quoted(text, legacy_escapes=True) == (legacy or written)


def test_json_keys_are_sorted_as_texts_and_the_dump_by_number() -> None:
    """S4.5, S4.6: "-1" < "0" < "1" < "10" < "2" in the file."""
    devices = {NumaNode(node): (DeviceId(f"d{node}"),) for node in (10, 2, 1, 0, -1)}
    entry = CheckpointEntry(UID, CONTAINER, GPU, devices, None)

    written = render_entry(entry, legacy_escapes=False)

    assert b'{"-1":["d-1"],"0":["d0"],"1":["d1"],"10":["d10"],"2":["d2"]}' in written


def test_resources_are_sorted_by_their_bytes() -> None:
    names = [ResourceName(name) for name in ("é", "z", "a", "😀", "\uffff")]

    written = render_registered(dict.fromkeys(names, ()), legacy_escapes=False).decode()

    assert written == '{"a":[],"z":[],"é":[],"\uffff":[],"😀":[]}'


@pytest.mark.parametrize(
    ("legacy_escapes", "id_written"), [(False, "bad-\ufffd\ufffd"), (True, r"bad-\ufffd\ufffd")]
)
def test_an_id_that_is_not_utf8_is_hashed_as_it_is_and_written_replaced(
    *, legacy_escapes: bool, id_written: str
) -> None:
    """Recording "corrupt/38": the real code writes a file that it cannot read itself."""
    entry = CheckpointEntry(
        UID, CONTAINER, GPU, {NumaNode(0): (DeviceId("bad-\udcff\udcfe"),)}, b""
    )
    checkpoint = Checkpoint(V2, (entry,), {GPU: (DeviceId("ok"),)})

    assert render(checkpoint, legacy_escapes=legacy_escapes).decode() == (
        '{"Data":{"PodDeviceEntries":[{"PodUID":"pod-a","ContainerName":"main",'
        f'"ResourceName":"v.com/r","DeviceIDs":{{"0":["{id_written}"]}},"AllocResp":""}}],'
        '"RegisteredDevices":{"v.com/r":["ok"]}},"Checksum":1057574165}'
    )


def test_a_binding_becomes_a_sorted_list_in_format_v1() -> None:
    """S4.3: one list of ids."""
    devices = {NumaNode(1): (DeviceId("b"), DeviceId("a")), NumaNode(0): (DeviceId("b"),)}
    binding = DeviceBinding(UID, CONTAINER, GPU, devices, b"")

    assert entry_of(binding, V1).devices == (DeviceId("a"), DeviceId("b"))
    assert entry_of(binding, V2).devices == devices


def test_a_checkpoint_without_bindings_has_null_entries() -> None:
    """S4.2."""
    assert checkpoint_of((), (), V2) == Checkpoint(V2, None, {})


def test_bindings_are_those_of_the_last_entry_and_skip_what_cannot_be_decoded() -> None:
    """S4.13; recordings 27 and 30. The null device list of a V2 entry holds nothing."""
    first = CheckpointEntry(UID, CONTAINER, GPU, {NumaNode(0): (DeviceId("gpu0"),)}, b"")
    last = CheckpointEntry(UID, CONTAINER, GPU, None, b"")
    bad = CheckpointEntry(PodUid("pod-b"), CONTAINER, GPU, None, b"\x0a\xff\xff")

    read = read_bindings(Checkpoint(V2, (first, bad, last), {}), lenient=True)

    assert read.bindings == (DeviceBinding(UID, CONTAINER, GPU, {}, b""),)
    assert read.repeated == (first,)
    assert read.skipped == (bad,)


def test_a_kubelet_writes_its_own_reading_of_a_response() -> None:
    """S4.8: null becomes empty; 1.20.2/DIFFERENCES 23: CDI devices are lost where unknown."""
    plain, absent, cdi = (
        DeviceBinding(UID, CONTAINER, GPU, {}, response)
        for response in (b"\x0a\x06\x0a\x01A\x12\x01B", None, b"\x2a\x03\x0a\x01n")
    )

    newer = with_rewritten_responses([plain, absent, cdi], lenient=True, cdi_devices=True)
    older = with_rewritten_responses([plain, absent, cdi], lenient=False, cdi_devices=False)

    assert [binding.response for binding in newer] == [plain.response, b"", cdi.response]
    assert [binding.response for binding in older] == [plain.response, b"", b""]
    assert newer[0] is plain
    assert newer[2] is cdi
