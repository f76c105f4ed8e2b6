"""`rebind explore`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import rebind

QUICK = ("explore", "reboot-plugin-first", "--kubelet-version", "1.36.2", "--limit", "12")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_table_tells_what_was_run_what_was_skipped_and_what_was_found() -> None:
    finished = rebind(*QUICK)

    lines = finished.stdout.splitlines()
    assert finished.code == 0
    assert [line.split()[:4] for line in lines[1:3]] == [
        ["reboot-plugin-first", "1.36.2", "checkpoint", "upstream"],
        ["reboot-plugin-first", "1.36.2", "database", "upstream"],
    ]
    assert lines[2].endswith("nothing")
    [points] = [line for line in lines if line.startswith("24 points run, ")]
    assert "beyond the limit" in points
    assert "of the start before the first step" in points
    assert "database adds nothing" in lines[-1]


def test_one_persistence_alone_can_be_explored() -> None:
    finished = rebind(*QUICK, "--persistence", "checkpoint:dirFsync=true", "-o", "json")

    report = json.loads(finished.stdout)
    assert report["kind"] == "ExplorationReport"
    assert report["pointsRun"] == 12
    [exploration] = report["explorations"]
    assert exploration["persistence"] == "checkpoint dirFsync"
    assert exploration["pointsSkipped"]["of the start before the first step"] > 0


def test_histories_are_written_and_fail_when_they_are_replayed() -> None:
    written = rebind(*QUICK[:4], "--persistence", "checkpoint", "--write", "found")
    again = rebind(*QUICK[:4], "--persistence", "checkpoint", "--write", "found")
    name = "reboot-plugin-first-checkpoint-acknowledged-power-cut.yaml"

    assert written.code == again.code == 0
    assert written.stderr == again.stderr
    assert f"written: found/{name}" in written.stderr.splitlines()
    replayed = rebind("replay", f"found/{name}")
    assert replayed.code == 1
    assert "acknowledged" in replayed.stdout


def test_histories_are_printed_as_one_file(folder: Path) -> None:
    finished = rebind(*QUICK[:4], "--persistence", "checkpoint", "-o", "scenario")
    (folder / "all.yaml").write_text(finished.stdout)

    validated = rebind("scenario", "validate", "all.yaml")

    assert validated.code == 0
    assert len(validated.stdout.splitlines()) >= 2


def test_another_file_is_never_replaced(folder: Path) -> None:
    mine = folder / "found" / "reboot-plugin-first-checkpoint-failed-write-write-error.yaml"
    mine.parent.mkdir()
    mine.write_text("mine")

    finished = rebind(*QUICK[:4], "--persistence", "checkpoint", "--write", "found")

    assert finished.code == 3
    assert "there is another file already; name another folder" in finished.stderr
    assert mine.read_text() == "mine"


def test_names_of_files_are_relative_to_where_a_history_is_written(folder: Path) -> None:
    (folder / "in").mkdir()
    (folder / "in" / "pod.yaml").write_text(
        "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: main, "
        "resources: {limits: {example.com/gpu: 1}}}]}}"
    )
    (folder / "in" / "mine.yaml").write_text(
        "apiVersion: rebind.internal/v1alpha1\nkind: Scenario\nmetadata: {name: mine}\n"
        "spec:\n  nodes: [{name: n}]\n  plugins:\n"
        "  - {name: gpu, resourceName: example.com/gpu, devices: {count: 2}}\n"
        "  pods: [{manifest: {path: pod.yaml}, node: n}]\n  steps:\n"
        "  - {name: up, startPlugin: {name: gpu}}\n  - {name: create, createPod: {name: p}}\n"
    )

    finished = rebind("explore", "in/mine.yaml", "--persistence", "checkpoint", "--write", "out/x")

    assert finished.code == 0
    name = "out/x/mine-checkpoint-acknowledged-power-cut.yaml"
    assert "path: ../../in/pod.yaml" in (folder / name).read_text()
    assert rebind("replay", name).code == 1


@pytest.mark.parametrize(
    ("arguments", "code", "expected"),
    [
        (("explore",), 2, "Missing argument"),
        (("explore", "nonesuch"), 2, 'there is no built-in scenario "nonesuch"'),
        (("explore", "none.yaml"), 3, "none.yaml: No such file or directory"),
        ((*QUICK[:2], "--persistence", "paper"), 2, '"paper" is not a persistence'),
        ((*QUICK[:2], "--limit", "0"), 2, "0 is not in the range"),
        ((*QUICK[:2], "--set", "x=1"), 2, "no such parameter"),
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
