"""How a kubelet decodes a checkpoint: Go's rules for fields, null, repeated keys and types."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress

import pytest

from simulator.core.behavior import CheckpointFormat
from simulator.core.checkpoint.bindings import read_bindings
from simulator.core.checkpoint.decode import decode
from simulator.core.checkpoint.go_json import loads
from simulator.core.checkpoint.go_strings import decoded
from simulator.core.checkpoint.json_values import NESTING_MAX, JsonValue
from simulator.core.checkpoint.parse import parse
from simulator.core.checkpoint.plain_entry import plain_entry
from simulator.core.checkpoint.render import render
from simulator.core.checkpoint.values import Checkpoint, CheckpointEntry, EntryDevices
from simulator.core.devices import DeviceId, NumaNode
from simulator.core.pods import ContainerName, PodUid
from simulator.core.resources import ResourceName
from simulator.errors import CheckpointError, CheckpointSyntaxError, CheckpointTypeError

BARE, V1, V2 = CheckpointFormat.BARE, CheckpointFormat.V1, CheckpointFormat.V2


def read(data: str, form: CheckpointFormat = V2) -> Checkpoint:
    """Decode a Data value without looking at a checksum."""
    return decode(loads(f'{{"Data":{data}}}'.encode()), form)[0]


def read_entry(members: str, form: CheckpointFormat = V2) -> CheckpointEntry:
    entries = read(f'{{"PodDeviceEntries":[{{{members}}}]}}', form).entries
    assert entries is not None
    return entries[0]


def entry(
    pod: str = "",
    container: str = "",
    resource: str = "",
    devices: EntryDevices = None,
    response: bytes | None = None,
) -> CheckpointEntry:
    return CheckpointEntry(
        PodUid(pod), ContainerName(container), ResourceName(resource), devices, response
    )


def ids(*names: str) -> tuple[DeviceId, ...]:
    return tuple(DeviceId(name) for name in names)


@pytest.mark.parametrize("data", ["{}", "null"])
def test_the_data_starts_empty_and_not_null(data: str) -> None:
    """Recordings 31, 32: null or absent leaves the slice and map that the kubelet made."""
    assert read(data) == Checkpoint(V2, (), {})


def test_null_and_empty_are_kept_apart() -> None:
    """S4.8."""
    nulls = read('{"PodDeviceEntries":null,"RegisteredDevices":null}')
    empties = read('{"PodDeviceEntries":[],"RegisteredDevices":{"r":[],"s":null}}')

    assert nulls == Checkpoint(V2, None, None)
    assert empties == Checkpoint(V2, (), {ResourceName("r"): (), ResourceName("s"): None})
    assert read_entry('"DeviceIDs":{"0":null,"1":[]},"AllocResp":""') == entry(
        devices={NumaNode(0): None, NumaNode(1): ()}, response=b""
    )
    assert read_entry('"DeviceIDs":null,"AllocResp":null') == entry()


def test_field_names_match_in_any_case_and_unknown_ones_are_skipped() -> None:
    """Go prefers the exact name and accepts any case, long s and Kelvin sign included."""
    checkpoint = decode(
        loads(
            '{"DATA":{"podDeviceEntrie\u017f":[{"podUID":"u","PODUID2":[{}],"Extra":1}]}}'.encode()
        ),
        V2,
    )[0]

    assert checkpoint.entries == (entry(pod="u"),)


def test_a_null_text_is_left_as_it_is() -> None:
    assert read_entry('"PodUID":"u","PodUID":null,"ContainerName":null') == entry(pod="u")


def test_a_null_id_in_a_list_is_an_empty_one() -> None:
    assert read_entry('"DeviceIDs":{"0":["a",null]}').devices == {NumaNode(0): ids("a", "")}


def test_repeated_data_is_decoded_over_the_first() -> None:
    """Recording 37: registered resources of both stay."""
    value = (
        b'{"Data":{"PodDeviceEntries":null,"RegisteredDevices":{"z":["1"],"y":["1"]}},'
        b'"Data":{"PodDeviceEntries":[],"RegisteredDevices":{"y":["2"]}}}'
    )

    assert decode(loads(value), V2)[0] == Checkpoint(
        V2, (), {ResourceName("z"): ids("1"), ResourceName("y"): ids("2")}
    )


def test_repeated_entries_keep_what_the_second_list_does_not_name() -> None:
    """Go decodes into the elements that are there, also behind the end of a shorter list."""
    first = '[{"PodUID":"a","DeviceIDs":{"0":["x"]},"AllocResp":"AA=="},{"PodUID":"b"}]'
    second = '[{"ContainerName":"c","DeviceIDs":{"1":["y"]}}]'
    third = '[{},{"ContainerName":"d"}]'
    merged = entry("a", "c", "", {NumaNode(0): ids("x"), NumaNode(1): ids("y")}, b"\0")

    twice = read(f'{{"PodDeviceEntries":{first},"PodDeviceEntries":{second}}}')
    thrice = read(
        f'{{"PodDeviceEntries":{first},"PodDeviceEntries":{second},"PodDeviceEntries":{third}}}'
    )
    emptied = read(
        f'{{"PodDeviceEntries":{first},"PodDeviceEntries":[],"PodDeviceEntries":[{{}}]}}'
    )

    assert twice.entries == (merged,)
    assert thrice.entries == (merged, entry("b", "d"))
    assert emptied.entries == (entry(),)


def test_a_repeated_list_of_ids_keeps_what_null_does_not_replace() -> None:
    members = '"DeviceIDs":["a","b"],"DeviceIDs":[null,"c",null]'

    assert read_entry(members, V1).devices == ids("a", "c", "")


def test_repeated_numa_nodes_are_replaced_and_null_drops_all() -> None:
    assert read_entry('"DeviceIDs":{"0":["a"],"00":["b"]}').devices == {NumaNode(0): ids("b")}
    assert read_entry('"DeviceIDs":{"0":["a"]},"DeviceIDs":null,"DeviceIDs":{"1":[]}').devices == {
        NumaNode(1): ()
    }


@pytest.mark.parametrize(
    ("key", "node"),
    [
        ("0", 0),
        ("-1", -1),
        ("+1", 1),
        ("-0", 0),
        ("007", 7),
        ("9223372036854775807", 2**63 - 1),
        ("-9223372036854775808", -(2**63)),
        ("0" * 30 + "1", 1),
    ],
)
def test_a_numa_key_is_what_gos_parse_int_reads(key: str, node: int) -> None:
    assert read_entry(f'"DeviceIDs":{{"{key}":[]}}').devices == {NumaNode(node): ()}


@pytest.mark.parametrize(
    "key", ["", "a", " 1", "1 ", "1.0", "0x1", "1_0", "٣", "9223372036854775808", "1" * 30]
)
def test_a_numa_key_that_is_no_64_bit_integer_is_a_type_error(key: str) -> None:
    """Recording 26."""
    with pytest.raises(CheckpointTypeError, match=r"cannot unmarshal number .* of type int64$"):
        read_entry(f'"DeviceIDs":{{{json.dumps(key)}:[]}}')


@pytest.mark.parametrize(
    ("text", "response"),
    [
        ('""', b""),
        ('"QQ=="', b"A"),
        ('"QR=="', b"A"),
        (r'"Q\r\nQ=\n="', b"A"),
        ('"+/+/"', b"\xfb\xff\xbf"),
        ("[65,0,255]", b"A\x00\xff"),
        ("[null]", b"\x00"),
        ("[]", b""),
        ("null", None),
    ],
)
def test_a_response_is_base64_with_line_ends_or_a_list_of_bytes(
    text: str, response: bytes | None
) -> None:
    """Go's `base64.StdEncoding` skips line ends and does not look at the unused bits."""
    assert read_entry(f'"AllocResp":{text}').response == response


