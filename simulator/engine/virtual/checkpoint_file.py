"""The checkpoint file on the simulated disk, read and replaced step by step (S4.9, S4.12).

A write is four effects: write a temporary file, fsync it, rename it over the target, and, with the
knob `dirFsync`, fsync the directory. Writes of one node follow one another, as under the checkpoint
manager's lock. A kubelet that dies between two steps leaves what the steps so far left.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from simulator.config import CHECKPOINT_FILE_NAME, RETIRED_CHECKPOINT_NAME
from simulator.core.calls import CheckpointContent, Missing, Stored, StoreFailed, StoreReply
from simulator.core.instants import Duration
from simulator.engine.faults import Op
from simulator.engine.injection import Injector
from simulator.engine.timeline import Process
from simulator.engine.virtual.disk import Disk

Reply = Callable[[StoreReply], None]

RETIRED_FILE: Final = f"../{RETIRED_CHECKPOINT_NAME}"
"""The file that was set aside: above the plugin directory, which older kubelets empty (S1.9)."""

_TEMPORARY_PREFIX: Final = f".{CHECKPOINT_FILE_NAME}"


@dataclass(frozen=True, slots=True)
class _Step:
    op: Op
    latency: Duration
    act: Callable[[], str]


class CheckpointFile:
    """One kubelet process' way to its checkpoint file.

    Args:
        dir_fsync: Whether the directory is fsynced after the rename; the kubelet does not.
    """

    def __init__(
        self, disk: Disk, process: Process, injector: Injector, *, dir_fsync: bool = False
    ) -> None:
        self._disk = disk
        self._process = process
        self._injector = injector
        self._dir_fsync = dir_fsync
        self._written = 0
        self._waiting: deque[tuple[bytes, bool, Reply]] = deque()
        self._busy = False

    def read(self, reply: Reply) -> None:
        """Read the file."""
        found: list[bytes | None] = []

        def act() -> str:
            found.append(self._disk.read(CHECKPOINT_FILE_NAME))
            return ""

        def done(error: str) -> None:
            if error:
                reply(StoreFailed(error))
            elif found[0] is None:
                reply(Missing())
            else:
                reply(CheckpointContent(found[0]))

        self._run((_Step(Op.READ, self._disk.latency.read, act),), 0, done)

    def set_aside(self, reply: Reply) -> None:
        """Move the file out of the plugin directory and make that durable, if there is one."""

        def act() -> str:
            if self._disk.read(CHECKPOINT_FILE_NAME) is None:
                return ""
            return self._disk.rename(CHECKPOINT_FILE_NAME, RETIRED_FILE)

        def done(error: str) -> None:
            reply(StoreFailed(error) if error else Stored())

        rename = _Step(Op.RENAME, self._disk.latency.rename, act)
        self._run((rename, self._directory_step()), 0, done)

    def write(self, content: bytes, reply: Reply, *, directory_synced: bool = False) -> None:
        """Replace the file, after the writes that were asked for before."""
        self._waiting.append((content, directory_synced or self._dir_fsync, reply))
        if not self._busy:
            self._write_next()

    def _write_next(self) -> None:
        content, directory_synced, reply = self._waiting.popleft()
        self._busy = True
        temporary = self._free_name()

        def done(error: str) -> None:
            if error:
                self._disk.remove(temporary)
            self._busy = False
            reply(StoreFailed(error) if error else Stored())
            if self._waiting and not self._busy and self._process.is_alive():
                self._write_next()

        steps = self._steps(temporary, content)
        self._run((*steps, self._directory_step()) if directory_synced else steps, 0, done)

    def _steps(self, temporary: str, content: bytes) -> tuple[_Step, ...]:
        disk, latency = self._disk, self._disk.latency
        return (
            _Step(Op.WRITE, latency.write, lambda: disk.write(temporary, content)),
            _Step(Op.FSYNC, disk.fsync_latency, lambda: disk.fsync(temporary)),
            _Step(Op.RENAME, latency.rename, lambda: disk.rename(temporary, CHECKPOINT_FILE_NAME)),
        )

    def _directory_step(self) -> _Step:
        def act() -> str:
            self._disk.fsync_directory()
            return ""

        return _Step(Op.DIR_FSYNC, self._disk.fsync_latency, act)

    def _run(self, steps: tuple[_Step, ...], index: int, done: Callable[[str], None]) -> None:
        """Do the steps from `index` on, each after its latency; stop at the first error."""
        step = steps[index]
        verdict = self._injector.begin(step.op, CHECKPOINT_FILE_NAME)
        if verdict.hung:
            return

        def finish() -> None:
            error = verdict.error or step.act()
            self._injector.end(verdict)
            if not self._process.is_alive():
                return
            if error or index + 1 == len(steps):
                done(error)
            else:
                self._run(steps, index + 1, done)

        self._process.after(Duration(step.latency + verdict.delay), finish)

    def _free_name(self) -> str:
        """Return a name for a temporary file that no earlier crash has left behind."""
        taken = set(self._disk.names())
        while True:
            self._written += 1
            name = f"{_TEMPORARY_PREFIX}{self._written:09d}"
            if name not in taken:
                return name
