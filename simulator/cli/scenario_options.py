"""Options of the commands that read scenarios."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import click

from scenarios.schema.versions import replayable_version
from scenarios.selectors import parse_selector
from simulator.cli.lists import Listed, Read

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
