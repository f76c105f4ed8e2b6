"""Reading checkpoint files for commands: a size limit, and errors that name the file."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

import click
from typing_extensions import override

from simulator.config import CHECKPOINT_SIZE_MAX
from simulator.core.checkpoint.recognition import Inspection, inspect
from simulator.errors import (
    CheckpointError,
    CheckpointSyntaxError,
    CheckpointTooLargeError,
    CorruptCheckpointError,
)

F = TypeVar("F", bound=Callable[..., object])

_UNITS: Final = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30}
_SIZE: Final = re.compile(r"([0-9]{1,12})(|k|M|G|Ki|Mi|Gi)B?", re.ASCII)
_MEBIBYTE: Final = 2**20
_PART_SIZE: Final = _MEBIBYTE


@dataclass(frozen=True, slots=True)
class CheckpointFile:
    """A device-manager checkpoint that was read.

    Attributes:
        content: Its bytes.
        inspection: What they say; the checksum may be wrong.
    """

    path: Path
    content: bytes
    inspection: Inspection

    def damage(self) -> CorruptCheckpointError | None:
        """Return the error of a wrong checksum, if it is wrong."""
        inspection = self.inspection
        if inspection.is_valid:
            return None
        found, computed = inspection.found or 0, inspection.computed or 0
        message = (
            f"{self.path}: checkpoint is corrupted: the file states checksum {found}, "
            f"its content has {computed}; a kubelet would start without any record"
        )
        return CorruptCheckpointError(message, found=found, computed=computed)


class FileName(click.Path):
    """The name of a file; an empty one, as of an unset variable, is not the current folder."""

    @override
    def convert(
        self,
        value: str | os.PathLike[str],
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> str | bytes | os.PathLike[str]:
        if not str(value):
            self.fail("the name is empty", param, ctx)
        return super().convert(value, param, ctx)


class _Size(click.ParamType[int]):
    """A number of bytes, such as `64Mi`."""

    name = "size"

    @override
    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        match = _SIZE.fullmatch(str(value))
        if match is None:
            self.fail(f"{value!r} is not a size; write bytes or e.g. 500Ki, 64Mi, 1Gi", param, ctx)
        return int(match[1]) * _UNITS[match[2]]


def max_size_option(command: F) -> F:
    """Add `--max-size` to a command, which gets it as `max_size`."""
    return click.option(
        "--max-size",
        type=_Size(),
        default=f"{CHECKPOINT_SIZE_MAX // _MEBIBYTE}Mi",
        show_default=True,
        metavar="SIZE",
        help="Largest file that is read.",
    )(command)


def read_checkpoint(path: Path, *, max_size: int) -> CheckpointFile:
    """Read a file and find out what it says, whatever its format and its checksum.

    Raises:
        CheckpointError: It is no device-manager checkpoint, or too large; the message names it.
        OSError: It cannot be read.
    """
    content = _bounded(path, max_size)
    try:
        return CheckpointFile(path, content, inspect(content))
    except CheckpointSyntaxError as error:
        where = "" if error.offset is None else f", at byte {error.offset} of {len(content)}"
        message = f"{path}: checkpoint is not JSON: {error}{where}"
        raise CheckpointSyntaxError(message, offset=error.offset) from error
    except CheckpointError as error:
        message = f"{path}: {error}"
        raise type(error)(message) from error


def read_valid_checkpoint(path: Path, *, max_size: int) -> CheckpointFile:
    """Read a file whose content is needed, so that its checksum must be right.

    Raises:
        CheckpointError: As `read_checkpoint`, or the checksum is wrong.
        OSError: The file cannot be read.
    """
    file = read_checkpoint(path, max_size=max_size)
    damage = file.damage()
    if damage is not None:
        raise damage
    return file


def _advice() -> str:
    """Return what to do about a large file, where the command can read larger ones."""
    context = click.get_current_context(silent=True)
    options = () if context is None else (option.name for option in context.command.params)
    return "; if it is a checkpoint, raise --max-size" if "max_size" in options else ""


def read_importable_checkpoint(path: Path, *, max_size: int) -> CheckpointFile:
    """Read a file as `read_valid_checkpoint`, and say how a wrong checksum can be passed over.

    Raises:
        CheckpointError: As there.
        OSError: The file cannot be read.
    """
    try:
        return read_valid_checkpoint(path, max_size=max_size)
    except CorruptCheckpointError as error:
        message = f"{error}; --accept-bad-checksum takes what it says all the same"
        raise CorruptCheckpointError(message, found=error.found, computed=error.computed) from error


def _bounded(path: Path, max_size: int) -> bytes:
    parts: list[bytes] = []
    left = max_size
    with path.open("rb") as stream:
        while part := stream.read(_PART_SIZE):
            parts.append(part)
            left -= len(part)
            if left < 0:
                message = f"{path}: larger than {max_size} bytes, so it was not read{_advice()}"
                raise CheckpointTooLargeError(message)
    return b"".join(parts)
