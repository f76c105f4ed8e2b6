"""What a kubelet makes of its checkpoint file at a start (S4.12, S4.13)."""

from __future__ import annotations

from dataclasses import dataclass

from simulator.core.behavior import Behavior, CheckpointFormat
from simulator.core.checkpoint.bindings import read_bindings
from simulator.core.checkpoint.parse import parse
from simulator.core.checkpoint.values import Checkpoint
from simulator.core.resources import ResourceName
from simulator.core.transitions import DeviceBinding
from simulator.errors import CheckpointError


@dataclass(frozen=True, slots=True)
class FileState:
    """A checkpoint file as one kubelet version reads it.

    Attributes:
        content: Its bytes; None when there is no file, or it cannot be opened.
        checkpoint: What it says; None when it cannot be read.
        bindings: Its device bindings, with the responses as they stand in the file.
        skipped: Number of entries left out because their response cannot be decoded (S4.13).
        error: Why a file that is there cannot be read.
    """

    content: bytes | None = None
    checkpoint: Checkpoint | None = None
    bindings: tuple[DeviceBinding, ...] = ()
    skipped: int = 0
    error: str = ""

    @property
    def registered(self) -> tuple[ResourceName, ...]:
        """The resources that it says are registered; their ids are ignored (S4.4)."""
        return tuple((self.checkpoint and self.checkpoint.registered) or ())

    @property
    def entries(self) -> int:
        """Number of entries, skipped ones included."""
        return len((self.checkpoint and self.checkpoint.entries) or ())

    @property
    def form(self) -> CheckpointFormat | None:
        """The file's format; None when it cannot be read."""
        return self.checkpoint.format if self.checkpoint else None


def read_file(content: bytes | None, behavior: Behavior) -> FileState:
    """Return what a kubelet of this version makes of a file; None for no file."""
    if content is None:
        return FileState()
    try:
        checkpoint = parse(content, behavior.checkpoints_read)
    except CheckpointError as error:
        return FileState(content, error=str(error))
    read = read_bindings(checkpoint, lenient=behavior.lenient_allocate_responses)
    return FileState(content, checkpoint, read.bindings, len(read.skipped))
