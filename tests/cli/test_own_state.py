"""`rebind replay --checkpoint`: an operator's own node."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.laboratory import FILES
from tests.cli.running import rebind

OWN = (
    "replay",
    "--checkpoint",
    "kubelet_internal_checkpoint",
    "--pods",
    "pods.yaml",
    "--event",
    "reboot",
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for source in FILES.iterdir():
        shutil.copy(source, tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_table_says_what_becomes_of_every_pod() -> None:
    """Table 5.4, row 1.36: with the plugin first it runs on its devices, with it late it fails."""
    finished = rebind(*OWN)

    table = " ".join(finished.stdout.split())
    rows = [line.split() for line in finished.stdout.splitlines() if "pod trainer" in line]
    assert finished.code == 0
    assert [row[-2:] for row in rows] == [["same", "devices"], ["not", "released"]]
    assert "cannot allocate unhealthy devices vendor.com/gpu, which is unexpected" in table
    assert finished.stderr.splitlines() == [
        "note: 1 pod without devices left out",
        "note: in the checkpoint, but not among the pods: leftover-pod-b (pod-b)",
    ]


def test_versions_and_persistences_take_the_place_of_the_defaults() -> None:
    finished = rebind(
        *OWN, "--kubelet-version", "1.24.0,1.36.2", "--persistence", "database", "-o", "json"
    )

    [first, late] = json.loads(finished.stdout)["items"]
    labels = [(run["kubeletVersion"], run["persistence"]) for run in first["runs"]]
    assert labels == [("1.24.0", "database"), ("1.36.2", "database")]
    assert late["scenario"] == "reboot-plugin-late"


def test_the_scenario_can_be_written_to_another_folder_and_replayed(folder: Path) -> None:
    (folder / "mine").mkdir()
    written = rebind(*OWN, "--write", "mine/own.yaml")
    again = rebind("replay", "mine/own.yaml")

    assert written.code == 0
    assert written.stderr.splitlines()[-1] == "written: mine/own.yaml"
    assert (
        "checkpoint: {path: ../kubelet_internal_checkpoint}"
        in (folder / "mine" / "own.yaml").read_text()
    )
    assert again.stdout == written.stdout


def test_the_scenario_alone_can_be_printed() -> None:
    finished = rebind(*OWN, "-o", "scenario")

    assert finished.code == 0
    assert finished.stdout.startswith("---\napiVersion: rebind.internal/v1alpha1\nkind: Scenario\n")


def test_a_file_is_never_replaced(folder: Path) -> None:
    (folder / "own.yaml").write_text("mine")
    finished = rebind(*OWN, "--write", "own.yaml")

    assert finished.code == 3
    assert finished.stderr.splitlines()[-1] == (
        "error: own.yaml: there is a file already; name another one with --write"
    )
    assert (folder / "own.yaml").read_text() == "mine"


@pytest.mark.parametrize(
    ("arguments", "code", "expected"),
    [
        (
            ("replay", "--checkpoint", "kubelet_internal_checkpoint"),
            2,
            (
                "--checkpoint given without --pods, --event; your own node wants "
                "--checkpoint FILE --pods FILE --event restart or reboot"
            ),
        ),
        (
            ("replay", "--node-name", "a"),
            2,
            "--node-name given without --checkpoint, --pods, --event",
        ),
        ((*OWN, "reboot-plugin-first"), 2, "--checkpoint makes a scenario of its own"),
        ((*OWN, "--all"), 2, "--checkpoint makes a scenario of its own"),
        (
            ("replay", "reboot-plugin-first", "-o", "scenario"),
            2,
            "-o scenario wants your node's files",
        ),
        ((*OWN[:2], "none", *OWN[3:]), 3, "none: No such file or directory"),
        ((*OWN[:4], "none", *OWN[5:]), 3, "none: No such file or directory"),
        ((*OWN[:2], "pods.yaml", *OWN[3:]), 2, "pods.yaml: checkpoint is not JSON"),
        ((*OWN[:6], "shutdown"), 2, "'shutdown' is not one of"),
        (
            (*OWN[:4], "kubelet_internal_checkpoint", *OWN[5:]),
            2,
            'kubelet_internal_checkpoint:1:1: the key "apiVersion" is missing',
        ),
    ],
)
def test_what_cannot_be_done_is_one_line(
    arguments: tuple[str, ...], code: int, expected: str
) -> None:
    finished = rebind(*arguments)

    assert finished.code == code
    assert finished.stdout == ""
    [line] = finished.stderr.splitlines()
    assert expected in line
