"""Checkpoint files that the real code wrote: read, hashed, described and written back."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from simulator.core.behavior import Behavior
from simulator.core.checkpoint.bindings import checkpoint_of, read_bindings
from simulator.core.checkpoint.dump import checksum, dump
from simulator.core.checkpoint.parse import parse
from simulator.core.checkpoint.render import render
from simulator.core.checkpoint.values import Checkpoint
from simulator.errors import CheckpointError
from tests.golden import described
from tests.golden.comparing import compare, first_difference
from tests.golden.described import Described


def check_checkpoint(path: Path, expect: Described, behavior: Behavior) -> list[str]:
    """Return what differs from a recording.

    Args:
        path: The checkpoint file.
        expect: The recording's description of it.
        behavior: The version that wrote it.
    """
    content = path.read_bytes()
    try:
        checkpoint = parse(content, behavior.checkpoints_read)
    except CheckpointError as error:
        return [f"read_error: recorded {expect.get('read_error')!r}, here {str(error)!r}"]
    differences = compare(expect, _describe(content, checkpoint, behavior))
    written = render(checkpoint, legacy_escapes=behavior.legacy_json_escapes)
    if written != content:
        differences.append(f"written back: {first_difference(content, written)}")
    return differences


def _describe(content: bytes, checkpoint: Checkpoint, behavior: Behavior) -> Described:
    text = dump(checkpoint)
    lenient = behavior.lenient_allocate_responses
    held = read_bindings(checkpoint, lenient=lenient).bindings
    again = read_bindings(checkpoint_of(held, (), checkpoint.format), lenient=lenient).bindings
    return {
        "file_bytes": len(content),
        "file_sha256": sha256(content).hexdigest(),
        "checksum": checksum(text),
        "hashed_string": text.decode("utf-8", "surrogateescape"),
        "hashed_string_len": len(text),
        "hashed_string_sha256": sha256(text).hexdigest(),
        "entries_in_file_order": [
            described.entry(entry, behavior) for entry in checkpoint.entries or ()
        ],
        "registered_devices": described.registered(checkpoint),
        "allocated_devices_after_read": described.allocated(held),
        "read_error": "",
        "roundtrip_pod_devices_equal": again == held,
    }
