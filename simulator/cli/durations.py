"""Durations on the command line."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import click

from simulator.cli.lists import Read
from simulator.core.instants import Duration, parse_duration

F = TypeVar("F", bound=Callable[..., object])


def down_option(text: str) -> Callable[[F], F]:
    """Return the option `--down`, a duration that is 0 unless told.

    Args:
        text: What is down, as a sentence for the help.
    """
    return click.option(
        "--down",
        type=Read("duration", _read_span),
        default="0s",
        show_default=True,
        metavar="DURATION",
        help=text,
    )


def _read_span(text: str) -> Duration:
    """Read a duration that is not negative, such as `5s` or `1m30s`.

    Raises:
        ValueError: It is none.
    """
    span = parse_duration(text)
    if span < 0:
        reason = f"{text!r} is negative; write a duration such as 5s"
        raise ValueError(reason)
    return span
