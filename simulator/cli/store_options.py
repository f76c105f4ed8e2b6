"""Options of the commands that use a database."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import click

from simulator.config import DEFAULT_DATABASE_URL

F = TypeVar("F", bound=Callable[..., object])


def db_option(command: F) -> F:
    """Add `--db` to a command, which gets it as `db`."""
    return click.option(
        "--db",
        default=DEFAULT_DATABASE_URL,
        show_default=True,
        metavar="URL",
        help="The database.",
    )(command)


def node_option(command: F) -> F:
    """Add `--node`, which narrows what is shown, to a command, which gets it as `node`."""
    return click.option("--node", metavar="NODE", help="Only this node.")(command)


def resource_option(command: F) -> F:
    """Add `--resource`, which narrows what is shown, to a command, which gets it as `resource`."""
    return click.option("--resource", metavar="RESOURCE", help="Only this resource.")(command)
