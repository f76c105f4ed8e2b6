"""resource.Quantity (conventions 1.3)."""

from __future__ import annotations

from fractions import Fraction

import pytest

from simulator.core.quantities import canonical_quantity, normal_quantity, parse_quantity


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2", Fraction(2)),
        ("500m", Fraction(1, 2)),
        ("0.5", Fraction(1, 2)),
        (".5", Fraction(1, 2)),
        ("2.", Fraction(2)),
        ("64Gi", Fraction(64 * 2**30)),
        ("1k", Fraction(1000)),
        ("1Ki", Fraction(1024)),
        ("1E", Fraction(10**18)),
        ("1e3", Fraction(1000)),
        ("1E3", Fraction(1000)),
        ("15e-1", Fraction(3, 2)),
        ("+1", Fraction(1)),
        ("-1", Fraction(-1)),
        ("100n", Fraction(1, 10**7)),
    ],
)
def test_a_quantity_has_the_value_of_its_suffix(text: str, value: Fraction) -> None:
    assert parse_quantity(text) == value


@pytest.mark.parametrize("text", ["", "two", "1K", "1 Gi", "1GiB", "--1", "1e", "1" * 41, "1e999"])
def test_what_is_no_quantity_is_refused_in_the_api_servers_words(text: str) -> None:
    with pytest.raises(ValueError, match="quantities must match the regular expression"):
        parse_quantity(text)


def test_a_fraction_is_written_in_thousandths() -> None:
    assert canonical_quantity(Fraction(1, 2)) == "500m"
    assert canonical_quantity(Fraction(2)) == "2"


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("1000m", "1"),
        ("0.5", "500m"),
        ("1.5", "1500m"),
        ("1000", "1k"),
        ("1024Mi", "1Gi"),
        ("0.5Gi", "512Mi"),
        ("1.5Ki", "1536"),
        ("512Ki", "512Ki"),
        ("0.5Ki", "512"),
        ("1e3", "1e3"),
        ("15e-1", "1500e-3"),
        ("1E", "1E"),
        ("0", "0"),
        ("0.1n", "1n"),
        ("-2000", "-2k"),
    ],
)
def test_the_api_server_stores_the_largest_unit_that_fits_exactly(text: str, stored: str) -> None:
    # apimachinery/pkg/api/resource: Quantity.CanonicalizeBytes.
    assert normal_quantity(text) == stored
