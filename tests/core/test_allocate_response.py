"""ContainerAllocateResponse: what the kubelet's two protobuf runtimes decode, and our own bytes."""

from __future__ import annotations

from base64 import b64decode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.core.allocate_response import (
    AllocateResponse,
    DeviceSpec,
    Mount,
    container_responses,
    decode,
    encode,
    is_decodable,
    rewritten,
)
from simulator.errors import MalformedReplyError

EMPTY = AllocateResponse()


def test_what_a_real_plugin_answered_is_read_and_written_back() -> None:
    """kubelet-behaviour Appendix A6; recording 19 (mounts only)."""
    a6 = b64decode("Cg0KB1ZJU0lCTEUSAmcwGhYKBy9kZXYvZzASBy9kZXYvZzAaAnJ3")
    mounts = b64decode("EggKAi9hEgIvYhIKCgIvYxICL2QYAQ==")

    assert decode(a6) == AllocateResponse(
        envs={"VISIBLE": "g0"}, devices=(DeviceSpec("/dev/g0", "/dev/g0", "rw"),)
    )
    assert decode(mounts) == AllocateResponse(
        mounts=(Mount("/a", "/b"), Mount("/c", "/d", read_only=True))
    )
    assert encode(decode(a6)) == a6
    assert encode(decode(mounts)) == mounts


BYTES = {
    # 1.32.10/DIFFERENCES, "AllocResp bytes": accepted by the newer and by the older runtime.
    "empty": (b"", True, True),
    "not UTF-8": (b"\x0a\x06\x0a\x01A\x12\x01\xff", False, True),
    "unknown field": (b"\x30\x01", True, True),
    "known field of a wrong wire type": (b64decode("CAE="), True, False),
    "map entry without value": (b64decode("CgMKAUE="), True, True),
    "empty map entry": (b64decode("CgA="), True, True),
    "truncated": (b64decode("Cv//"), False, False),
    # The wire format itself.
    "field number 0": (b"\x00\x01", False, False),
    "field number above 2^29": (b"\x80\x80\x80\x80\x10\x00", False, True),
    "tag beyond 32 bits": (b"\x8a\x80\x80\x80\x80\x01\x00", False, True),
    "negative tag": (b"\x80\x80\x80\x80\x40\x00", False, False),
    "end of no group": (b"\x0c", False, False),
    "wire type 6": (b"\x36", False, False),
    "wire type 7": (b"\x37\x00", False, False),
    "unknown fixed64": (b"\x31" + bytes(8), True, True),
    "short fixed64": (b"\x31" + bytes(7), False, False),
    "unknown fixed32": (b"\x35" + bytes(4), True, True),
    "short fixed32": (b"\x35" + bytes(3), False, False),
    "unknown bytes": (b"\x32\x02ab", True, True),
    "short bytes": (b"\x32\x03ab", False, False),
    "unknown group": (b"\x33\x08\x01\x34", True, True),
    "nested groups": (b"\x33\x3b\x3c\x34", True, True),
    "group without end": (b"\x33\x08\x01", False, False),
    "group with another's end": (b"\x33\x08\x01\x3c", False, True),
    "field 0 in a group": (b"\x33\x00\x00\x34", False, True),
    "10,001 groups": (b"\x33" * 10_001 + b"\x34" * 10_001, True, True),
    "10,002 groups": (b"\x33" * 10_002 + b"\x34" * 10_002, False, True),
    "varint without end": (b"\x30\x80", False, False),
    "varint of ten bytes": (b"\x30" + b"\xff" * 9 + b"\x01", True, True),
    "varint above 64 bits": (b"\x30" + b"\xff" * 9 + b"\x02", False, True),
    "varint of eleven bytes": (b"\x30" + b"\xff" * 10 + b"\x01", False, False),
    "negative length": (b"\x0a" + b"\xff" * 9 + b"\x01", False, False),
    "long length": (b"\x0a\x81\x01" + bytes(129), False, False),
    "mount with a wrong wire type": (b"\x12\x02\x08\x01", True, False),
    "mount with an unknown field": (b"\x12\x03\x20\x80\x01", True, True),
    "read_only above 127": (b"\x12\x03\x18\x80\x01", True, True),
    "device with a truncated text": (b"\x1a\x02\x0a\x05", False, False),
    "CDI device with a wrong wire type": (b"\x2a\x02\x08\x01", True, False),
    # Map entries: the older runtime looks neither at types nor at the entry's end.
    "key of a wrong wire type": (b"\x0a\x02\x08\x01", True, False),
    "key that is called a varint": (b"\x0a\x03\x08\x01A", False, True),
    "unknown field in an entry": (b"\x0a\x02\x18\x01", True, True),
    "unknown field over an entry's end": (b"\x0a\x01\x18\x01", False, False),
    "field 0 in an entry": (b"\x0a\x02\x00\x01", False, True),
    "key over the entry's end": (b"\x0a\x02\x0a\x01\x32\x00", False, True),
}


