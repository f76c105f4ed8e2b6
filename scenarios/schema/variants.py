"""Persistence strategies as a scenario or the command line names them, with their options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Final

from pydantic import BeforeValidator

from scenarios.files.phrases import found, nearest
from scenarios.schema.fields import Wording
from simulator.core.instants import format_duration, parse_duration
from simulator.core.persistence.choosing import (
    FLUSH_PERIOD,
    STRATEGIES,
    OptionValue,
    option_of,
)

OPTIONS: Final = MappingProxyType({name: kept.options for name, kept in STRATEGIES.items()})
"""The strategies of this release and the options of each; all but `flushPeriod` are booleans."""


ADDS_NOTHING: Final = ("database",)
"""Strategies that promise to add nothing to what the kubelet itself breaks, whatever befalls it."""


@dataclass(frozen=True, slots=True, order=True)
class Persistence:
    """One strategy with its options.

    Attributes:
        options: Sorted pairs; only those that were given.
    """

    name: str
    options: tuple[tuple[str, OptionValue], ...] = ()

    @property
    def label(self) -> str:
        """Short text for headings: `checkpoint` or `checkpoint dirFsync`."""
        given = [
            name if value is True else f"{name}={written_option(value)}"
            for name, value in self.options
        ]
        return " ".join([self.name, *given])

    def includes(self, other: Persistence) -> bool:
        """Tell whether a row for this variant is meant for `other`.

        The name must be the same, and every option that the row names; an option that was not given
        has its default.
        """
        given = dict(other.options)
        return self.name == other.name and all(
            option_of(given, option) == value for option, value in self.options
        )


def parse_persistence(value: object, known: Mapping[str, tuple[str, ...]] = OPTIONS) -> Persistence:
    """Read `checkpoint`, `{checkpoint: {dirFsync: true}}`, or `checkpoint:dirFsync=true`.

    Several options of the short form are joined by `+`.

    Args:
        value: What was written.
        known: Strategies with their options.

    Raises:
        ValueError: An unknown strategy or option; the message names the valid ones.
    """
    if isinstance(value, str):
        name, _, text = value.partition(":")
        options = dict(_option(part) for part in text.split("+")) if text else {}
    elif isinstance(value, dict) and len(value) == 1:
        name, given = next(iter(value.items()))
        options = given if isinstance(given, dict) else {"": given}
    else:
        reason = f"wants a persistence or a map of one persistence to options, found {found(value)}"
        raise ValueError(reason)
    if name not in known:
        reason = f'"{name[:40]}" is not a persistence{nearest(name, known)}'
        raise ValueError(reason)
    chosen: dict[str, OptionValue] = {}
    for option, setting in options.items():
        read = _setting(option, setting) if option in known[name] else None
        if read is None:
            allowed = ", ".join(f"{one}: {_kind(one)}" for one in known[name]) or "none"
            reason = f'"{option}" of {found(setting)} is no option of {name}; allowed: {allowed}'
            raise ValueError(reason)
        chosen[option] = read
    return Persistence(name, tuple(sorted(chosen.items())))


def _setting(option: str, value: object) -> OptionValue | None:
    """Read an option's value; None when it has none such."""
    if option != FLUSH_PERIOD:
        return value if isinstance(value, bool) else None
    try:
        read = parse_duration(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return read if read is not None and read >= 0 else None


def _kind(option: str) -> str:
    return "DURATION" if option == FLUSH_PERIOD else "true|false"


def written_option(value: OptionValue) -> str:
    """Write an option's value as a scenario does."""
    return str(value).lower() if isinstance(value, bool) else format_duration(value)


def _option(text: str) -> tuple[str, bool | str]:
    name, equals, value = text.partition("=")
    words: dict[str, bool | str] = {"true": True, "false": False}
    return name, words.get(value, value) if equals else True


PersistenceVariant = Annotated[
    Persistence,
    BeforeValidator(parse_persistence),
    Wording("persistence, or map of a persistence to its options", tuple(OPTIONS)),
]
