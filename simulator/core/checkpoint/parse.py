"""Reading a checkpoint file as the kubelet of a given version does (S4.2, S4.3, S4.12, S4.15).

The decoding is Go's: field names in any case, null leaves what is there, a repeated key is decoded
over the first, unknown keys are skipped, and the first value of a wrong type is the error that is
reported, after the whole text proved to be JSON.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from simulator.core.behavior import CheckpointFormat
from simulator.core.checkpoint.decode import decode
from simulator.core.checkpoint.dump import checksum, dump
from simulator.core.checkpoint.go_json import loads
from simulator.core.checkpoint.json_values import JsonValue
from simulator.core.checkpoint.values import Checkpoint
from simulator.errors import CheckpointError, CorruptCheckpointError

_ORDER: Final = (CheckpointFormat.V2, CheckpointFormat.V1, CheckpointFormat.BARE)


def parse(content: bytes, formats: Collection[CheckpointFormat]) -> Checkpoint:
    """Read a checkpoint file.

    Args:
        content: The file.
        formats: What the kubelet reads (`Behavior.checkpoints_read`), not empty; the newest is
            tried first, and when no format fits its error is the one that counts.

    Raises:
        CheckpointSyntaxError: Not JSON.
        CheckpointTypeError: JSON of another shape; the message is Go's.
        CorruptCheckpointError: The checksum does not match.

    Kubelet: checkpointManager.GetCheckpoint, and getCheckpointV2 then getCheckpointV1 (1.23-1.29).
    """
    value = loads(content)
    first_error: CheckpointError | None = None
    for form in _ORDER:
        if form in formats:
            try:
                return verified(value, form)
            except CheckpointError as error:
                first_error = first_error or error
    raise first_error or CheckpointError(f"no format to read the checkpoint in: {formats}")


def verified(value: JsonValue, form: CheckpointFormat) -> Checkpoint:
    """Decode a JSON value in one format and compare the checksum; a bare file has none.

    Raises:
        CheckpointTypeError: The value does not have the shape of the format.
        CorruptCheckpointError: The checksum does not match.
    """
    checkpoint, found = decode(value, form)
    if form is not CheckpointFormat.BARE:
        computed = checksum(dump(checkpoint))
        if found != computed:
            raise CorruptCheckpointError(found=found, computed=computed)
    return checkpoint
