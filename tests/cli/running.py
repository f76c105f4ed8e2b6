"""Runs the program in this process, as a user would from a shell."""

from __future__ import annotations

import contextlib
import io
import logging
from collections.abc import Iterator
from dataclasses import dataclass

from simulator.cli.program import run


@dataclass(frozen=True)
class Finished:
    """What a command left behind."""

    code: int
    stdout: str
    stderr: str


def rebind(*arguments: str) -> Finished:
    """Run `rebind` with the arguments."""
    stdout, stderr = io.StringIO(), io.StringIO()
    with (
        _logging_kept(),
        contextlib.redirect_stdout(stdout),
        contextlib.redirect_stderr(stderr),
    ):
        code = run(arguments)
    return Finished(code, stdout.getvalue(), stderr.getvalue())


@contextlib.contextmanager
def _logging_kept() -> Iterator[None]:
    """The program configures logging for its process; this process has tests to go on with."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
