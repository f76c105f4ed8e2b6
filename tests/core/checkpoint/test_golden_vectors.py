"""Appendix A of kubelet-behaviour.md: files of the real 1.36.2 code, and their checksums."""

from __future__ import annotations

import pytest

from simulator.core.allocate_response import AllocateResponse, DeviceSpec, decode
from simulator.core.behavior import CheckpointFormat
from simulator.core.checkpoint.dump import checksum, dump
from simulator.core.checkpoint.parse import parse
from simulator.core.checkpoint.render import render
from simulator.errors import CheckpointTypeError, CorruptCheckpointError

V2 = frozenset({CheckpointFormat.V2})

NO_ENTRIES = '{"Data":{"PodDeviceEntries":null,"RegisteredDevices":{%s}},"Checksum":%d}'
ONE_ENTRY = (
    '{"Data":{"PodDeviceEntries":[{"PodUID":"u1","ContainerName":"c",'
    '"ResourceName":"example.com/gpu","DeviceIDs":%s,"AllocResp":%s}],'
    '"RegisteredDevices":{%s}},"Checksum":%d}'
)
VECTORS = {
    "A1": (NO_ENTRIES % ("", 3467439661), 3467439661),
    "A2": (
        '{"Data":{"PodDeviceEntries":[],"RegisteredDevices":{}},"Checksum":2932075448}',
        2932075448,
    ),
    "A3": (NO_ENTRIES % ('"example.com/gpu":[]', 2838580107), 2838580107),
    "A4": (
        NO_ENTRIES % ('"a.io/nic":["n0"],"example.com/gpu":["g1","g0"]', 401642972),
        401642972,
    ),
    "A5": (
        ONE_ENTRY % ('{"-1":["g0"]}', "null", '"example.com/gpu":["g0","g1"]', 2923935316),
        2923935316,
    ),
    "A6": (
        ONE_ENTRY
        % (
            '{"0":["g0","g2"],"1":["g1"],"10":["g10"]}',
            '"Cg0KB1ZJU0lCTEUSAmcwGhYKBy9kZXYvZzASBy9kZXYvZzAaAnJ3"',
            '"example.com/gpu":["g0","g1"]',
            1380764232,
        ),
        1380764232,
    ),
    "A7": (
        ONE_ENTRY
        % (
            '{"-1":["g1","g2"]}',
            '"CgwKAUQSB1tnMSBnMl0="',
            '"example.com/gpu":["g3","g0","g1","g2"]',
            1936297447,
        ),
        1936297447,
    ),
    "A8": (ONE_ENTRY % ('{"-1":["g0"]}', '"CgkKAUQSBFtnMF0="', "", 2365989147), 2365989147),
}
A6_HASHED_TEXT = (
    "(checkpoint.checkpointData){PodDeviceEntries:([]checkpoint.PodDevicesEntry)"
    "[{PodUID:(string)u1 ContainerName:(string)c ResourceName:(string)example.com/gpu "
    "DeviceIDs:(checkpoint.DevicesPerNUMA)map[0:[g0 g2] 1:[g1] 10:[g10]] AllocResp:([]uint8)"
    "[10 13 10 7 86 73 83 73 66 76 69 18 2 103 48 26 22 10 7 47 100 101 118 47 103 48 18 7 47 100 "
    "101 118 47 103 48 26 2 114 119]}] "
    "RegisteredDevices:(map[string][]string)map[example.com/gpu:[g0 g1]]}"
)


@pytest.mark.parametrize("name", VECTORS)
def test_a_golden_vector_has_the_real_checksum_and_is_written_back_byte_for_byte(name: str) -> None:
    text, expected = VECTORS[name]

    checkpoint = parse(text.encode(), V2)

    assert checksum(dump(checkpoint)) == expected
    assert render(checkpoint) == text.encode()


def test_the_hashed_text_of_a6_is_the_real_one() -> None:
    assert dump(parse(VECTORS["A6"][0].encode(), V2)).decode() == A6_HASHED_TEXT


@pytest.mark.parametrize(
    ("name", "envs", "devices"),
    [
        ("A6", {"VISIBLE": "g0"}, (DeviceSpec("/dev/g0", "/dev/g0", "rw"),)),
        ("A7", {"D": "[g1 g2]"}, ()),
        ("A8", {"D": "[g0]"}, ()),
    ],
)
def test_the_responses_of_the_vectors_decode(
    name: str, envs: dict[str, str], devices: tuple[DeviceSpec, ...]
) -> None:
    entries = parse(VECTORS[name][0].encode(), V2).entries

    assert entries is not None
    assert entries[0].response is not None
    assert decode(entries[0].response) == AllocateResponse(envs=envs, devices=devices)


def test_a1_with_checksum_1_is_corrupted() -> None:
    text = NO_ENTRIES % ("", 1)

    with pytest.raises(CorruptCheckpointError, match=r"^checkpoint is corrupted$") as raised:
        parse(text.encode(), V2)

    assert raised.value.found == 1
    assert raised.value.computed == 3467439661


def test_device_ids_as_a_list_are_a_type_error_for_a_kubelet_that_reads_v2_only() -> None:
    """S4.15."""
    text = ONE_ENTRY % ('["d0"]', "null", "", 1)

    with pytest.raises(
        CheckpointTypeError,
        match=r"^json: cannot unmarshal array into Go struct field .*DeviceIDs "
        r"of type checkpoint\.DevicesPerNUMA$",
    ):
        parse(text.encode(), V2)
