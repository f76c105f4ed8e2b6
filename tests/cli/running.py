"""Runs the program as a user would from a shell, in this process where that is possible."""

from __future__ import annotations

import contextlib
import io
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

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


def rebind_process(*arguments: str) -> Finished:
    """Run `rebind` with the arguments in a process of its own, which it may give away."""
    return _python("-m", "simulator.cli", *arguments)


def python_process(code: str) -> Finished:
    """Run a program's text in a process of its own."""
    return _python("-c", code)


def _python(*arguments: str) -> Finished:
    finished = subprocess.run(  # noqa: S603 - this program, and no other
        [sys.executable, *arguments],
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        check=False,
    )
    return Finished(finished.returncode, finished.stdout, finished.stderr)


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
