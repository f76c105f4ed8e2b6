"""What the content of a node's checkpoint file shows."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from simulator.cli.checkpoint_files import CheckpointFile, read_checkpoint
from simulator.cli.commands.doctor.checks import Check, ok, problem, warning
from simulator.core.behavior import Behavior
from simulator.core.checkpoint.findings import Oddity, findings
from simulator.core.checkpoint.outlook import outlook, summary
from simulator.core.migration.phases import meaning_of, regime_of
from simulator.core.plurals import counted
from simulator.core.transitions import NodeState
from simulator.errors import CheckpointError, CheckpointTooLargeError

_SUBJECT: Final = "checkpoint"
_NO_FILE: Final = "no kubelet makes such a thing, or can use it; move it away"
_NO_TARGET: Final = (
    "bring its target back while the kubelet is stopped; otherwise it starts without any record"
)
_PROBLEMS: Final = {
    Oddity.HELD_BY_TWO_PODS: "end one of the pods: both use the device (R79)",
    Oddity.ENTRY_SKIPPED: "delete the pod, so that its replacement is recorded anew",
}
_WARNINGS: Final = {
    Oddity.RESOURCE_NOT_REGISTERED: (
        "restart its plugin: containers cannot be started again without it"
    ),
    Oddity.DEVICE_NOT_HEALTHY: (
        "see the plugin's log: at a reboot the kubelet may refuse the pods that hold them"
    ),
    Oddity.ENTRY_REPEATED: "nothing; the next write drops the others",
    Oddity.BYTES_DIFFER: "find out who edited it; a kubelet reads it all the same",
}


def look_at_checkpoint(
    path: Path, kubelet: Behavior, state: NodeState | None, *, max_size: int
) -> tuple[CheckpointFile | None, list[Check]]:
    """Read the file and say how it stands; no file is a check, too (R59).

    Args:
        path: The file.
        kubelet: The node's kubelet.
        state: What the database says of the node; None when it says nothing.
        max_size: Most bytes that are read.
    """
    file = _read(path, state, max_size=max_size)
    if isinstance(file, Check):
        return None, [file]
    return file, [*_reading(file, kubelet), *_link(path), *_oddities(file)]


def _read(path: Path, state: NodeState | None, *, max_size: int) -> CheckpointFile | Check:
    """Return the file, or why there is nothing to be read."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return problem(_SUBJECT, f"{path} is no regular file", _NO_FILE)
        file = read_checkpoint(path, max_size=max_size)
    except FileNotFoundError:
        return _absent(path, state)
    except OSError as error:
        return problem(_SUBJECT, f"{path}: {error.strerror}", "run this as the kubelet's user")
    except CheckpointTooLargeError as error:
        return warning(_SUBJECT, str(error), "look again with a larger --max-size")
    except CheckpointError as error:
        return _damaged(str(error))
    damage = file.damage()
    return file if damage is None else _damaged(str(damage))


def _absent(path: Path, state: NodeState | None) -> Check:
    """Judge that there is no file, by how far the node's migration is."""
    if path.is_symlink():
        return problem(_SUBJECT, f"{path} is a link to nowhere", _NO_TARGET)
    if state is None or state.phase is None:
        return ok(_SUBJECT, "there is none: normal until a plugin has reported its devices (R58)")
    meaning = f"in phase {state.phase.value} {meaning_of(state.phase)}"
    if not regime_of(state.phase).writes_file:
        return ok(_SUBJECT, f"there is none, as it should be: {meaning}")
    advice = f"rebind migrate status --node {state.node} says what is left and what to do"
    return problem(_SUBJECT, f"there is none, but {meaning}", advice)


def _link(path: Path) -> Iterator[Check]:
    """Tell of a link: a kubelet reads through it, and renames its next file over it (S4.9)."""
    if path.is_symlink():
        seen = f"it is a link to {path.readlink()}"
        yield warning(_SUBJECT, seen, "nothing; the kubelet's next write puts a file in its place")


def _damaged(seen: str) -> Check:
    advice = (
        "the kubelet starts without any record; rebind checkpoint verify FILE says what is lost"
    )
    return problem(_SUBJECT, seen, advice)


def _reading(file: CheckpointFile, kubelet: Behavior) -> Iterator[Check]:
    checkpoint = file.inspection.checkpoint
    entries = counted(len(checkpoint.entries or ()), "entry", "entries")
    form = checkpoint.format.value.upper()
    yield ok(_SUBJECT, f"valid, format {form}, {entries}")
    expected = outlook(file.content, checkpoint, kubelet)
    seen = f"kubelet {kubelet.version} {summary(expected)}"
    if expected.is_read:
        yield ok("next start", seen)
    else:
        yield problem(
            "next start", seen, "name the node's --kubelet-version, or convert the file (R54)"
        )


def _oddities(file: CheckpointFile) -> Iterator[Check]:
    for each in findings(file.inspection.checkpoint, file.content):
        if each.oddity in _PROBLEMS:
            yield problem(_SUBJECT, each.message, _PROBLEMS[each.oddity])
        else:
            yield warning(_SUBJECT, each.message, _WARNINGS[each.oddity])
