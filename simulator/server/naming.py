"""How messages name what is there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

_NAMES_SHOWN_MAX: Final = 10


def known(names: Sequence[str]) -> str:
    """Say which names there are, at most a few of them."""
    shown = ", ".join(sorted(names)[:_NAMES_SHOWN_MAX])
    more = len(names) - _NAMES_SHOWN_MAX
    return f"there are: {shown or 'none'}{f' and {more} more' if more > 0 else ''}"


def within(namespace: str) -> str:
    """Say in which namespace, unless it is the usual one."""
    return "" if namespace == "default" else f" in namespace {namespace}"
