"""`rebind replay`, `rebind scenario`, `rebind explain`: options, output and exit codes."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from scenarios.builtin import find_file
from tests.cli.running import rebind
from tests.scenarios.writing import SCENARIO

REBOOT = "reboot-pod-before-plugin"
QUICK = ("--kubelet-version", "1.36.2", "--persistence", "database")


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    return written(tmp_path, SCENARIO)


def written(folder: Path, text: str) -> Path:
    path = folder / "mine.yaml"
    path.write_text(text)
    return path


def test_a_pod_rebooted_before_its_plugin_is_admitted_or_fails_by_version() -> None:
    """Acceptance: admitted on stale devices / failed / failed, with the kubelet's own message."""
    finished = rebind(
        "replay", REBOOT, "--kubelet-version", "1.24.0,1.27.2,1.36.2",
        "--persistence", "checkpoint,database",
    )  # fmt: skip

    lines = finished.stdout.splitlines()
    row = next(line for line in lines if line.startswith("after reboot"))
    assert finished.code == 0
    assert "Running    Running    Failed     Failed     Failed     Failed     version" in row
    assert (
        "Allocate failed due to no healthy devices present; cannot allocate unhealthy devices "
        "example.com/gpu, which is unexpected"
    ) in " ".join(lines)


def test_junit_has_a_suite_for_each_run() -> None:
    """Three versions, each on the file and on the database."""
    finished = rebind("replay", "reboot-pod-before-plugin", "-o", "junit")

    suites = ET.fromstring(finished.stdout)  # noqa: S314 - our own output
    assert finished.code == 0
    assert len({suite.get("name") for suite in suites}) == len(suites) == 6
    assert {suite.get("failures") for suite in suites} == {"0"}


def test_a_broken_expectation_is_exit_code_1(scenario: Path) -> None:
    scenario.write_text(SCENARIO.replace("phase: Running", "phase: Failed"))
    finished = rebind("replay", str(scenario), *QUICK)

    assert finished.code == 1
    assert "BROKEN" in finished.stdout


def test_a_file_that_is_not_valid_is_exit_code_2(scenario: Path) -> None:
    scenario.write_text(SCENARIO.replace("kind: Scenario", "kind: Scenarios"))
    finished = rebind("replay", str(scenario))

    assert (finished.code, finished.stdout) == (2, "")
    assert finished.stderr.startswith(f"error: {scenario}:2:7: kind: ")


def test_a_file_that_is_not_there_is_exit_code_3(tmp_path: Path) -> None:
    finished = rebind("replay", str(tmp_path / "none.yaml"))

    assert finished.code == 3
    assert "No such file" in finished.stderr


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((), "name a scenario or a file, or give --all"),
        ((REBOOT, "--all"), "--all runs all built-in scenarios; leave the names out"),
        (("reboot-pod",), 'there is no built-in scenario "reboot-pod"; did you mean'),
        ((REBOOT, "--kubelet-version", "1.x"), "'1.x' is not a kubelet version"),
        ((REBOOT, "--persistence", "file"), '"file" is not a persistence'),
        ((REBOOT, "--persistence", "database:fast"), '"fast" of true is no option of database'),
        ((REBOOT, "--readmission", "never"), '"never" is not a readmission policy'),
        ((REBOOT, "--set", "DEVICES"), "--set DEVICES: write NAME=value"),
        ((REBOOT, "--set", "DEVICES=4"), "--set DEVICES: no such parameter"),
        ((REBOOT, "--update-transcripts", "--seed", "1"), "--update-transcripts wants whole"),
        ((REBOOT, "--seed", str(2**63)), "is not in the range"),
    ],
)
def test_wrong_use_is_exit_code_2_in_one_line(arguments: tuple[str, ...], expected: str) -> None:
    finished = rebind("replay", *arguments)

    assert (finished.code, finished.stdout) == (2, "")
    assert expected in finished.stderr
    assert len(finished.stderr.splitlines()) == 1


def test_the_command_line_takes_the_place_of_the_matrix(scenario: Path) -> None:
    finished = rebind(
        "replay", str(scenario), "-o", "json", "--kubelet-version", "1.31.4",
        "--persistence", "checkpoint:dirFsync=true", "--readmission", "wait,reassign",
        "--seed", "9",
    )  # fmt: skip

    [item] = json.loads(finished.stdout)["items"]
    assert finished.code == 0
    assert item["runs"] == [
        {
            "kubeletVersion": "1.31.4",
            "persistence": "checkpoint dirFsync",
            "readmission": readmission,
            "seed": 9,
        }
        for readmission in ("wait", "reassign")
    ]


