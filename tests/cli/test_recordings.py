"""`rebind replay` of a recording."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.laboratory import FILES
from tests.cli.running import rebind


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    path = tmp_path / "run.jsonl"
    shutil.copy(FILES / "run.jsonl", path)
    return path


def test_a_recording_is_known_by_what_it_is_and_its_transcript_counts_from_its_start(
    recording: Path,
) -> None:
    replayed = rebind("replay", str(recording))
    named = rebind("replay", "--recording", str(recording), "-o", "transcript")

    assert (replayed.code, replayed.stderr) == (0, "")
    assert replayed.stdout == named.stdout
    head, first, *_ = replayed.stdout.splitlines()
    assert head.startswith("# recording: 1.36.2 database, seed ")
    assert first.split()[:3] == ["0s", "n0", "KubeletStarted"]
    assert "AdmissionDecided    trainer admitted" in replayed.stdout


def test_the_trace_of_a_replay_has_the_recorded_records_and_no_inputs(recording: Path) -> None:
    replayed = rebind("replay", str(recording), "-o", "trace")
    records = [line for line in recording.read_text().splitlines() if "DevicesAllocated" in line]

    assert replayed.code == 0
    assert records[0] in replayed.stdout
    assert "PluginListed" not in replayed.stdout


def test_a_replay_that_says_something_else_than_the_live_run_is_told_where(
    recording: Path,
) -> None:
    text = recording.read_text()
    recording.write_text(text.replace('"admitted": true', '"admitted": false', 1))
    replayed = rebind("replay", str(recording))

    assert replayed.code == 1
    assert replayed.stderr.startswith("not the same run: record ")
    assert replayed.stderr.count("\n") == 1


def test_an_answer_that_the_replay_has_not_asked_for_is_refused(recording: Path) -> None:
    lines = recording.read_text().splitlines()
    late = [line for line in lines if '"CallAnswered"' in line]
    answer = json.loads(late[0]) | {"call": 99}
    recording.write_text("\n".join([*lines, json.dumps(answer), ""]))
    replayed = rebind("replay", str(recording))

    assert replayed.code == 2
    assert "answers the plugin call 99, which the replay has not made" in replayed.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--kubelet-version", "1.30.0"), "leave --kubelet-version out"),
        (("-o", "junit"), "-o junit is for scenarios; a recording has"),
    ],
)
def test_what_makes_no_sense_for_a_recording_is_refused(
    recording: Path, arguments: tuple[str, ...], said: str
) -> None:
    replayed = rebind("replay", str(recording), *arguments)

    assert replayed.code == 2
    assert said in replayed.stderr


def test_a_trace_made_in_virtual_time_is_no_recording(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    one = ("--persistence", "database", "--kubelet-version", "1.36.2", "-o", "trace")
    traced = rebind("replay", "reboot-pod-before-plugin", *one, "--output-file", str(path))
    replayed = rebind("replay", str(path))

    assert (traced.code, replayed.code) == (0, 2)
    assert "a trace made by `rebind replay` cannot be replayed" in replayed.stderr
