"""The files of manifests that `apply` and `delete` take; `-` is stdin."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

import click

F = TypeVar("F", bound=Callable[..., object])

STDIN: Final = "-"


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

    Raises:
        OSError: It cannot be read.
    """
    if name == STDIN:
        return sys.stdin.buffer.read(), "stdin"
    return Path(name).read_bytes(), name
