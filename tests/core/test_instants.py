"""Durations as Go writes and reads them."""

import pytest

from simulator.core.instants import (
    HOUR,
    MILLISECOND,
    MINUTE,
    SECOND,
    Duration,
    Instant,
    after,
    format_duration,
    parse_duration,
)

TEXTS = [
    ("0s", 0),
    ("1ns", 1),
    ("1.5µs", 1_500),
    ("250ms", 250_000_000),
    ("1.25s", 1_250_000_000),
    ("1m0s", 60_000_000_000),
    ("1m30s", 90_000_000_000),
    ("5m0.000000001s", 300_000_000_001),
    ("2h0m0s", 7_200_000_000_000),
    ("-1.5s", -1_500_000_000),
]


@pytest.mark.parametrize(("text", "nanoseconds"), TEXTS)
def test_a_duration_is_written_as_go_writes_it(text: str, nanoseconds: int) -> None:
    assert text == format_duration(nanoseconds)


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        *TEXTS,
        ("0", 0),
        ("+5s", 5_000_000_000),
        ("-0", 0),
        ("1.5h", 5_400_000_000_000),
        (".5s", 500_000_000),
        ("1.s", 1_000_000_000),
        ("3us", 3_000),
        ("3μs", 3_000),
    ],
)
def test_a_duration_is_read_as_go_reads_it(text: str, nanoseconds: int) -> None:
    assert nanoseconds == parse_duration(text)


@pytest.mark.parametrize(
    "text", ["", "5", "s", "5 s", "5d", "1,5s", ".s", "-", "5s!", "1" * 70 + "s"]
)
def test_what_is_no_duration_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match="is not a duration; write a number with a unit"):
        parse_duration(text)


def test_a_duration_is_no_longer_than_gos() -> None:
    """Go's `time.ParseDuration` refuses what does not fit into 64 bits."""
    assert parse_duration("2562047h47m16.854775807s") == 2**63 - 1
    with pytest.raises(ValueError, match=r"is longer than 2562047h47m16\.854775807s"):
        parse_duration("2562047h47m16.854775808s")


def test_units_are_nanoseconds() -> None:
    assert (MILLISECOND, SECOND, MINUTE, HOUR) == (10**6, 10**9, 60 * 10**9, 3600 * 10**9)
    assert after(Instant(5), Duration(7)) == 12