def test_waiting_for_the_plugin_is_what_users_ask_for() -> None:
    """No kubelet does it: under `wait` the pod runs when the plugin is back (S13.5, R03)."""
    finished = rebind("replay", REBOOT, *QUICK, "--readmission", "upstream,wait", "-o", "json")

    [item] = json.loads(finished.stdout)["items"]
    [row] = [row for row in item["expectations"] if row["title"].startswith("after plugin-late")
             and "pod trainer" in row["title"]]  # fmt: skip
    phases = [cell["facts"][0]["observed"] for cell in row["cells"]]
    assert phases == ["Failed", "Running"]


def test_a_parameter_is_set_on_the_command_line(scenario: Path) -> None:
    scenario.write_text(SCENARIO.replace("count: 4", "count: ${DEVICES:-4}"))
    few = rebind("replay", str(scenario), *QUICK, "--set", "DEVICES=1", "-o", "transcript")

    assert "example.com/gpu 1 device\n" in few.stdout
    assert few.code == 1


def test_a_version_that_nobody_knows_yet_is_replayed_as_the_newest_and_said_so() -> None:
    known = rebind("replay", "--kubelet-version", "1.36.2", REBOOT)
    unknown = rebind("replay", "--kubelet-version", "1.99", REBOOT)

    assert known.stderr == ""
    assert "kubelet 1.99 is newer than 1.36.2, the newest known; it behaves like" in unknown.stderr


def test_a_transcript_goes_to_stdout_and_a_trace_too(scenario: Path) -> None:
    transcript = rebind("replay", str(scenario), *QUICK, "-o", "transcript")
    trace = rebind("replay", str(scenario), *QUICK, "-o", "trace")

    assert transcript.stdout.startswith("# example: 1.36.2 database, seed 0\n")
    assert json.loads(trace.stdout.splitlines()[0])["kind"] == "Trace"
    assert transcript.stderr == trace.stderr == ""


def test_transcripts_are_written_only_when_asked(tmp_path: Path) -> None:
    source = find_file("upgrade-1-19-to-1-36")
    path = tmp_path / source.name
    shutil.copy(source, path)

    rebind("replay", str(path))
    assert not path.with_suffix(".transcript").exists()
    finished = rebind("replay", str(path), "--update-transcripts")
    written = path.with_suffix(".transcript").read_bytes()
    assert (finished.code, finished.stdout) == (0, "")
    assert written == source.with_suffix(".transcript").read_bytes()


def test_a_table_that_goes_to_no_terminal_is_100_columns_wide_and_plain() -> None:
    finished = rebind("replay", REBOOT)

    assert max(map(len, finished.stdout.splitlines())) <= 100
    assert "\x1b" not in finished.stdout


def test_scenarios_are_chosen_by_their_labels() -> None:
    chosen = rebind("scenario", "list", "-l", "area=init,timing=independent", "-o", "name")
    others = rebind("scenario", "list", "-l", "area!=init", "-o", "name")
    everything = rebind("scenario", "list", "-o", "name").stdout.splitlines()
    init = rebind("scenario", "list", "-l", "area=init", "-o", "name").stdout.splitlines()

    assert "scenario/sidecar-devices" in chosen.stdout.splitlines()
    assert "scenario/restart-init-shares-device" not in chosen.stdout.splitlines()
    assert sorted([*others.stdout.splitlines(), *init]) == sorted(everything)


def test_all_can_be_narrowed_to_scenarios_with_a_label() -> None:
    finished = rebind("replay", "--all", "-l", "area=init,timing", "-o", "json", *QUICK)
    names = [each["scenario"] for each in json.loads(finished.stdout)["items"]]
    listed = rebind("scenario", "list", "-l", "area=init,timing", "-o", "name").stdout.split()

    assert [f"scenario/{name}" for name in names] == listed
    assert names


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("replay", "--all", "-l", "area=nowhere"), "no built-in scenario has these labels"),
        (("replay", REBOOT, "-l", "area=reboot"), "-l chooses among the built-in scenarios"),
        (("replay", "--all", "-l", "area reboot"), '"area reboot" is not a label selector'),
        (("scenario", "list", "-l", "!area=x"), '"!area=x" is not a label selector'),
    ],
)
def test_labels_that_choose_nothing_are_refused(arguments: tuple[str, ...], said: str) -> None:
    finished = rebind(*arguments)

    assert finished.code == 2
    assert said in finished.stderr
    assert finished.stdout == ""


