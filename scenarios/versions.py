"""Which kubelet versions an expectation speaks of: versions and ranges (details 19)."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

Release = tuple[int, int, int]
"""Major, minor and patch number."""

_VERSION: Final = re.compile(r"v?([0-9]{1,4})\.([0-9]{1,4})(?:\.([0-9]{1,4}))?", re.ASCII)
_TERM: Final = re.compile(r"(>=|<=|==|!=|>|<|=)?\s*(v?[0-9][0-9.]*)", re.ASCII)
_OPERATORS: Final[dict[str, Callable[[Release, Release], bool]]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "=": operator.eq,
    "==": operator.eq,
    "!=": operator.ne,
}


def parse_version(text: str) -> Release:
    """Read `1.27.2`, `v1.27.2` or `1.27`; a missing patch number is 0.

    Raises:
        ValueError: The text is no version.
    """
    match = _VERSION.fullmatch(text)
    if match is None:
        reason = f'"{text[:40]}" is not a kubelet version; write one like 1.27.2'
        raise ValueError(reason)
    major, minor, patch = match.groups()
    return int(major), int(minor), int(patch or "0")


@dataclass(frozen=True, slots=True)
class VersionSelector:
    """A version, or a range such as `>=1.25.10 <1.28`: all terms must hold."""

    text: str
    terms: tuple[tuple[str, Release], ...]

    def selects(self, version: str) -> bool:
        """Tell whether `version` is meant."""
        release = parse_version(version)
        return all(_OPERATORS[sign](release, bound) for sign, bound in self.terms)


def parse_selector(text: str) -> VersionSelector:
    """Read a version or a range.

    Raises:
        ValueError: The text is neither.
    """
    rest = text.strip()
    terms = []
    while rest:
        match = _TERM.match(rest)
        if match is None:
            break
        terms.append((match.group(1) or "=", parse_version(match.group(2))))
        rest = rest[match.end() :].lstrip(" ,")
    if rest or not terms:
        reason = (
            f'"{text[:40]}" is neither a kubelet version nor a range; '
            'write one like 1.27.2 or ">=1.25.10 <1.28"'
        )
        raise ValueError(reason)
    return VersionSelector(text, tuple(terms))
