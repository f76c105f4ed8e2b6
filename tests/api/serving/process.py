"""`rebind api serve` as a process that may be killed."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
READY = re.compile(r"ready: API server on (https?://[^:]+|https?://\[[^\]]+\]):(\d+)")


class Process:
    """A server on a database; after `kill` another one is started on the same port.

    Attributes:
        url: Where it is.
    """

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.folder = folder
        self.arguments = arguments
        self.port = 0
        self.url = ""
        self.ready = ""
        self.running: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Start, and return when it is ready."""
        environment = {name: text for name, text in os.environ.items() if "REBIND" not in name}
        self.running = subprocess.Popen(  # noqa: S603 - our own program
            [
                *(sys.executable, "-m", "simulator.cli", "api", "serve"),
                *("--http", f"127.0.0.1:{self.port}", *self.arguments),
            ],
            cwd=self.folder,
            env=environment | {"PYTHONPATH": str(ROOT)},
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.running.stderr is not None
        self.ready = self.running.stderr.readline()
        found = READY.match(self.ready)
        assert found is not None, self.ready + self.running.stderr.read()
        self.port = int(found[2])
        self.url = f"{found[1]}:{found[2]}"

    def end(self, number: signal.Signals = signal.SIGKILL) -> tuple[int, str]:
        """End it with a signal; return its exit code, and what it has said since it was ready."""
        assert self.running is not None
        with suppress(ProcessLookupError):
            self.running.send_signal(number)
        _, said = self.running.communicate(timeout=60)
        return self.running.returncode, said


@contextmanager
def api_process(folder: Path, *arguments: str) -> Iterator[Process]:
    """Run a server in a folder."""
    server = Process(folder, *arguments)
    try:
        server.start()
        yield server
    finally:
        server.end()
