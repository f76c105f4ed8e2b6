"""A plugin as a process: started in its node's place, watched, ended."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Final, Self

from simulator.namespaces import command_in

_TAIL_MAX: Final = 2_000
"""Most characters of a process' output that are shown."""
_SAID_MAX: Final = 300
_KILLED_AFTER_S: Final = 1.0


class PluginProcess:
    """A command, with what it starts; it runs from the beginning, and its output is kept.

    Args:
        command: Program and arguments.
        directory: The node's directory, for which `/var/lib/kubelet` stands if `private`.
        private: Whether the command runs in the namespace of `simulator.namespaces`.
        environment: Variables beside those of this process.

    Raises:
        OSError: The program cannot be run.
    """

    def __init__(
        self,
        command: Sequence[str],
        directory: Path,
        *,
        private: bool,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._command = list(command)
        self._line = command_in(directory, command) if private else self._command
        self._environment = os.environ | dict(environment or {})
        self._output: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `close`
        try:
            self.start()
        except OSError:
            self._output.close()
            raise

    def start(self) -> None:
        """Run the command, again when it has ended.

        Raises:
            OSError: The program cannot be run.
        """
        try:
            self._process = subprocess.Popen(  # noqa: S603 - running the user's plugin is the purpose
                self._line,
                stdin=subprocess.DEVNULL,
                stdout=self._output,
                stderr=subprocess.STDOUT,
                env=self._environment,
                start_new_session=True,
            )
        except OSError as error:
            reason = f"cannot run {self._command[0]}: {error.strerror}"
            raise OSError(error.errno, reason) from error

    def __enter__(self) -> Self:
        """Return the process, which runs already."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End it."""
        self.close()

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self._process.pid

    @property
    def code(self) -> int | None:
        """The exit code, that of a signal negative; None while it runs."""
        return self._process.poll()

    @property
    def output(self) -> str:
        """The end of what it has written to stdout and stderr."""
        size = os.fstat(self._output.fileno()).st_size
        start = max(0, size - _TAIL_MAX)
        return os.pread(self._output.fileno(), _TAIL_MAX, start).decode("utf-8", "replace").strip()

    def wait(self, within_s: float) -> int | None:
        """Wait for it to exit by itself and return the exit code; None if it has not in time."""
        try:
            return self._process.wait(within_s)
        except subprocess.TimeoutExpired:
            return None

    def story(self) -> str:
        """Return in one line how it is, and the last that it has said."""
        state = "runs" if self.code is None else f"has exited with {self.code}"
        said = _end_of(self.output)
        return f"{self._command[0]} {state}" + (f", saying: {said}" if said else "")

    def terminate(self) -> None:
        """Send SIGTERM to it."""
        self._process.terminate()

    def kill(self) -> None:
        """End the command, and what it has started, at once."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def close(self) -> None:
        """End the command, if it runs, and let go of its output."""
        if self._output.closed:
            return
        self.terminate()
        self.wait(_KILLED_AFTER_S)
        self.kill()
        self._output.close()


def _end_of(output: str) -> str:
    """Return the last lines of an output in one, from the beginning of a line where one fits."""
    lines = [" ".join(line.split()) for line in output.splitlines() if line.strip()]
    last: list[str] = []
    for line in reversed(lines):
        if last and len(" ".join([line, *last])) > _SAID_MAX:
            break
        last.insert(0, line)
    said = " ".join(last)
    return said if len(last) == len(lines) and len(said) <= _SAID_MAX else f"…{said[-_SAID_MAX:]}"
