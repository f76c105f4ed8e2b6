"""SVG elements as text."""

from __future__ import annotations

from html import escape
from typing import TypeAlias

from simulator.reports.text import printable

Attribute: TypeAlias = str | float


def element(name: str, *inside: str, **attributes: Attribute) -> str:
    """Return an element.

    Args:
        name: Of the element.
        inside: What stands in it, already SVG.
        attributes: `_` in a name stands for `-`, a last one is dropped; numbers are rounded to a
            tenth of a pixel.
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_value(value)}"'
        for key, value in attributes.items()
    )
    content = "".join(inside)
    return f"<{name}{written}>{content}</{name}>" if content else f"<{name}{written}/>"


def words(text: str) -> str:
    """Return a text that may come from outside as the content of an element."""
    return escape(printable(text), quote=False)


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> str:
    """Return a straight line."""
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)


def label(text: str, x: float, y: float, class_: str = "", **attributes: Attribute) -> str:
    """Return a text at a place."""
    named = {"class_": class_} if class_ else {}
    return element("text", words(text), x=x, y=y, **named, **attributes)


def marker(shape: int, x: float, y: float, class_: str, *, size: float = 4.0) -> str:
    """Return one of several shapes, so that color is not all that tells lines apart."""
    corners = _SHAPES[shape % len(_SHAPES)]
    if not corners:
        return element("circle", cx=x, cy=y, r=size * 0.9, class_=class_)
    points = " ".join(f"{_number(x + dx * size)},{_number(y + dy * size)}" for dx, dy in corners)
    return element("polygon", points=points, class_=class_)


_SHAPES: tuple[tuple[tuple[float, float], ...], ...] = (
    (),
    ((-0.85, -0.85), (0.85, -0.85), (0.85, 0.85), (-0.85, 0.85)),
    ((0, -1.1), (1.05, 0.8), (-1.05, 0.8)),
    ((0, -1.2), (1.2, 0), (0, 1.2), (-1.2, 0)),
    ((0, 1.1), (1.05, -0.8), (-1.05, -0.8)),
)


def _value(value: Attribute) -> str:
    return escape(printable(value)) if isinstance(value, str) else _number(value)


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
