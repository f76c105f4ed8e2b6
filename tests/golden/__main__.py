"""`python -m tests.golden PATH [PATH...]`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from simulator.core.switches import behavior_for
from tests.golden.checkpoints import check_checkpoint
from tests.golden.corrupt import check_corrupt
from tests.golden.finding import Kind, Recording, find
from tests.golden.profiles import V1_KUBELET
from tests.golden.read_lists import check_read_list
from tests.golden.results import Tally
from tests.golden.traces import check_trace

FINE, DIFFERENT, NOTHING_FOUND = range(3)


def main(arguments: Sequence[str], output: TextIO) -> int:
    """Check all recordings below the given paths; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.golden", description=__doc__)
    parser.add_argument("path", type=Path, nargs="+", help="a folder with recordings, or one file")
    tally = Tally()
    found = False
    for recording in find(parser.parse_args(arguments).path):
        found = True
        for line in _checked(recording, tally):
            tally.differences += 1
            print(f"{recording.path}: {line}", file=output)
    print(tally.summary(), file=output)
    if not found:
        return NOTHING_FOUND
    return DIFFERENT if tally.differences else FINE


def _checked(recording: Recording, tally: Tally) -> Sequence[str]:
    """Check one recording and count it; what ends the check is a difference like any other."""
    counts = {
        Kind.CHECKPOINT: tally.checkpoints,
        Kind.CORRUPT: tally.corrupt,
        Kind.TRACE: tally.traces,
    }
    try:
        lines = _check(recording, tally)
    except Exception as error:  # noqa: BLE001 - the other recordings are still to be checked
        lines = [f"cannot be checked: {type(error).__name__}: {error}"]
    if recording.kind in counts:
        counts[recording.kind].add(good=not lines)
    return lines


def _check(recording: Recording, tally: Tally) -> Sequence[str]:
    if recording.kind is Kind.UNREADABLE:
        return [recording.problem]
    if recording.kind is Kind.TRACE:
        result = check_trace(recording.path, recording.version)
        tally.steps += result.steps
        return result.differences
    if recording.kind is Kind.READ_LIST:
        return check_read_list(recording.path, recording.described)
    behavior = V1_KUBELET if recording.is_v1 else behavior_for(recording.version)
    expect, file = recording.described[0], recording.file
    if recording.kind is Kind.CORRUPT:
        return check_corrupt(file, expect, behavior)
    return check_checkpoint(file or recording.path, expect, behavior)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], sys.stdout))
