"""Cells of tables that sort as numbers and are shown with their units."""

from __future__ import annotations

from typing_extensions import override

from benchmarks.results.merging import Merged, Spread
from benchmarks.results.naming import NONE
from benchmarks.results.quantities import Quantity, text


class Figure(float):
    """A number that is printed as a text."""

    __slots__ = ("_text",)
    _text: str

    def __new__(cls, value: float, shown: str) -> Figure:  # noqa: PYI034 - not to be derived from
        """Make a number of a value and what is shown."""
        made = super().__new__(cls, value)
        made._text = shown
        return made

    @override
    def __str__(self) -> str:
        return self._text


def cell(one: Merged, quantity: Quantity, *, bound: str = "") -> str | float:
    """Return the median of a figure, and how far the repetitions are from it.

    Args:
        one: Repetitions.
        quantity: What of them.
        bound: Stands before the figure, e.g. `≥`.
    """
    spread = one.spread(quantity.of)
    if spread is None:
        return NONE
    shown = f"{bound}{text(spread.median, quantity.form)}{deviation(spread)}"
    return Figure(spread.median, shown)


def deviation(spread: Spread) -> str:
    """Return `±4%`, half of what lies between least and most; empty for one repetition."""
    if spread.count == 1 or not spread.median:
        return ""
    return f"±{spread.width / 2 / spread.median:.0%}"
