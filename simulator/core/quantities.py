"""resource.Quantity: how it is read and written."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache
from typing import Final

_QUANTITY: Final = re.compile(
    r"([+-]?)([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(m|[kMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]{1,2}|n|u)?",
    re.ASCII,
)
_TEXT_MAX: Final = 40
_KEPT: Final = 1024
"""So many texts are not read again; the same few stand in most pods."""
_SCALES: Final[dict[str, Fraction]] = {
    "n": Fraction(1, 10**9),
    "u": Fraction(1, 10**6),
    "m": Fraction(1, 1000),
    "": Fraction(1),
    **{unit: Fraction(1000**power) for power, unit in enumerate("kMGTPE", start=1)},
    **{f"{unit}i": Fraction(1024**power) for power, unit in enumerate("KMGTPE", start=1)},
}
_KIBI: Final = 1024
_GIGA: Final = 10**9
_BINARY: Final = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_DECIMAL: Final = ("n", "u", "m", "", "k", "M", "G", "T", "P", "E")
_EXPONENTS: Final = ("e-9", "e-6", "e-3", "", "e3", "e6", "e9", "e12", "e15", "e18")


@lru_cache(maxsize=_KEPT)
def parse_quantity(text: str) -> Fraction:
    """Read `2`, `500m`, `64Gi` or `1e3`.

    Raises:
        ValueError: The text is no quantity; the message is the API server's.
    """
    match = _QUANTITY.fullmatch(text) if len(text) <= _TEXT_MAX else None
    if match is None:
        reason = (
            "quantities must match the regular expression "
            "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
        )
        raise ValueError(reason)
    sign, digits, suffix = match.group(1), match.group(2), match.group(3) or ""
    number = Fraction(digits if not digits.endswith(".") else digits[:-1])
    if suffix[:1] in {"e", "E"} and suffix not in _SCALES:
        number *= Fraction(10) ** int(suffix[1:])
    else:
        number *= _SCALES[suffix]
    return -number if sign == "-" else number


def canonical_quantity(value: Fraction) -> str:
    """Write a quantity as messages of the API server do: `2`, `500m`."""
    if value.denominator == 1:
        return str(value.numerator)
    return f"{-(-value.numerator * 1000 // value.denominator)}m"


@lru_cache(maxsize=_KEPT)
def normal_quantity(text: str) -> str:
    """Write a quantity as the API server stores it: `1000m` is `1`, `1024Mi` is `1Gi`, 1000 `1k`.

    Binary units stay binary and exponents stay exponents; what is below a billionth is rounded up.

    Raises:
        ValueError: The text is no quantity.
    """
    value = parse_quantity(text)
    suffix = text.lstrip("+-0123456789.")
    if suffix.endswith("i") and abs(value) >= _KIBI:
        return _scaled(Fraction(-(-value.numerator // value.denominator)), _KIBI, _BINARY)
    nanos = -(-value * _GIGA // 1)
    if len(suffix) > 1 and suffix[0] in "eE":
        return _scaled(Fraction(nanos, _GIGA), 1000, _EXPONENTS, lowest=-3)
    return _scaled(Fraction(nanos, _GIGA), 1000, _DECIMAL, lowest=-3)


def _scaled(value: Fraction, step: int, suffixes: tuple[str, ...], *, lowest: int = 0) -> str:
    """Write a value in the largest unit in which it is a whole number."""
    if not value:
        return "0"
    number, power = value * step**-lowest, 0
    while power + 1 < len(suffixes) and number % step == 0:
        number, power = number / step, power + 1
    return f"{number.numerator}{suffixes[power]}"