@pytest.mark.parametrize("name", BYTES)
def test_bytes_are_decodable_for_the_runtimes_that_take_them(name: str) -> None:
    data, newer, older = BYTES[name]

    assert is_decodable(data, lenient=True) is newer
    assert is_decodable(data, lenient=False) is older


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b64decode("CgMKAUE="), AllocateResponse(envs={"A": ""})),
        (b64decode("CgA="), AllocateResponse(envs={"": ""})),
        (b"\x0a\x03\x12\x01v\x0a\x03\x0a\x01k", AllocateResponse(envs={"": "v", "k": ""})),
        (
            b"\x22\x03\x0a\x01a\x2a\x03\x0a\x01n",
            AllocateResponse(annotations={"a": ""}, cdi_devices=("n",)),
        ),
        (b"\x12\x02\x18\x05", AllocateResponse(mounts=(Mount(read_only=True),))),
        (b"\x12\x04\x18\x01\x18\x00", AllocateResponse(mounts=(Mount(),))),
        (b"\x1a\x06\x0a\x01a\x0a\x01b", AllocateResponse(devices=(DeviceSpec("b"),))),
    ],
)
def test_absent_and_repeated_fields_have_protobufs_meaning(
    data: bytes, expected: AllocateResponse
) -> None:
    assert decode(data, lenient=True) == expected
    assert decode(data, lenient=False) == expected


def test_the_older_runtime_keeps_bytes_that_are_not_text() -> None:
    data = b"\x0a\x06\x0a\x01A\x12\x01\xff"

    assert decode(data, lenient=False).envs == {"A": "\udcff"}
    assert encode(decode(data, lenient=False)) == data


def test_a_version_without_cdi_does_not_see_the_field() -> None:
    """1.20.2/DIFFERENCES 23; S1.7: the field came with 1.28."""
    data = b"\x2a\x03\x0a\x01n"

    assert decode(data, lenient=False, cdi_devices=False) == EMPTY


def test_the_older_runtime_drops_what_it_does_not_know_when_it_writes_again() -> None:
    """1.32.10/DIFFERENCES: unknown fields are lost; map entries get both of their fields."""
    unknown = b"\x0a\x03\x0a\x01A\x30\x01"
    cdi = b"\x2a\x03\x0a\x01n"
    plain = b"\x0a\x06\x0a\x01A\x12\x01B"

    assert rewritten(unknown, lenient=False, cdi_devices=True) == b"\x0a\x05\x0a\x01A\x12\x00"
    assert (
        rewritten(unknown, lenient=True, cdi_devices=True) == b"\x0a\x05\x0a\x01A\x12\x00\x30\x01"
    )
    assert rewritten(cdi, lenient=False, cdi_devices=True) == cdi
    assert rewritten(cdi, lenient=False, cdi_devices=False) == b""
    assert rewritten(plain, lenient=False, cdi_devices=False) == plain
    with pytest.raises(MalformedReplyError):
        rewritten(b"\x0a", lenient=False, cdi_devices=True)


