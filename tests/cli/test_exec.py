"""`rebind exec`: which node it means, and that the command is run in its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import rebind, rebind_process


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A root folder, in the current one, with the nodes n0 and n1."""
    monkeypatch.chdir(tmp_path)
    for node in ("n0", "n1"):
        (tmp_path / "rebind-run" / node / "device-plugins").mkdir(parents=True)
        (tmp_path / "rebind-run" / node / f"of-{node}").touch()
    return tmp_path / "rebind-run"


@pytest.mark.usefixtures("root")
def test_the_command_finds_the_named_node_and_keeps_its_own_flags_and_exit_code() -> None:
    finished = rebind_process(
        "exec", "--node", "n1", "sh", "-c", "ls /var/lib/kubelet; echo $1; exit 9", "-", "--node"
    )
    if "cannot be made private" in finished.stderr:
        pytest.skip(finished.stderr)

    assert finished.stdout == "device-plugins\nof-n1\n--node\n"
    assert finished.code == 9


@pytest.mark.usefixtures("root")
@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ((), "error: there are 2 nodes in rebind-run; name one with --node: n0, n1\n"),
        (("--node", "n7"), "error: there is no node n7 in rebind-run; there: n0, n1\n"),
        (("--node", "../n0"), "error: there is no node ../n0 in rebind-run; there: n0, n1\n"),
        (
            ("--root-dir", "other"),
            "error: there is no node in other; start one with `rebind serve --root-dir other`\n",
        ),
    ],
)
def test_a_node_that_is_not_there_is_told_and_nothing_is_run(
    arguments: tuple[str, ...], line: str
) -> None:
    finished = rebind("exec", *arguments, "--", "touch", "made")

    assert (finished.code, finished.stderr) == (3, line)
    assert not Path("made").exists()


def test_the_only_node_needs_no_name(root: Path) -> None:
    (root / "n1").rename(root.parent / "n1")
    for folder in (root, root / "n0"):
        finished = rebind_process("exec", "--root-dir", str(folder), "ls", "/var/lib/kubelet")
        if "cannot be made private" in finished.stderr:
            pytest.skip(finished.stderr)

        assert finished.stdout == "device-plugins\nof-n0\n"


def test_a_command_is_needed() -> None:
    finished = rebind("exec", "--node", "n0")

    assert finished.code == 2
    assert "Missing argument 'CMD...'" in finished.stderr
