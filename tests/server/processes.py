"""`rebind serve` and `rebind plugin run` as processes of their own, which can be killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Final

ROOT: Final = Path(__file__).resolve().parents[2]
DEADLINE_S: Final = 60.0


class Process:
    """One process of the program; what it says on stderr goes to a file.

    Args:
        folder: Where it runs.
        arguments: The command and its options.
        before: Done in the new process before it becomes the program, such as a limit.
    """

    def __init__(
        self, folder: Path, *arguments: str, before: Callable[[], None] | None = None
    ) -> None:
        environment = {name: text for name, text in os.environ.items() if "REBIND" not in name}
        environment |= {"PYTHONPATH": str(ROOT), "REBIND_HTTP": "none"}
        self._said: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `end`
        self._process = subprocess.Popen(  # noqa: S603 - our own program
            [sys.executable, "-m", "simulator.cli", *arguments],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self._said,
            preexec_fn=before,  # noqa: PLW1509 - what is done there takes no locks
        )

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    @property
    def said(self) -> str:
        """What it has said on stderr so far."""
        size = os.fstat(self._said.fileno()).st_size
        return os.pread(self._said.fileno(), size, 0).decode()

    def is_over(self) -> bool:
        """Tell whether it has ended."""
        return self._process.poll() is not None

    def ready(self) -> str:
        """Wait until a server is ready, and return what it says then."""
        until(lambda: "ready: " in self.said or self.is_over())
        assert "ready: " in self.said, self.said
        return self.said

    def kill(self) -> None:
        """Kill -9."""
        self._process.kill()
        self._process.wait()

    def wait(self) -> int:
        """Wait until it ends by itself, and return its exit code."""
        return self._process.wait(DEADLINE_S)

    def terminate(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Ask it to end by a signal, and return its exit code."""
        self._process.send_signal(number)
        return self.wait()

    def end(self) -> None:
        """Kill it if it still runs."""
        if not self.is_over():
            self.kill()
        self._said.close()


def serve(
    folder: Path, *arguments: str, before: Callable[[], None] | None = None, nodes: str = "n0,n1"
) -> Process:
    """Start `rebind serve` in `folder`/lab."""
    return Process(
        folder, "serve", "--root-dir", "lab", "--nodes", nodes, *arguments, before=before
    )


def fake_plugin(folder: Path, node: str, *arguments: str) -> Process:
    """Start `rebind plugin run fake` for a node."""
    where = ("--root-dir", "lab", "--node", node)
    return Process(folder, "plugin", "run", "fake", *where, *arguments)


def until(
    condition: Callable[[], bool],
    told: Callable[[], Sequence[object]] = tuple,
    *,
    pause_s: float = 0.01,
) -> None:
    """Wait for what comes by itself; after the deadline say what there is instead."""
    deadline = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < deadline, list(told())
        time.sleep(pause_s)
