"""Options whose values a function reads: one, or several (`--kubelet-version 1.27.2,1.36.2`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

import click
from typing_extensions import override

from simulator.errors import ConfigError

T = TypeVar("T")


class Read(click.ParamType[T], Generic[T]):
    """One value.

    Args:
        name: What it is, for the help.
        read: Reads it; raises ValueError or ConfigError with the reason.
    """

    def __init__(self, name: str, read: Callable[[str], T]) -> None:
        self.name = name
        self._read = read

    @override
    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> T:
        try:
            return self._read(str(value))
        except (ValueError, ConfigError) as error:
            self.fail(str(error), param, ctx)


class Listed(click.ParamType[tuple[T, ...]], Generic[T]):
    """Values separated by commas.

    Args:
        name: What one value is, for the help.
        read: Reads one value; raises ValueError or ConfigError with the reason.
    """

    def __init__(self, name: str, read: Callable[[str], T]) -> None:
        self.name = name
        self._read = read

    @override
    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[T, ...]:
        if isinstance(value, tuple):
            return value
        parts = [part.strip() for part in str(value).split(",")]
        try:
            return tuple(self._read(part) for part in parts)
        except (ValueError, ConfigError) as error:
            self.fail(str(error), param, ctx)
