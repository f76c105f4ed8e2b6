"""Damaged and odd files: the verdict, the kind of the error, and the state after the read."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from simulator.core.behavior import Behavior
from simulator.core.checkpoint.bindings import read_bindings
from simulator.core.checkpoint.dump import dump
from simulator.core.checkpoint.incremental import CheckpointRenderer
from simulator.core.checkpoint.parse import parse
from simulator.core.checkpoint.values import Checkpoint
from simulator.core.transitions import DeviceBinding
from simulator.errors import CheckpointError, CorruptCheckpointError
from tests.golden import described
from tests.golden.comparing import compare
from tests.golden.described import Described
from tests.golden.kinds import ABSENT, NONE, error_kind
from tests.golden.profiles import V1_KUBELET

_ERROR_KEYS = ("get_checkpoint_error", "read_checkpoint_error")
_GO_TYPE_KEY = "get_checkpoint_error_go_type"
_NOTHING = Checkpoint(V1_KUBELET.checkpoint_written, None, {})


def check_corrupt(path: Path | None, expect: Described, behavior: Behavior) -> list[str]:
    """Return what differs from a recording.

    Args:
        path: The damaged file; None when the recording has none.
        expect: The recording's description of it.
        behavior: The version that read it.
    """
    if path is not None:
        return _check(path, expect, behavior)
    differences = []
    with _without_file(error_kind(str(expect["get_checkpoint_error"]))) as stand_ins:
        for stand_in in stand_ins:
            found = _check(stand_in, expect, behavior)
            differences += [f"({stand_in.name}) {line}" for line in found]
    return differences


@contextmanager
def _without_file(kind: str) -> Iterator[tuple[Path, ...]]:
    """Make what stands where the file should: nothing and a dangling link, or a directory."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        link, directory = folder / "dangling link", folder / "directory"
        link.symlink_to(folder / "nowhere")
        directory.mkdir()
        yield (folder / "absent file", link) if kind == ABSENT else (directory,)


def _check(path: Path, expect: Described, behavior: Behavior) -> list[str]:
    error: CheckpointError | OSError | None = None
    checkpoint = _NOTHING
    held: tuple[DeviceBinding, ...] = ()
    try:
        checkpoint = parse(path.read_bytes(), behavior.checkpoints_read)
        held = read_bindings(checkpoint, lenient=behavior.lenient_allocate_responses).bindings
    except (CheckpointError, OSError) as caught:
        error = caught
    found = {
        **_verdict(error),
        "pod_uids_after_read": sorted({binding.pod for binding in held}),
        "allocated_devices_after_read": described.allocated(held),
        "registered_resources_after_read": sorted(checkpoint.registered or ()),
        "bindings_after_read": _bindings(expect, held),
        "start_error": "",
        "file_after_first_write": _first_write(checkpoint, held, behavior),
    }
    if "v1_hashed_string" in expect:
        text = dump(parse(path.read_bytes(), V1_KUBELET.checkpoints_read))
        found["v1_hashed_string"] = text.decode("utf-8", "surrogateescape")
    return compare(_with_kinds(expect), found)


def _verdict(error: CheckpointError | OSError | None) -> Described:
    """Describe what the checkpoint manager and the device manager say of the file."""
    if isinstance(error, FileNotFoundError):
        return {
            "get_checkpoint_error": ABSENT,
            "read_checkpoint_error": NONE,
            "is_corrupt_checkpoint_error": False,
            "accepted": False,
        }
    kind = error_kind("" if error is None else str(error))
    sums = (
        {"checksum_computed": error.computed, "checksum_in_file": error.found}
        if isinstance(error, CorruptCheckpointError)
        else {}
    )
    return {
        "get_checkpoint_error": kind,
        "read_checkpoint_error": kind,
        "is_corrupt_checkpoint_error": isinstance(error, CorruptCheckpointError),
        "accepted": error is None,
        **sums,
    }


def _with_kinds(expect: Described) -> Described:
    """Put kinds in place of the recorded error texts (details 30)."""
    go_type = str(expect.get(_GO_TYPE_KEY, ""))
    return {
        key: error_kind(str(value), go_type) if key in _ERROR_KEYS else value
        for key, value in expect.items()
        if key != _GO_TYPE_KEY
    }


def _bindings(expect: Described, held: tuple[DeviceBinding, ...]) -> Described:
    """Describe bindings by node where the recording does."""
    recorded = expect.get("bindings_after_read")
    by_node = isinstance(recorded, dict) and any(isinstance(ids, dict) for ids in recorded.values())
    return described.bindings_by_node(held) if by_node else described.bindings(held)


def _first_write(
    checkpoint: Checkpoint, held: tuple[DeviceBinding, ...], behavior: Behavior
) -> str:
    """Return what the first write after the start leaves: resources are known, none is healthy."""
    renderer = CheckpointRenderer(
        behavior.checkpoint_written, legacy_escapes=behavior.legacy_json_escapes
    )
    renderer.put(held)
    return renderer.render([(name, ()) for name in sorted(checkpoint.registered or ())]).decode()