def test_a_null_byte_of_a_repeated_response_is_the_earlier_one() -> None:
    assert read_entry('"AllocResp":"QQ==","AllocResp":[null,null]').response == b"A\0"


@pytest.mark.parametrize(
    "text",
    [
        *('"QQ"', '"QQ="', '"Q"', '"="', '"QQ==QQ=="', '"Q Q="', '"-_-_"', '"é"', '"QQ==="'),
        *(
            '"QUJD="',
            '"QUJD=="',
            '"QUJD==="',
            '"QUJD===="',
            '"===="',
            '"A==="',
            '"QQ=\\n"',
            '"\\r=\\n"',
        ),
    ],
)
def test_a_response_that_is_not_base64_is_a_type_error(text: str) -> None:
    """Recording 06; the URL alphabet, missing and excess padding are not Go's standard encoding.

    Each was given to Go 1.19.8 and 1.27.3, which made the recordings.
    """
    with pytest.raises(CheckpointTypeError, match="illegal base64 data at input byte"):
        read_entry(f'"AllocResp":{text}')
    plain = f'"PodUID":"","ContainerName":"","ResourceName":"","DeviceIDs":{{}},"AllocResp":{text}'
    with pytest.raises(CheckpointTypeError, match="illegal base64 data at input byte"):
        read_entry(plain)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ("1", "number into Go struct field Data.Data of type checkpoint.checkpointData"),
        (
            '{"PodDeviceEntries":{}}',
            (
                "object into Go struct field checkpointData.Data.PodDeviceEntries "
                "of type []checkpoint.PodDevicesEntry"
            ),
        ),
        (
            '{"PodDeviceEntries":["x"]}',
            (
                "string into Go struct field checkpointData.Data.PodDeviceEntries "
                "of type checkpoint.PodDevicesEntry"
            ),
        ),
        (
            '{"PodDeviceEntries":[{"PodUID":true}]}',
            "bool into Go struct field PodDevicesEntry.Data.PodDeviceEntries.PodUID of type string",
        ),
        (
            '{"PodDeviceEntries":[{"DeviceIDs":["a"]}]}',
            (
                "array into Go struct field PodDevicesEntry.Data.PodDeviceEntries.DeviceIDs "
                "of type checkpoint.DevicesPerNUMA"
            ),
        ),
        (
            '{"PodDeviceEntries":[{"DeviceIDs":{"0":"a"}}]}',
            (
                "string into Go struct field PodDevicesEntry.Data.PodDeviceEntries.DeviceIDs "
                "of type []string"
            ),
        ),
        (
            '{"PodDeviceEntries":[{"DeviceIDs":{"0":[1]}}]}',
            (
                "number into Go struct field PodDevicesEntry.Data.PodDeviceEntries.DeviceIDs "
                "of type string"
            ),
        ),
        (
            '{"PodDeviceEntries":[{"AllocResp":{}}]}',
            (
                "object into Go struct field PodDevicesEntry.Data.PodDeviceEntries.AllocResp "
                "of type []uint8"
            ),
        ),
        (
            '{"PodDeviceEntries":[{"AllocResp":[256]}]}',
            (
                "number 256 into Go struct field PodDevicesEntry.Data.PodDeviceEntries.AllocResp "
                "of type uint8"
            ),
        ),
        (
            '{"RegisteredDevices":[]}',
            (
                "array into Go struct field checkpointData.Data.RegisteredDevices "
                "of type map[string][]string"
            ),
        ),
        (
            '{"RegisteredDevices":{"r":"x"}}',
            "string into Go struct field checkpointData.Data.RegisteredDevices of type []string",
        ),
    ],
)
def test_a_value_of_a_wrong_type_gets_gos_error(data: str, reason: str) -> None:
    with pytest.raises(CheckpointTypeError) as raised:
        read(data)

    assert str(raised.value) == f"json: cannot unmarshal {reason}"


