"""`rebind kubelet-versions` against table 5.4 and appendix E of kubelet-behaviour."""

from __future__ import annotations

import contextlib
import io
import json

import pytest
from typing_extensions import override

from simulator.cli.program import run
from tests.cli.running import rebind


def lines(*arguments: str) -> list[list[str]]:
    """Return the cells of the table."""
    finished = rebind("kubelet-versions", *arguments)
    assert finished.code == 0, finished.stderr
    return [
        [cell.strip() for cell in line.split("   ") if cell.strip()]
        for line in finished.stdout.splitlines()
    ]


def test_a_line_is_a_change_with_its_release_and_its_back_ports() -> None:
    header, *found = lines()

    assert header == ["RELEASE", "SWITCH", "CHANGE", "ALSO IN"]
    assert ["1.20.0", "checkpointWritten", "v1 → v2", "-"] in found
    assert ["1.23.0", "checkpointsRead", "v2 → v1+v2", "1.22.5 1.21.8 1.20.14"] in found
    assert ["1.28.0", "readmissionHealthCheck", "never → always", "1.27.2 1.26.5 1.25.10"] in found
    assert ["1.36.0", "runningCheck", "first → any", "1.35.4 1.34.7"] in found
    assert ["1.10.0", "endpointGracePeriod", "5m0s", "-"] in found


def test_changes_stand_in_order_of_release_and_what_never_came_stands_last() -> None:
    _, *found = lines()
    releases = [line[0] for line in found]
    numbers = [[int(part) for part in release.split(".")] for release in releases[:-1]]

    assert numbers == sorted(numbers)
    assert found[-1][:3] == ["never", "trustsCheckpoint", "no → yes"]


def test_the_table_without_back_ports_fits_a_terminal_of_80_columns() -> None:
    finished = rebind("kubelet-versions")

    assert max(line.index("ALSO IN") for line in finished.stdout.splitlines()[:1]) + 7 <= 80


class Terminal(io.StringIO):
    """What is printed to a terminal."""

    @override
    def isatty(self) -> bool:
        return True


def test_on_a_terminal_back_ports_fold_instead_of_breaking_the_columns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "72")
    stdout = Terminal()
    with contextlib.redirect_stdout(stdout):
        run(["kubelet-versions"])
    printed = stdout.getvalue().splitlines()
    at = next(index for index, line in enumerate(printed) if "1.22.5" in line)

    assert max(map(len, printed)) <= 72
    assert printed[at].startswith("1.23.0   checkpointsRead ")
    assert printed[at].endswith("1.22.5 1.21.8")
    assert printed[at + 1].strip() == "1.20.14"


def test_wide_says_who_says_so_and_what_it_means() -> None:
    header, *found = lines("-o", "wide")

    assert header[-3:] == ["SOURCE", "AREA", "MEANING"]
    [row] = [line for line in found if line[1] == "runningCheck"]
    assert row[-3:] == [
        "PR 135485",
        "allocation",
        "which container ids are looked up to tell whether a container runs",
    ]


def test_versions_are_columns_under_the_profile_that_each_uses() -> None:
    header, *found = lines("1.25.12", "v1.31.3+k3s1", "1.36.0-rc.1", "1.40")
    rows = {line[0]: line[1:] for line in found}

    assert header == ["SWITCH", "1.25.12", "1.31.3", "1.36.0", "1.40"]
    assert rows["profile"] == ["1.25.10", "1.30.5", "1.36.0", "1.37.0"]
    assert rows["readmissionHealthCheck"] == ["always", *["unlessRunning"] * 3]
    assert rows["terminatedPodsReadmitted"] == ["yes", "no", "no", "no"]


def test_a_version_that_is_not_known_says_which_profile_it_uses() -> None:
    finished = rebind("kubelet-versions", "1.40")

    assert finished.code == 0
    assert "kubelet 1.40 is newer than 1.36.2, the newest known; it behaves like that" in (
        finished.stderr
    )


def test_differing_leaves_only_what_differs() -> None:
    """Between 1.27.2 and 1.27.6 there is PR 118635 alone (table 5.4)."""
    _, *found = lines("1.27.2", "1.27.6", "--differing")

    assert found == [
        ["profile", "1.27.2", "1.27.6"],
        ["readmissionHealthCheck", "always", "unlessRunning"],
    ]


def test_versions_that_behave_alike_have_nothing_to_show() -> None:
    finished = rebind("kubelet-versions", "1.24.0", "1.24.9", "--differing")

    assert (finished.code, finished.stdout) == (0, "")
    assert finished.stderr == "the versions do not differ\n"


def test_documents_hold_plain_values() -> None:
    changes = json.loads(rebind("kubelet-versions", "-o", "json").stdout)["items"]
    [profile] = json.loads(rebind("kubelet-versions", "1.24", "-o", "json").stdout)["items"]

    [read] = [one for one in changes if one["switch"] == "checkpointsRead" and one["backports"]]
    assert (read["from"], read["to"]) == (["v2"], ["v1", "v2"])
    assert read["source"] == "PR 102882"
    assert (profile["kind"], profile["profile"]) == ("KubeletProfile", "1.23.0")
    assert profile["switches"]["endpointGracePeriod"] == "5m0s"
    assert profile["switches"]["apiQps"] == 5
    assert profile["switches"]["trustsCheckpoint"] is False


def test_documents_of_differing_versions_hold_only_what_differs() -> None:
    finished = rebind("kubelet-versions", "1.27.2", "1.27.6", "--differing", "-o", "json")

    assert [one["switches"] for one in json.loads(finished.stdout)["items"]] == [
        {"readmissionHealthCheck": "always"},
        {"readmissionHealthCheck": "unlessRunning"},
    ]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["banana"], "'banana' is not a kubelet version"),
        (["1.9"], "kubelet 1.9 is older than 1.10"),
        (["--differing"], "--differing compares versions; name two or more of them"),
    ],
)
def test_what_cannot_be_shown_is_one_line(arguments: list[str], reason: str) -> None:
    finished = rebind("kubelet-versions", *arguments)

    assert finished.code == 2
    assert reason in finished.stderr
    assert len(finished.stderr.splitlines()) == 1
