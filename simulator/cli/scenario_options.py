"""Options of the commands that read scenarios and profiles, and the reading of several files."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

import click

from scenarios.schema.versions import replayable_version
from scenarios.selectors import parse_selector
from simulator.cli.failures import error_line
from simulator.cli.lists import Listed, Read
from simulator.errors import InputError

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., object])


def selector_option(command: F) -> F:
    """Add `-l`, which chooses built-in scenarios by their labels, as `selector`."""
    return click.option(
        "-l",
        "--selector",
        type=Read("SELECTOR", parse_selector),
        help="Only built-in scenarios with these labels, such as area=reboot,level!=scale.",
    )(command)


def versions_option(command: F) -> F:
    """Add `--kubelet-version`, which narrows what is run, as `kubelet_version`."""
    return click.option(
        "--kubelet-version",
        type=Listed("VERSION,...", replayable_version),
        help="Versions in place of the scenario's own.",
    )(command)


def settings_option(command: F) -> F:
    """Add `--set`, which gives parameters of a file their values, as `settings`."""
    return click.option(
        "--set", "settings", multiple=True, metavar="NAME=VALUE", help="Value of a parameter."
    )(command)


def load_each(
    names: Iterable[str], load: Callable[[str], list[T]]
) -> tuple[list[tuple[str, T]], bool]:
    """Load files, and tell all faults of those that are not valid on stderr.

    Args:
        names: As the user gave them.
        load: Returns what a file holds.

    Returns:
        What was loaded, each with the name of its file; and whether all files are valid.
    """
    loaded: list[tuple[str, T]] = []
    is_valid = True
    for name in names:
        try:
            loaded += [(name, one) for one in load(name)]
        except InputError as error:
            is_valid = False
            for each in (error, *error.others):
                click.echo(error_line(each), err=True)
    return loaded, is_valid
