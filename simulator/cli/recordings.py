"""Recordings of `rebind serve --record`, replayed: the run again, and whether it is the same."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import Final

from simulator.core.instants import Instant
from simulator.core.records import Stamped
from simulator.reports.results import Column, RunResult
from simulator.reports.text import printable
from simulator.reports.transcript import record_lines
from simulator.server.recordings.inputs import INPUTS
from simulator.server.recordings.playback import Recording, play, read_recording
from simulator.server.recordings.recording import KIND, NAME, header, line_of

_HEADER_BYTES_MAX: Final = 64 * 1024 * 1024
_SHOWN_MAX: Final = 300


@dataclass(frozen=True, slots=True)
class Replayed:
    """A recording that was replayed.

    Attributes:
        records: What happened, at the instants of the live run.
        difference: Where the replay first says something else than the recording; empty when it
            says the same.
    """

    recording: Recording
    records: tuple[Stamped, ...]
    difference: str

    def transcript(self) -> str:
        """Return the records as lines for people; times count from the start of the recording."""
        run = self.recording.beginning.run
        started = self.recording.beginning.started
        column = Column(run.kubelet_version, run.persistence, "")
        shifted = tuple(replace(each, at=Instant(each.at - started)) for each in self.records)
        head = f"# {NAME}: {column.label}, seed {run.seed}"
        lines = record_lines(RunResult(column, run.seed, shifted))
        return "".join(f"{line}\n" for line in (head, *lines))

    def trace(self) -> str:
        """Return the records as lines of JSON, below the header of the recording."""
        beginning = self.recording.beginning
        lines = [header(beginning), *self.lines()]
        return "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)

    def lines(self) -> Iterator[dict[str, object]]:
        """Yield the records as the lines of a Trace."""
        started = self.recording.beginning.started
        for each in self.records:
            yield dict(line_of(each.at, started, each.node, each.record))


def is_recording(path: Path) -> bool:
    """Tell whether a file begins as a Trace does."""
    try:
        with path.open("rb") as file:
            first = file.readline(_HEADER_BYTES_MAX)
    except OSError:
        return False
    try:
        line = json.loads(first)
    except ValueError:
        return False
    return isinstance(line, dict) and line.get("kind") == KIND


def replay_recording(path: Path) -> Replayed:
    """Do a recorded run again.

    Raises:
        ConfigError: It is no recording, or it does not fit together.
        OSError: It cannot be read.
    """
    with path.open("rb") as file:
        recording = read_recording(file, str(path))
    stamped: list[Stamped] = []
    play(recording, stamped.append)
    replayed = Replayed(recording, tuple(stamped), "")
    return replace(replayed, difference=_difference(path, replayed))


def _difference(path: Path, replayed: Replayed) -> str:
    again = (json.loads(json.dumps(line)) for line in replayed.lines())
    for number, (was, now) in enumerate(zip_longest(_recorded(path), again), 1):
        if was != now:
            return (
                f"record {number} was {_shown(was)} in the live run and is {_shown(now)} "
                "in the replay"
            )
    return ""


def _recorded(path: Path) -> Iterator[object]:
    with path.open("rb") as file:
        file.readline()
        for text in file:
            if text.endswith(b"\n"):
                line = json.loads(text)
                if line["type"] not in INPUTS:
                    yield line


def _shown(line: object) -> str:
    if line is None:
        return "none"
    text = printable(json.dumps(line, ensure_ascii=False))
    return text if len(text) <= _SHOWN_MAX else f"{text[:_SHOWN_MAX]}..."
