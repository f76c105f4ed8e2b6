"""Label selectors as kubectl writes them: `area=reboot,level!=scale,timing`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from scenarios.files.phrases import found

_KEY: Final = r"[A-Za-z0-9](?:[A-Za-z0-9_./-]{0,251}[A-Za-z0-9])?"
_TERM: Final = re.compile(
    rf"(?P<absent>!\s*)?(?P<key>{_KEY})(?:\s*(?P<sign>==?|!=)\s*(?P<value>[A-Za-z0-9_.-]{{0,63}}))?",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class Term:
    """One requirement.

    Attributes:
        value: What the label must be; None where only its presence counts.
        wanted: Whether the label must be so, or must not.
    """

    key: str
    value: str | None
    wanted: bool

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Tell whether labels meet the requirement; a label that is not there is no value."""
        seen = labels.get(self.key)
        holds = seen is not None if self.value is None else seen == self.value
        return holds is self.wanted


@dataclass(frozen=True, slots=True)
class Selector:
    """Requirements that must all be met; none selects everything."""

    terms: tuple[Term, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Tell whether labels meet all requirements."""
        return all(term.matches(labels) for term in self.terms)


def parse_selector(text: str) -> Selector:
    """Read a selector.

    Raises:
        ValueError: A part of it is no requirement.
    """
    return Selector(tuple(_term(part.strip()) for part in text.split(",")))


def _term(text: str) -> Term:
    match = _TERM.fullmatch(text)
    if match is None or (match["absent"] and match["sign"]):
        reason = (
            f"{found(text)} is not a label selector; write key=value, key!=value, key or !key, "
            "several with commas"
        )
        raise ValueError(reason)
    return Term(match["key"], match["value"], wanted=not match["absent"] and match["sign"] != "!=")
