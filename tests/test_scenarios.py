"""Every built-in scenario: its expectations hold and its transcript is the expected one.

Transcripts are rewritten only by `rebind replay --all --update-transcripts`; look at the difference
and commit it only if you understand and want the change.
"""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from scenarios.builtin import builtin_names, find_file
from scenarios.loading.loaded import load_scenarios
from scenarios.loading.matrix import Narrowing
from scenarios.running.replay import SOURCE_ANNOTATION, replay
from simulator.assembly.worlds import simulated
from simulator.reports.results import ScenarioResult, Verdict
from simulator.reports.transcript import transcript

ROOT = Path(__file__).parents[1]
NAMES = builtin_names()


@cache
def result(name: str) -> ScenarioResult:
    [loaded] = load_scenarios(find_file(name), {})
    return replay(loaded, Narrowing(), simulated)


def cell_texts(name: str, title: str) -> dict[str, str]:
    """Return what a row observed, by version, where both persistences saw the same."""
    found = result(name)
    [row] = [row for row in found.rows if row.title == title]
    texts: dict[str, set[str]] = {}
    for column, cell in zip(found.columns, row.cells, strict=True):
        texts.setdefault(column.version, set()).add(cell.text())
    assert all(len(seen) == 1 for seen in texts.values())
    return {version: seen.pop() for version, seen in texts.items()}


def test_there_are_ten_scenarios_to_begin_with() -> None:
    assert len(NAMES) >= 10


def expected_transcript(name: str) -> str:
    return find_file(name).with_suffix(".transcript").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_every_expectation_holds_and_the_transcript_is_the_expected_one(name: str) -> None:
    found = result(name)
    broken = [
        f"{column.label}: {row.title}: {cell.text()}"
        for row in found.rows
        for column, cell in zip(found.columns, row.cells, strict=True)
        if cell.verdict is Verdict.BROKEN
    ]

    assert broken == []
    assert found.held > 0
    assert found.skipped == 0
    assert transcript(found) == expected_transcript(name)


@pytest.mark.parametrize("name", NAMES)
def test_every_scenario_says_what_it_shows_and_where_it_comes_from(name: str) -> None:
    path = find_file(name)
    [loaded] = load_scenarios(path, {})
    head = path.read_text(encoding="utf-8").split("apiVersion:")[0].splitlines()

    assert loaded.name == name == path.stem
    assert len(head) >= 5
    assert all(line.startswith("#") for line in head)
    assert loaded.scenario.spec.description.endswith(".")
    assert loaded.scenario.metadata.annotations[SOURCE_ANNOTATION].startswith("https://")


def test_every_transcript_belongs_to_a_scenario() -> None:
    folder = find_file(NAMES[0]).parent

    assert sorted(path.stem for path in folder.glob("*.transcript")) == list(NAMES)


@pytest.mark.parametrize(
    ("name", "differs"),
    [
        ("state-file-damaged", True),
        ("upgrade-1-19-to-1-36", True),
        ("power-cut-at-rename", True),
        ("reboot-pod-before-plugin", False),
        ("kubelet-restart-late-plugin", False),
    ],
)
def test_some_scenarios_differ_by_persistence_and_some_cannot(name: str, *, differs: bool) -> None:
    found = result(name)

    assert any(row.differs(found.columns, "persistence") for row in found.rows) is differs


def test_a_pod_rebooted_before_its_plugin_is_admitted_on_stale_devices_or_fails() -> None:
    """Table 5.4, column "RB np"; S13.1 for the message."""
    failed = (
        "Failed, UnexpectedAdmissionError, Pod was rejected: Allocate failed due to no healthy "
        "devices present; cannot allocate unhealthy devices example.com/gpu, which is unexpected"
    )
    texts = cell_texts("reboot-pod-before-plugin", "after reboot within 5s: pod trainer")

    assert texts["1.24.0"].startswith("Running, ")
    assert "2 gpu, 0 Allocate" in texts["1.24.0"]
    assert texts["1.27.2"].startswith(failed)
    assert texts["1.36.2"].startswith(failed)


def test_the_demo_shows_outcomes_that_differ_and_outcomes_that_cannot() -> None:
    demo = ROOT / "scenarios" / "demo" / "imported-node.yaml"
    restart, reboot, damage = (
        replay(loaded, Narrowing(), simulated) for loaded in load_scenarios(demo, {})
    )

    assert restart.broken == reboot.broken == damage.broken == 0
    for cannot_differ in (restart, reboot):
        [row] = cannot_differ.rows
        assert row.differs(cannot_differ.columns, "version")
        assert not row.differs(cannot_differ.columns, "persistence")
    assert [row.differs(damage.columns, "persistence") for row in damage.rows] == [
        False,
        True,
        True,
    ]


def test_all_scenarios_hold_with_the_same_bytes_whatever_the_order_of_sets() -> None:
    """The expected transcripts were written under another hash seed, one chosen by chance."""
    finished = subprocess.run(
        [sys.executable, "-m", "simulator.cli", "replay", "--all", "-o", "transcript"],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": "1", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=True,
    )

    assert finished.stdout.decode() == "\n".join(map(expected_transcript, NAMES))
