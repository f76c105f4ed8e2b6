"""`rebind bench`."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from benchmarks.profiles.presets import find_profile, preset_names
from simulator.cli.commands.bench.profiles import rounded
from simulator.cli.output_files import write_whole
from simulator.core.instants import SECOND, Duration
from tests.cli.running import rebind

BRIEF = ("--nodes", "3", "--seconds", "0.05")
SHORT = ("bench", "run", "quick", *BRIEF)


def test_the_presets_are_listed_with_their_length() -> None:
    finished = rebind("bench", "list", "-o", "json")
    items = {item["name"]: item for item in json.loads(finished.stdout)["items"]}

    assert finished.code == 0
    assert items.keys() == set(preset_names())
    assert items["quick"]["runs"] == 8
    assert items["quick"]["seconds"] <= 60
    assert items["quick"]["parameters"] == ["DURATION", "NODES", "RATE"]
    assert items["gpu-fill-then-churn"]["runsWithPostgreSQL"] == 12


def test_a_list_tells_what_a_preset_is_about() -> None:
    rows = rebind("bench", "list", "chaos", "soak-80", "--no-headers").stdout.splitlines()

    assert [row.split()[:2] for row in rows] == [["chaos", "4"], ["soak-80", "1"]]
    assert "   A ramp finds the saturation rate; then 10 minutes at 80 % of it, " in rows[1]


def test_the_whole_matrix_is_counted_when_asked_for() -> None:
    finished = rebind("bench", "list", "api-comparison", "--matrix", "-o", "json")
    [item] = json.loads(finished.stdout)["items"]

    assert item["runs"] == len(item["combinations"]) == 72
    assert item["combinations"][0] == "checkpoint, QPS 5/10, fsync +0s, 110 existing"


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(0.2, "1s"), (55, "55s"), (61, "1m10s"), (120, "2m"), (601, "11m"), (7_830, "2h11m")],
)
def test_a_length_is_told_as_people_say_it(seconds: float, expected: str) -> None:
    assert rounded(Duration(round(seconds * SECOND))) == expected


def test_a_preset_is_shown_as_the_file_that_it_is(tmp_path: Path) -> None:
    shown = rebind("bench", "show", "quick")
    own = tmp_path / "own.yaml"
    own.write_text(shown.stdout.replace("name: quick", "name: own"))
    listed = rebind("bench", "list", str(own), "--set", "NODES=7", "-o", "json")
    [item] = json.loads(listed.stdout)["items"]

    assert shown.stdout == find_profile("quick").read_text()
    assert (item["name"], item["nodes"], item["runs"]) == ("own", 7, 8)


def test_every_fault_of_a_file_is_told_with_its_place(tmp_path: Path) -> None:
    text = find_profile("quick").read_text()
    own = tmp_path / "own.yaml"
    own.write_text(text.replace("seed: 1", "sed: 1").replace("drain: 1s", "drain: 1"))
    finished = rebind("bench", "list", str(own))
    first, second = finished.stderr.splitlines()[:2]

    assert finished.code == 2
    assert first.startswith(f'error: {own}:9:3: spec: unknown key "sed"; did you mean "seed"?')
    assert "spec.phases[0].drain: wants a duration such as 250ms or 1m30s, found " in second


def test_a_setting_that_is_no_parameter_is_refused() -> None:
    finished = rebind("bench", "list", "chaos", "--set", "NODE=1")

    assert finished.code == 2
    assert finished.stderr == (
        'error: --set NODE: no such parameter; did you mean "NODES"? Allowed: DURATION, NODES\n'
    )


def test_a_run_prints_a_row_for_each_combination_with_its_durability() -> None:
    finished = rebind(*SHORT, "-o", "json")
    items = json.loads(finished.stdout)["items"]
    kept = [item["setting"] for item in items]

    assert finished.code == 0
    assert {one["durability"] for one in kept} == {"full"}
    assert {
        (one["persistence"], str(one["commitBatch"]), one["addedFsync"])
        for one in kept
        if one["persistence"] in {"checkpoint", "database"}
    } == {
        (persistence, batch, added)
        for added in ("0s", "1ms")
        for persistence, batch in (("checkpoint", "-"), ("database", "1"), ("database", "64"))
    }


def without_api(folder: Path) -> str:
    """Return a file with the preset `quick`, but for what needs an API server."""
    text = find_profile("quick").read_text()
    own = folder / "own.yaml"
    own.write_text(
        "\n".join(line for line in text.splitlines() if "{persistence: bind-resource" not in line)
    )
    return str(own)


def test_a_result_is_kept_in_a_file_that_can_be_reported(tmp_path: Path) -> None:
    out = tmp_path / "run.json"
    name = without_api(tmp_path)
    ran = rebind(
        "bench", "run", name, *BRIEF, "--set", "RATE=100", "--seed", "7", "--out", str(out)
    )
    reported = rebind("bench", "report", str(out), "-o", "json")
    [run] = json.loads(reported.stdout)["items"]

    assert (ran.code, reported.code) == (0, 0)
    assert "plain fsync here: p50 " in ran.stdout
    assert json.loads(out.read_text())["result"]["seed"] == 7
    assert run["complete"] is True


@pytest.mark.parametrize(
    ("below", "code", "word"), [("1h", 0, "gates: 1 of 1 hold"), ("1ns", 1, "gate failed: burst")]
)
def test_a_run_ends_with_what_its_gates_say(
    below: str, code: int, word: str, tmp_path: Path
) -> None:
    text = find_profile("burst-110").read_text()
    gate = f"{{measure: start, percentile: 99, below: {below}}}"
    own = tmp_path / "own.yaml"
    own.write_text(
        text.replace("burst: {pods: 110}", "burst: {pods: 2}")
        .replace("drain: 10m", f"drain: 10m, gate: {gate}")
        .replace("[checkpoint, bind-resource, {bind-resource: {perContainer: true}}]", "checkpoint")
        .replace("[{qps: 5, burst: 10}, {qps: 50, burst: 100}]", "{qps: 5, burst: 10}")
    )
    finished = rebind("bench", "run", str(own))

    assert finished.code == code
    assert word in finished.stderr


def test_an_interrupted_run_prints_and_keeps_what_was_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "run.json"
    written: list[Path] = []

    def write(path: Path, content: bytes) -> None:
        write_whole(path, content)
        written.append(path)
        if len(written) == 2:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("simulator.cli.commands.bench.running.write_whole", write)
    finished = rebind(
        "bench", "run", without_api(tmp_path), *BRIEF, "--out", str(out), "--no-headers"
    )

    assert finished.code == 130
    assert finished.stderr.endswith("interrupted\n")
    assert len(finished.stdout.splitlines()) == len(json.loads(out.read_text())["result"]["rows"])


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("missing/run.json", "No such file or directory"),
        ("file/run.json", "Not a directory"),
        ("folder", "Is a directory"),
    ],
)
def test_a_result_that_cannot_be_kept_is_refused_before_anything_is_measured(
    name: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    measured: list[str] = []
    monkeypatch.setattr(
        "simulator.cli.commands.bench.running.Runner.measure", lambda _: measured.append("row")
    )
    finished = rebind("bench", "run", "quick", "--out", str(tmp_path / name))

    assert (finished.code, finished.stdout, measured) == (3, "", [])
    assert finished.stderr == f"error: {tmp_path / name}: {reason}\n"


def test_an_unknown_preset_is_refused_with_the_known_ones() -> None:
    finished = rebind("bench", "run", "slow")

    assert finished.code == 2
    assert "`rebind bench list` shows all" in finished.stderr


def test_a_database_that_is_none_is_refused_before_anything_is_measured() -> None:
    finished = rebind("bench", "run", "gpu-fill-then-churn", *BRIEF, "--db-url", "sqlite:///own.db")

    assert (finished.code, finished.stdout) == (2, "")
    assert finished.stderr == "error: sqlite:///own.db is no PostgreSQL database\n"
