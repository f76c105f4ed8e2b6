"""The files of manifests that `apply` and `delete` take; `-` is stdin."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

import click

from simulator.server.manifests import FILE_SIZE_MAX

F = TypeVar("F", bound=Callable[..., object])

STDIN: Final = "-"
_READ_MAX: Final = FILE_SIZE_MAX + 1


def files_option(*, required: bool) -> Callable[[F], F]:
    """Add `-f` to a command, which gets the files as `files`."""

    def decorate(command: F) -> F:
        return click.option(
            "-f",
            "--filename",
            "files",
            multiple=True,
            required=required,
            metavar="FILE",
            help="File of manifests, YAML or JSON; - for stdin.",
        )(command)

    return decorate


def read_file(name: str) -> tuple[bytes, str]:
    """Return the content of a file of manifests, and its name in messages.

    Of one that is too large, so much is read that whoever parses it can say so.

    Raises:
        OSError: It cannot be read.
    """
    if name == STDIN:
        return sys.stdin.buffer.read(_READ_MAX), "stdin"
    with Path(name).open("rb") as file:
        return file.read(_READ_MAX), name
