"""Options of plugins, stated once: the flags of `rebind plugin run`, and text pairs elsewhere.

An option is read from text wherever it comes from, so that a plugin in the foreground and one that
a server is asked to start take the same words and complain in the same ones.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from simulator.core.instants import Duration, parse_duration
from simulator.errors import ConfigError

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Option(Generic[T]):
    """One option of a plugin.

    Attributes:
        name: As on the command line, without the dashes.
        read: Reads one value; raises ValueError or ConfigError with the reason.
        default: The text that is read when none is given; None for no value at all.
        metavar: What stands for the value in help.
        help: One sentence without its full stop.
        is_repeated: Whether it may be given several times.
        is_flag: Whether it stands alone; as text it is `true` or `false`.
    """

    name: str
    read: Callable[[str], T]
    help: str
    metavar: str = ""
    default: str | None = None
    is_repeated: bool = False
    is_flag: bool = False


def pairs_of_words(
    kind: str, options: Sequence[Option[Any]], words: Sequence[str]
) -> list[tuple[str, str]]:
    """Read the words of a command line: `--count 4`, `--count=4`, `--pre-start`.

    Args:
        kind: The kind of plugin, for the messages.
        options: What it takes.
        words: What was written behind the kind.

    Raises:
        ConfigError: A word is no option, or an option has no value or one too many.
    """
    flags = {option.name for option in options if option.is_flag}
    pairs: list[tuple[str, str]] = []
    rest = iter(words)
    for word in rest:
        name, equals, value = word.removeprefix("--").partition("=")
        if not word.startswith("--") or not name:
            reason = f"{kind} plugins take options such as --{options[0].name}, not {word!r}"
            raise ConfigError(reason)
        if name in flags:
            pairs.append((name, value if equals else "true"))
            continue
        text = value if equals else next(rest, None)
        if text is None:
            reason = f"--{name} has no value"
            raise ConfigError(reason)
        pairs.append((name, text))
    return pairs


class Chosen:
    """The values of options.

    Raises:
        ConfigError: A pair names no option, one is given twice that may not be, or a value is not
            usable.
    """

    def __init__(
        self, kind: str, options: Sequence[Option[Any]], pairs: Iterable[tuple[str, str]]
    ) -> None:
        known = {option.name: option for option in options}
        texts: dict[str, list[str]] = {}
        for name, text in pairs:
            if name not in known:
                reason = f"{kind} plugins have no option {name!r}{_nearest(name, known)}"
                raise ConfigError(reason)
            given = texts.setdefault(name, [])
            if given and not known[name].is_repeated:
                reason = f"--{name} is given twice; a {kind} plugin takes it once"
                raise ConfigError(reason)
            given.append(text)
        self._values = {
            name: tuple(_read(option, text) for text in texts.get(name, _defaults(option)))
            for name, option in known.items()
        }

    def one(self, option: Option[T]) -> T:
        """Return the value of an option that has a default."""
        return self.all(option)[0]

    def maybe(self, option: Option[T]) -> T | None:
        """Return the value of an option, or None when it was not given and has no default."""
        return next(iter(self.all(option)), None)

    def all(self, option: Option[T]) -> tuple[T, ...]:
        """Return the values of an option that may be given several times, in order."""
        return self._values[option.name]


def read_text(text: str) -> str:
    """Read a text that must not be empty."""
    if not text:
        reason = "the text is empty"
        raise ValueError(reason)
    return text


def read_span(text: str) -> Duration:
    """Read a duration that is not negative, such as `250ms`."""
    span = parse_duration(text)
    if span < 0:
        reason = f"{text!r} is negative"
        raise ValueError(reason)
    return span


def read_period(text: str) -> Duration:
    """Read a duration that is longer than nothing."""
    span = read_span(text)
    if not span:
        reason = "it must be longer than 0s"
        raise ValueError(reason)
    return span


def read_switch(text: str) -> bool:
    """Read `true` or `false`."""
    if text not in ("true", "false"):
        reason = f"{text!r} is neither true nor false"
        raise ValueError(reason)
    return text == "true"


def number_between(least: int, most: int) -> Callable[[str], int]:
    """Return a reader of whole numbers."""

    def read(text: str) -> int:
        if not (text.isascii() and text.isdecimal() and least <= int(text[:20]) <= most):
            reason = f"{text!r} is not a whole number from {least} to {most}"
            raise ValueError(reason)
        return int(text)

    return read


def one_of(names: Iterable[str]) -> Callable[[str], str]:
    """Return a reader of one of these names."""
    allowed = tuple(names)

    def read(text: str) -> str:
        if text not in allowed:
            reason = f"{text!r} is not one of {', '.join(allowed)}"
            raise ValueError(reason)
        return text

    return read


def some_of(names: Iterable[str]) -> Callable[[str], tuple[str, ...]]:
    """Return a reader of some of these names, separated by commas; `none` for none of them."""
    read = one_of(names)

    def read_list(text: str) -> tuple[str, ...]:
        return () if text == "none" else tuple(read(part) for part in text.split(","))

    return read_list


def _read(option: Option[T], text: str) -> T:
    try:
        return option.read(text)
    except (ValueError, ConfigError) as error:
        reason = f"--{option.name}: {error}"
        raise ConfigError(reason) from error


def _defaults(option: Option[Any]) -> tuple[str, ...]:
    return () if option.default is None else (option.default,)


def _nearest(name: str, known: Mapping[str, Option[Any]]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean {near[0]}?" if near else f"; it has {', '.join(sorted(known))}"