def test_the_map_of_v2_is_a_type_error_for_a_kubelet_of_v1() -> None:
    """1.20.2/DIFFERENCES 27: a downgrade."""
    with pytest.raises(
        CheckpointTypeError, match=r"cannot unmarshal object .* of type \[\]string$"
    ):
        read_entry('"DeviceIDs":{"0":["a"]}', V1)


@pytest.mark.parametrize("text", ["[]", '"x"', "true", "1"])
def test_a_file_that_is_no_object_is_a_type_error(text: str) -> None:
    with pytest.raises(CheckpointTypeError, match=r"into Go value of type checkpoint\.Data$"):
        parse(text.encode(), {V2})


@pytest.mark.parametrize(
    "number", ["-1", "1.5", "1e3", "-0", "18446744073709551616", "1" * 30, '"1"', "true", "[]"]
)
def test_a_checksum_that_is_no_unsigned_64_bit_number_is_a_type_error(number: str) -> None:
    """Recordings 23, 24."""
    with pytest.raises(CheckpointTypeError, match=r"of type checksum\.Checksum$"):
        parse(f'{{"Data":null,"Checksum":{number}}}'.encode(), {V2})


@pytest.mark.parametrize(
    ("members", "found"),
    [
        ("", 0),
        (',"Checksum":null', 0),
        (',"Checksum":5,"Checksum":null', 5),
        (',"checksum":5,"CHECKSUM":6', 6),
        (',"Checksum":18446744073709551615', 2**64 - 1),
    ],
)
def test_the_last_checksum_counts_and_null_leaves_it(members: str, found: int) -> None:
    assert decode(loads(f'{{"Data":null{members}}}'.encode()), V2)[1] == found


