"""Files of the shapes seen in the field (field-reports F01 to F13), each with its real checksum."""

from __future__ import annotations

from pathlib import Path

import pytest

from simulator.core.behavior import CheckpointFormat
from simulator.core.checkpoint.bindings import read_bindings
from simulator.core.checkpoint.findings import Oddity, findings
from simulator.core.checkpoint.parse import parse
from simulator.core.checkpoint.recognition import inspect
from simulator.core.devices import device_ids
from simulator.errors import CheckpointError, CheckpointSyntaxError, ForeignCheckpointError

FILES = Path(__file__).parent / "files"
V1 = frozenset({CheckpointFormat.V1})
V2 = frozenset({CheckpointFormat.V2})


def field_file(name: str) -> bytes:
    return (FILES / f"{name}.json").read_bytes()


GOOD = field_file("two-devices-on-one-node")
DAMAGED = {
    "empty": b"",
    "brace": b"{",
    "cut at 60 %": GOOD[: len(GOOD) * 6 // 10],
    "byte order mark": b"\xef\xbb\xbf" + GOOD,
    "checksum off by one": GOOD.replace(b"2885402632", b"2885402633"),
}


@pytest.mark.parametrize(
    ("name", "form", "oddities"),
    [
        ("v1", CheckpointFormat.V1, {Oddity.BYTES_DIFFER}),
        ("two-devices-on-one-node", CheckpointFormat.V2, set()),
        ("time-slice-without-topology", CheckpointFormat.V2, set()),
        ("no-entries", CheckpointFormat.V2, set()),
        ("device-on-two-nodes", CheckpointFormat.V2, set()),
        ("device-under-two-pods", CheckpointFormat.V1, {Oddity.HELD_BY_TWO_PODS}),
        ("registered-without-healthy", CheckpointFormat.V2, {Oddity.DEVICE_NOT_HEALTHY}),
        ("init-and-app-share", CheckpointFormat.V2, set()),
        ("bare", CheckpointFormat.BARE, {Oddity.BYTES_DIFFER}),
        ("boot-id-beside-data", CheckpointFormat.V2, {Oddity.BYTES_DIFFER}),
    ],
)
def test_a_file_from_the_field_is_valid_and_its_oddities_are_named(
    name: str, form: CheckpointFormat, oddities: set[Oddity]
) -> None:
    """The keys of F01, F09 are not sorted, as Go's writer would have them."""
    content = field_file(name)

    inspection = inspect(content)

    assert inspection.is_valid
    assert inspection.checkpoint.format is form
    found = {finding.oddity for finding in findings(inspection.checkpoint, content)}
    assert found == oddities


def test_v1_ids_are_put_under_numa_node_0() -> None:
    """S4.15, details 17."""
    bindings = read_bindings(parse(field_file("v1"), V1), lenient=False).bindings

    assert [dict(binding.devices) for binding in bindings] == [
        {0: ("GPU-1f0a7c3e-52b4-4d19-9e6a-0c8d3b7a51e0",)},
        {0: ("0000:5e:02.1", "0000:5e:02.4")},
    ]


def test_a_device_near_two_nodes_counts_once() -> None:
    binding = read_bindings(parse(field_file("device-on-two-nodes"), V2), lenient=True).bindings[0]

    assert dict(binding.devices) == {0: ("0000:d3:00.4",), 1: ("0000:d3:00.4",)}
    assert device_ids(binding.devices) == ("0000:d3:00.4",)


def test_a_tail_left_by_a_shorter_rewrite_is_a_syntax_error_at_its_first_byte() -> None:
    """R52: the good beginning is never taken."""
    content = field_file("tail-of-an-older-file")
    with pytest.raises(
        CheckpointSyntaxError, match=r"^invalid character '-' after top-level value$"
    ) as caught:
        inspect(content)

    assert caught.value.offset == len(field_file("no-entries"))


@pytest.mark.parametrize(("name", "offset"), [("empty", 0), ("brace", 1), ("byte order mark", 0)])
def test_a_syntax_error_says_where_the_reader_gives_up(name: str, offset: int) -> None:
    with pytest.raises(CheckpointSyntaxError) as caught:
        inspect(DAMAGED[name])

    assert caught.value.offset == offset


def test_the_cpu_managers_state_is_called_by_its_name() -> None:
    with pytest.raises(ForeignCheckpointError, match="cpu_manager_state"):
        inspect(field_file("cpu-manager-state"))


@pytest.mark.parametrize("name", DAMAGED)
def test_damage_seen_in_the_field_is_refused(name: str) -> None:
    """F13."""
    with pytest.raises(CheckpointError):
        parse(DAMAGED[name], V2)


def test_a_newline_at_the_end_does_no_harm() -> None:
    assert parse(GOOD + b"\n", V2) == parse(GOOD, V2)
