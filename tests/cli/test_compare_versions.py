"""`rebind compare-versions` against table 5.4 of kubelet-behaviour."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.laboratory import FILES
from tests.cli.running import rebind


def compared(*arguments: str) -> dict[str, list[dict[str, object]]]:
    finished = rebind("compare-versions", *arguments, "-o", "json")
    assert finished.code == 0, finished.stderr
    document: dict[str, list[dict[str, object]]] = json.loads(finished.stdout)
    return document


def test_one_fix_is_the_one_switch_between_two_patches() -> None:
    """PR 118635 spares a running pod at a kubelet restart, and nothing at a reboot (R01)."""
    document = compared("1.27.2", "1.27.6")
    [switch] = document["switches"]
    different = {one["scenario"] for one in document["scenarios"] if one["differs"]}

    assert switch["switch"] == "readmissionHealthCheck"
    assert switch["values"] == ["always", "unlessRunning"]
    assert switch["changes"] == [
        {
            "release": "1.28.0",
            "backports": ["1.27.6", "1.26.9", "1.25.14"],
            "to": "unlessRunning",
            "source": "PR 118635",
        }
    ]
    assert "kubelet-restart-late-plugin" in different
    assert {"reboot-pod-before-plugin", "reboot-ids-changed"}.isdisjoint(different)


def test_causes_are_the_switches_that_alone_change_what_is_seen() -> None:
    """PR 126343 is what spares the completed pod (R44), PR 132028 changes no outcome (S8.8)."""
    document = compared("1.31.0", "1.34.0", "--causes")
    causes = {one["scenario"]: one["causes"] for one in document["scenarios"] if one["differs"]}

    assert {switch["switch"] for switch in document["switches"]} > {"terminatedPodsReadmitted"}
    assert causes["completed-pod-readmitted"] == ["terminatedPodsReadmitted"]


def test_a_difference_names_the_row_and_what_each_version_shows() -> None:
    document = compared("1.24.0", "1.27.2")
    [reboot] = [
        one for one in document["scenarios"] if one["scenario"] == "reboot-pod-before-plugin"
    ]
    rows = reboot["rows"]

    assert isinstance(rows, list)
    assert rows[0]["title"] == "after reboot within 5s: pod trainer"
    assert {"key": "phase", "observed": ["Running", "Failed"]} in rows[0]["facts"]
    assert {"key": "reason", "observed": ["", "UnexpectedAdmissionError"]} in rows[0]["facts"]


def test_other_words_for_the_same_outcome_are_told_apart() -> None:
    """S5.9: from 1.25 to 1.26 the message of a rejected pod begins otherwise; it fails in both."""
    document = compared("1.25.14", "1.26.9")
    [failed] = [
        one for one in document["scenarios"] if one["scenario"] == "preferred-allocation-fails"
    ]
    finished = rebind("compare-versions", "1.25.14", "1.26.9")

    assert (failed["differs"], failed["messagesDiffer"]) == (False, True)
    assert "more only in the words of a message\n" in finished.stdout


def test_versions_that_behave_alike_are_not_even_run() -> None:
    finished = rebind("compare-versions", "1.24.0", "v1.24.9+k3s1")

    assert finished.code == 0
    assert finished.stdout == (
        "kubelet 1.24.0 → 1.24.9, profiles 1.23.0 and 1.23.0\n\n"
        "No switch differs, so nothing can come out differently.\n"
    )


def test_a_step_that_one_version_makes_impossible_is_a_difference() -> None:
    """In 1.27.2 the restart kills the pod whose container is to be restarted later (R01)."""
    document = compared("1.27.2", "1.36.2")
    [scenario] = [one for one in document["scenarios"] if one["scenario"] == "plugin-never-back"]
    rows = scenario["rows"]
    assert isinstance(rows, list)
    [row] = rows

    assert row["title"] == "the whole run"
    [fact] = row["facts"]
    assert 'pod "trainer" has no running container "main"' in fact["observed"][0]
    assert fact["observed"][1] == ""


@pytest.fixture
def _own_node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("kubelet_internal_checkpoint", "pods.yaml"):
        (tmp_path / name).write_bytes((FILES / name).read_bytes())
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("_own_node")
def test_the_own_pods_that_differ_are_named_for_each_event() -> None:
    """Table 5.4: from 1.27.2 on a pod fails at a reboot while its plugin is late, at 1.24 not."""
    finished = rebind(
        "compare-versions", "1.24", "1.27.2",
        "--checkpoint", "kubelet_internal_checkpoint", "-f", "pods.yaml",
    )  # fmt: skip
    lines = finished.stdout.splitlines()
    heads = [index for index, line in enumerate(lines) if line.startswith("Your node.")]

    assert len(heads) == 4
    assert "The node reboots; the plugins are back only 20s after" in lines[heads[3]]
    assert "pod trainer: phase Running → Failed" in "\n".join(lines[heads[3] :])
    assert "trainer" not in "\n".join(lines[heads[2] : heads[3]])
    assert lines[-1] == "    because of readmissionHealthCheck"
    assert "note: 1 pod without devices left out" in finished.stderr


@pytest.mark.usefixtures("_own_node")
def test_a_fix_that_shows_only_together_with_another_is_a_cause() -> None:
    """R04: a running container that restarted once is spared by PR 118635 and PR 135485 together.

    Either alone still refuses it: S5.6 and table 5.4, rows 1.27.2 and 1.27.6.
    """
    finished = rebind(
        "compare-versions", "1.27.2", "1.36.2",
        "--checkpoint", "kubelet_internal_checkpoint", "-f", "pods.yaml",
    )  # fmt: skip

    assert "because of readmissionHealthCheck, runningCheck" in finished.stdout


@pytest.mark.usefixtures("_own_node")
@pytest.mark.parametrize(
    "arguments",
    [
        ["--checkpoint", "kubelet_internal_checkpoint"],
        ["-f", "pods.yaml"],
        ["--node-name", "n0"],
    ],
)
def test_half_of_the_own_node_is_refused(arguments: list[str]) -> None:
    finished = rebind("compare-versions", "1.24", "1.28", *arguments)

    assert finished.code == 2
    assert "your own node wants both --checkpoint FILE and -f FILE with its pods" in finished.stderr


def test_a_release_that_is_not_known_says_what_it_is_taken_for() -> None:
    finished = rebind("compare-versions", "1.36.2", "1.40")

    assert "1.40 is newer than 1.36.2, the newest known; it behaves like that" in finished.stderr
    assert "disconnectMatch: resourceName → ownEndpoint, since 1.37.0: PR 135437" in (
        finished.stdout
    )


def test_the_idea_that_was_not_released_can_be_compared() -> None:
    """R36: only with PR 137919 the pod with a finished init container survives the restart."""
    finished = rebind("compare-versions", "1.36.2", "trust-checkpoint")

    assert "trustsCheckpoint: no → yes, never released: PR 137919" in finished.stdout
    assert "restart-init-shares-device" in finished.stdout