def nested(levels: int) -> JsonValue:
    value: JsonValue = []
    for _ in range(levels - 1):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("outside", "around"),
    [
        (0, lambda deep: deep),
        (1, lambda deep: (("Checksum", deep),)),
        (4, lambda deep: (("Data", (("PodDeviceEntries", [(("New", deep),)]),)),)),
        (4, lambda deep: (("Data", (("PodDeviceEntries", [(("PodUID", deep),)]),)),)),
        (1, lambda deep: (("Checksum", "x"), ("New", deep))),
    ],
)
def test_a_value_that_nests_too_deep_is_a_syntax_error_wherever_it_stands(
    outside: int, around: Callable[[JsonValue], JsonValue]
) -> None:
    """Go reads 10,000 levels, and counts them before it looks at types."""
    with suppress(CheckpointTypeError):
        decode(around(nested(NESTING_MAX - outside)), V2)

    with pytest.raises(CheckpointSyntaxError, match="exceeded max depth"):
        decode(around(nested(NESTING_MAX - outside + 1)), V2)


def test_a_bare_file_has_no_checksum_to_compare() -> None:
    checkpoint = parse(b'{"PodDeviceEntries":[{"DeviceIDs":["a"]}]}', {BARE})

    assert checkpoint == Checkpoint(BARE, (entry(devices=ids("a")),), {})
    assert render(checkpoint) == (
        b'{"PodDeviceEntries":[{"PodUID":"","ContainerName":"","ResourceName":"",'
        b'"DeviceIDs":["a"],"AllocResp":null}],"RegisteredDevices":{}}'
    )


V1_FILE = (
    b'{"Data":{"PodDeviceEntries":[{"PodUID":"pod-a","ContainerName":"main",'
    b'"ResourceName":"vendor.com/gpu","DeviceIDs":null,"AllocResp":""}],'
    b'"RegisteredDevices":{"vendor.com/gpu":["gpu0","gpu1","gpu2"]}},"Checksum":1857536070}'
)


def test_a_kubelet_that_reads_both_formats_takes_the_one_that_fits() -> None:
    """S4.15; the file is recording "v1-05", whose text V2 can decode but not verify."""
    checkpoint = parse(V1_FILE, {V1, V2})
    bindings = read_bindings(checkpoint, lenient=False).bindings

    assert checkpoint.format is V1
    assert [dict(binding.devices) for binding in bindings] == [{0: ()}]


def test_the_first_format_s_error_is_reported_when_none_fits() -> None:
    """1.23 to 1.29 return the error of V2 after V1 failed too."""
    with pytest.raises(CheckpointTypeError, match=r"checkpoint\.DevicesPerNUMA$"):
        parse(b'{"Data":{"PodDeviceEntries":[{"DeviceIDs":[]}]},"Checksum":1}', {V1, V2})


def test_to_read_in_no_format_is_misuse() -> None:
    with pytest.raises(CheckpointError, match="no format"):
        parse(V1_FILE, ())


def test_strings_are_encoded_strictly() -> None:
    """The replacement of bytes is for reading only."""
    assert decoded(b"a\xff") == "a\ufffd"
    with pytest.raises(UnicodeEncodeError):
        "\udcff".encode("utf-8", "rebind.go")


PLAIN = (
    '"PodUID":"p"',
    '"ContainerName":"c"',
    '"ResourceName":"r"',
    '"DeviceIDs":{"-1":["a"],"63":["b","c"],"0":[]}',
    '"AllocResp":"QQ=="',
)


@pytest.mark.parametrize(
    "odd",
    [
        "",
        '"DeviceIDs":{"64":["a"]}',
        '"DeviceIDs":{"00":["a"]}',
        '"DeviceIDs":{"0":null}',
        '"DeviceIDs":{"0":["a",null]}',
        '"DeviceIDs":null',
        '"AllocResp":null',
        r'"AllocResp":"Q\nQ=="',
        '"AllocResp":[1]',
        '"PodUID":null',
    ],
)
def test_the_quick_way_through_usual_entries_gives_what_the_long_way_gives(odd: str) -> None:
    """Members in another order are not taken for a usual entry, and mean the same."""
    name = odd.partition(":")[0]
    members = [odd if name == each.partition(":")[0] else each for each in PLAIN]

    assert read_entry(",".join(members)) == read_entry(",".join(reversed(members)))


def test_usual_entries_take_the_quick_way() -> None:
    value = loads(f"{{{','.join(PLAIN)}}}".encode())
    nodes = {NumaNode(-1): ids("a"), NumaNode(63): ids("b", "c"), NumaNode(0): ()}

    assert plain_entry(value) == entry("p", "c", "r", nodes, b"A")
    assert plain_entry([]) is None
    assert plain_entry(()) is None
