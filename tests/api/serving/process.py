"""`rebind api serve` as a process that may be killed."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.server import processes

READY = re.compile(r"ready: API server on (https?://[^:]+|https?://\[[^\]]+\]):(\d+).*\n")


class Process:
    """A server on a database; after it has ended another one is started on the same port.

    Attributes:
        url: Where it is.
        ready: The line in which it has said that it is ready.
    """

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.folder = folder
        self.arguments = arguments
        self.port = 0
        self.url = ""
        self.ready = ""
        self.running: processes.Process | None = None

    def start(self) -> None:
        """Start, and return when it is ready."""
        where = ("--http", f"127.0.0.1:{self.port}")
        running = processes.Process(self.folder, "api", "serve", *where, *self.arguments)
        self.running = running
        processes.until(lambda: READY.match(running.said) is not None or running.is_over())
        found = READY.match(running.said)
        assert found is not None, running.said
        self.ready, self.port, self.url = found[0], int(found[2]), f"{found[1]}:{found[2]}"

    def end(self, number: signal.Signals = signal.SIGKILL) -> tuple[int, str]:
        """End it with a signal; return its exit code, and what it has said since it was ready."""
        assert self.running is not None
        running, self.running = self.running, None
        code = running.terminate(number)
        said = running.said.removeprefix(self.ready)
        running.end()
        return code, said


@contextmanager
def api_process(folder: Path, *arguments: str) -> Iterator[Process]:
    """Run a server in a folder."""
    server = Process(folder, *arguments)
    try:
        server.start()
        yield server
    finally:
        if server.running is not None:
            server.running.end()
