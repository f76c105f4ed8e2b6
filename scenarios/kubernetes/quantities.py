"""resource.Quantity, as far as device counts need it."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final

_QUANTITY: Final = re.compile(
    r"([+-]?)([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(m|[kMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]{1,2}|n|u)?",
    re.ASCII,
)
_TEXT_MAX: Final = 40
_SCALES: Final[dict[str, Fraction]] = {
    "n": Fraction(1, 10**9),
    "u": Fraction(1, 10**6),
    "m": Fraction(1, 1000),
    "": Fraction(1),
    **{unit: Fraction(1000**power) for power, unit in enumerate("kMGTPE", start=1)},
    **{f"{unit}i": Fraction(1024**power) for power, unit in enumerate("KMGTPE", start=1)},
}


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
