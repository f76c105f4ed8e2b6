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
from simulator.core.plurals import counted
from simulator.errors import CheckpointError

_SUBJECT: Final = "checkpoint"
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
    path: Path, kubelet: Behavior, *, max_size: int
) -> tuple[CheckpointFile | None, list[Check]]:
    """Read the file and say how it stands; no file is a check, too (R59)."""
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            seen, advice = (
                f"{path} is no regular file",
                "move it away: no kubelet makes such a thing",
            )
            return None, [problem(_SUBJECT, seen, advice)]
        file = read_checkpoint(path, max_size=max_size)
    except FileNotFoundError:
        seen = "there is none: normal until a plugin has reported its devices (R58)"
        return None, [ok(_SUBJECT, seen)]
    except OSError as error:
        seen = f"{path}: {error.strerror}"
        return None, [problem(_SUBJECT, seen, "run this as the kubelet's user")]
    except CheckpointError as error:
        return None, [_damaged(str(error))]
    damage = file.damage()
    if damage is not None:
        return None, [_damaged(str(damage))]
    return file, [*_reading(file, kubelet), *_oddities(file)]


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
