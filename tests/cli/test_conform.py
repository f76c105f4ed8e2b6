"""`rebind conform`: plugins as processes, what is printed, and exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree.ElementTree import fromstring

import pytest

from simulator.conformance.catalog import CATALOG
from tests.cli.laboratory import put_program
from tests.cli.running import rebind

OVERSIZE = ("rebind", "plugin", "run", "faulty", "--mode", "oversize-list")


@pytest.fixture(autouse=True)
def _program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put_program(tmp_path / "bin")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}", prepend=":")
    monkeypatch.chdir(tmp_path)


def test_a_fault_is_reported_with_what_is_required_and_why() -> None:
    """R62."""
    finished = rebind(
        "conform", "--socket-dir-flag", "--socket-dir", "-o", "junit", "--", *OVERSIZE
    )

    assert finished.code == 1
    suite = fromstring(finished.stdout)  # noqa: S314 - our own
    assert suite.get("name") == f"rebind conform {' '.join(OVERSIZE)}"
    cases = {case.get("name"): case for case in suite}
    assert list(cases) == list(CATALOG)
    [(name, failure)] = [
        (name, case.find("failure"))
        for name, case in cases.items()
        if case.find("failure") is not None
    ]
    assert name == "list-size"
    assert failure is not None
    assert "60000 devices has 4680000 bytes, of which 4194304 can be received" in str(
        failure.get("message")
    )
    assert str(failure.text).endswith("(S1.21, R62)")
    assert suite.get("skipped") == str(sum(case.find("skipped") is not None for case in suite))
    assert "1 failed" in finished.stderr


def test_a_plugin_with_the_kubelets_path_built_in_is_run_in_a_namespace() -> None:
    """S1.6; `--in-namespace auto` takes a plugin that is told no directory for one of these."""
    finished = rebind(
        *("conform", "-o", "json", "--", *OVERSIZE),
        *("--socket-dir", "/var/lib/kubelet/device-plugins"),
    )
    if "cannot be made private" in finished.stderr:
        pytest.skip(finished.stderr)

    assert finished.code == 1
    items = json.loads(finished.stdout)["items"]
    assert [item["check"] for item in items] == list(CATALOG)
    assert [item["check"] for item in items if item["verdict"] == "fail"] == ["list-size"]
    assert items[0] == {
        "kind": "ConformanceCheck",
        "check": "register",
        "verdict": "pass",
        "detail": "it calls Register",
        "requires": "calls Register within the deadline",
        "why": "its resource does not exist on the node before that",
        "sources": ["S1.12", "S1.14"],
    }


def test_a_plugin_that_finds_its_directory_in_a_variable_is_told() -> None:
    program = Path("plugin")
    program.write_text(f'#!/bin/sh\nexec {" ".join(OVERSIZE)} --socket-dir "$SOCKETS"\n')
    program.chmod(0o755)
    finished = rebind("conform", "--socket-dir-env", "SOCKETS", "-o", "name", "--", "./plugin")

    assert finished.code == 1
    assert finished.stdout.splitlines()[0] == "conformancecheck/register"


def test_a_plugin_that_ends_at_once_is_told_with_what_it_said() -> None:
    finished = rebind(
        *("conform", "--socket-dir-flag=--dir=", "--timeout", "200ms", "--"),
        *("sh", "-c", "echo no driver >&2; exit 4", "-"),
    )

    assert finished.code == 1
    assert "sh has exited with 4, saying: no driver" in finished.stdout
    assert finished.stdout.count("not applicable") == len(CATALOG) - 1
    assert finished.stderr.endswith("\n-o wide says what each check requires, and why\n")


@pytest.mark.parametrize(
    ("arguments", "code", "beginning"),
    [
        (("--", "./absent"), 3, "cannot run ./absent: there is no such program; give its path"),
        (("--break-device", "true", "--", "true"), 2, "--break-device and --mend-device are used"),
        (
            ("--resource", "gpu", "--", "true"),
            2,
            "Invalid value for '--resource': 'gpu' is not an extended resource name, such as",
        ),
    ],
)
def test_what_cannot_be_asked_is_told(
    arguments: tuple[str, ...], code: int, beginning: str
) -> None:
    finished = rebind("conform", *arguments)

    assert finished.code == code
    assert finished.stderr.startswith(f"error: {beginning}")
    assert finished.stderr.count("\n") == 1