@pytest.mark.parametrize(
    ("data", "newer", "older"),
    [
        # Of two equal keys the last counts, and the entry is one.
        (
            b"\x0a\x03\x0a\x01A\x0a\x06\x0a\x01A\x12\x01B",
            b"\x0a\x06\x0a\x01A\x12\x01B",
            b"\x0a\x06\x0a\x01A\x12\x01B",
        ),
        # The order of map entries stays.
        (
            b"\x0a\x03\x0a\x01b\x0a\x03\x0a\x01a",
            b"\x0a\x05\x0a\x01b\x12\x00\x0a\x05\x0a\x01a\x12\x00",
            b"\x0a\x05\x0a\x01b\x12\x00\x0a\x05\x0a\x01a\x12\x00",
        ),
        # Fields out of order, at both levels.
        (
            b"\x2a\x00\x12\x05\x12\x01h\x0a\x00",
            b"\x12\x03\x12\x01h\x2a\x00",
            b"\x12\x03\x12\x01h\x2a\x00",
        ),
        # False and empty texts are not written, true is 1, a repeated field stands once.
        (b"\x12\x04\x18\x00\x0a\x00", b"\x12\x00", b"\x12\x00"),
        (b"\x12\x02\x18\x05", b"\x12\x02\x18\x01", b"\x12\x02\x18\x01"),
        (b"\x1a\x06\x0a\x01a\x0a\x01b", b"\x1a\x03\x0a\x01b", b"\x1a\x03\x0a\x01b"),
        # Unknown fields, with short tags, behind the known ones of their message.
        (
            b"\xb0\x80\x00\x01\x12\x04\x20\x07\x0a\x00\x2a\x02\x10\x07",
            b"\x12\x02\x20\x07\x2a\x02\x10\x07\x30\x01",
            b"\x12\x00\x2a\x00",
        ),
        (b"\x0a\x04\x18\x01\x12\x00", b"\x0a\x04\x0a\x00\x12\x00", b"\x0a\x04\x0a\x00\x12\x00"),
    ],
)
def test_a_response_is_written_again_as_the_runtimes_do(
    data: bytes, newer: bytes, older: bytes
) -> None:
    """Seen with google.golang.org/protobuf 1.28 and gogo/protobuf 1.3.2 as Kubernetes uses it."""
    assert rewritten(data, lenient=True, cdi_devices=True) == newer
    assert rewritten(data, lenient=False, cdi_devices=True) == older


def test_maps_are_written_sorted_so_that_equal_answers_have_equal_bytes() -> None:
    one = AllocateResponse(envs={"b": "2", "a": "1"}, annotations={"é": "", "z": ""})
    other = AllocateResponse(envs={"a": "1", "b": "2"}, annotations={"z": "", "é": ""})

    assert encode(one) == encode(other)
    assert encode(one).index(b"a") < encode(one).index(b"b")


def test_long_texts_have_long_lengths() -> None:
    response = AllocateResponse(envs={"A": "x" * 20_000})

    assert encode(response)[:4] == b"\x0a\xa7\x9c\x01"
    assert decode(encode(response)) == response


def test_the_answer_for_several_containers_is_split() -> None:
    first, second = b"\x0a\x05\x0a\x01A\x12\x00", b""

    assert container_responses(b"\x0a\x07" + first + b"\x0a\x00") == (first, second)
    assert container_responses(b"") == ()
    with pytest.raises(MalformedReplyError):
        container_responses(b"\x0a\x07")


texts = st.text(max_size=4)
responses = st.builds(
    AllocateResponse,
    envs=st.dictionaries(texts, texts, max_size=3),
    mounts=st.lists(st.builds(Mount, texts, texts, st.booleans()), max_size=2).map(tuple),
    devices=st.lists(st.builds(DeviceSpec, texts, texts, texts), max_size=2).map(tuple),
    annotations=st.dictionaries(texts, texts, max_size=2),
    cdi_devices=st.lists(texts, max_size=2).map(tuple),
)


@given(responses, st.booleans())
def test_an_answer_survives_writing_and_reading(response: AllocateResponse, lenient: bool) -> None:  # noqa: FBT001 - drawn by hypothesis
    assert decode(encode(response), lenient=lenient) == response
    assert is_decodable(encode(response), lenient=lenient)


@given(responses, st.booleans())
def test_what_a_kubelet_wrote_stays_as_it_is(response: AllocateResponse, lenient: bool) -> None:  # noqa: FBT001 - drawn by hypothesis
    assert rewritten(encode(response), lenient=lenient, cdi_devices=True) == encode(response)


@given(responses, st.data(), st.booleans())
def test_the_quick_check_never_differs_from_decoding(
    response: AllocateResponse,
    data: st.DataObject,
    lenient: bool,  # noqa: FBT001 - drawn by hypothesis
) -> None:
    content = bytearray(encode(response))
    for _ in range(data.draw(st.integers(0, 2))):
        at = data.draw(st.integers(0, len(content)))
        content[at : at + data.draw(st.integers(0, 1))] = data.draw(st.binary(max_size=2))

    try:
        decode(bytes(content), lenient=lenient)
        decodes = True
    except MalformedReplyError:
        decodes = False

    assert is_decodable(bytes(content), lenient=lenient) is decodes
    if decodes:
        again = rewritten(bytes(content), lenient=lenient, cdi_devices=True)

        assert decode(again, lenient=lenient) == decode(bytes(content), lenient=lenient)
        assert again == rewritten(again, lenient=lenient, cdi_devices=True)
