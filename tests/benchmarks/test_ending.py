"""Processes of a benchmark end with the one that has started them."""

from __future__ import annotations

import os
import subprocess
import sys

_CHILD = "from benchmarks.ending import end_with_parent; end_with_parent(); print(); input()"
_PARENT = f"""
import subprocess, sys
child = subprocess.Popen(
    [sys.executable, "-c", {_CHILD!r}], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    start_new_session=True, pass_fds=[int(sys.argv[1])],
)
child.stdout.readline()
print("on", flush=True)
child.wait()
"""


def test_a_process_ends_when_the_one_that_has_started_it_is_killed() -> None:
    """Both hold the writing end of a pipe: it is at its end when both are gone."""
    reading, writing = os.pipe()
    command = [sys.executable, "-c", _PARENT, str(writing)]
    with (
        open(reading, "rb") as pipe,  # noqa: PTH123 - of no file
        subprocess.Popen(command, stdout=subprocess.PIPE, pass_fds=[writing]) as parent,  # noqa: S603 - our own
    ):
        os.close(writing)
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"on\n"
        parent.kill()

        assert pipe.read() == b""