def test_a_list_of_nothing_says_so() -> None:
    finished = rebind("scenario", "list", "-l", "area=nowhere")

    assert (finished.code, finished.stdout) == (0, "")
    assert "no built-in scenario has these labels" in finished.stderr


def test_scenarios_are_listed_shown_and_checked(scenario: Path) -> None:
    listed = rebind("scenario", "list")
    shown = rebind("scenario", "show", REBOOT)
    checked = rebind("scenario", "validate", str(scenario), REBOOT)

    told = [line.split(maxsplit=2) for line in listed.stdout.splitlines()]
    assert told[0] == ["NAME", "RUNS", "DESCRIPTION"]
    assert [
        REBOOT,
        "6",
        "A node reboots; the pod is re-admitted before its plugin has registered.",
    ] in (told)
    assert shown.stdout == find_file(REBOOT).read_text()
    assert checked.code == 0
    assert checked.stdout.splitlines() == [
        f"{scenario}: example is valid, 4 runs, 2 expectations",
        f"{REBOOT}: {REBOOT} is valid, 6 runs, 7 expectations",
    ]


def test_a_check_refuses_a_setting_that_is_no_parameter(scenario: Path) -> None:
    finished = rebind("scenario", "validate", str(scenario), "--set", "DEVICES=4")

    assert finished.code == 2
    assert finished.stderr == "error: --set DEVICES: no such parameter; the scenario has none\n"


def test_a_check_goes_on_after_a_fault(tmp_path: Path, scenario: Path) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text("kind: [\n")
    finished = rebind("scenario", "validate", str(bad), str(scenario))

    assert finished.code == 2
    assert finished.stderr.startswith(f"error: {bad}:2:1: this is not YAML or JSON")
    assert "example is valid" in finished.stdout


def test_all_faults_of_a_file_are_told_by_validate_and_counted_by_replay(tmp_path: Path) -> None:
    bad = tmp_path / "bad.yaml"
    text = find_file(REBOOT).read_text(encoding="utf-8")
    bad.write_text(
        text.replace("kind: Scenario", "kind: Scenario\nextra: 1").replace(
            "numaNodes: 2", "numaNodes: two"
        ),
        encoding="utf-8",
    )
    told = rebind("scenario", "validate", str(bad)).stderr.splitlines()
    replayed = rebind("replay", str(bad))

    assert len(told) == 2
    assert 'unknown key "extra"' in told[0]
    assert "numaNodes: wants a whole number" in told[1]
    assert replayed.code == 2
    assert replayed.stderr == f"{told[0]}; 1 more: rebind scenario validate {bad}\n"


def test_a_key_is_explained() -> None:
    finished = rebind("explain", "scenario.spec.steps.powerCut")

    assert finished.code == 0
    assert "downtime <duration> [default: 0s]" in finished.stdout
    assert rebind("explain", "scenario.spec.stepz").code == 2


def test_without_a_key_the_kinds_are_listed() -> None:
    finished = rebind("explain")

    assert finished.code == 0
    assert [line for line in finished.stdout.splitlines() if line[:2] == "  " != line[2:4]] == [
        "  scenario",
        "  trace",
        "  churnprofile",
    ]


def test_a_page_goes_to_stdout_or_into_a_file(scenario: Path, tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    printed = rebind("replay", str(scenario), *QUICK, "-o", "html")
    written_ = rebind("replay", str(scenario), *QUICK, "-o", "html", "--output-file", str(target))

    assert printed.stdout.startswith("<!doctype html>")
    assert printed.stderr == ""
    assert (written_.code, written_.stdout) == (0, "")
    assert target.read_text() == printed.stdout


def test_a_file_that_cannot_be_written_is_exit_code_3(scenario: Path, tmp_path: Path) -> None:
    target = str(tmp_path / "none" / "report.html")
    finished = rebind("replay", str(scenario), *QUICK, "-o", "html", "--output-file", target)

    assert finished.code == 3
    assert finished.stderr == f"error: {target}: No such file or directory\n"


def test_without_jinja2_html_is_refused_before_anything_is_run(
    scenario: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in [name for name in sys.modules if name.startswith("simulator.reports.")]:
        if module.endswith("page"):
            monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    finished = rebind("replay", str(scenario), "-o", "html")

    assert (finished.code, finished.stdout) == (3, "")
    assert finished.stderr == (
        "error: -o html needs Jinja2, which is not installed: pip install 'rebind[report]'\n"
    )
