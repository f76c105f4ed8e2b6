"""A program that writes to a store and is killed."""

from __future__ import annotations

import os
import subprocess
import sys


def acknowledged_until_killed(program: str, database_url: str, revision: int) -> int:
    """Kill -9 a program as soon as it tells a revision; return the last that it has told.

    Args:
        program: Its text; it prints each revision that the store has acknowledged.
        database_url: Given to it.
        revision: So far it gets at least.
    """
    with subprocess.Popen(  # noqa: S603 - our own text, run by this very Python
        [sys.executable, "-c", program, database_url],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if int(line) >= revision:
                break
        process.kill()
        told = [int(line) for line in process.stdout if line.endswith("\n")]
    return max([revision, *told])
