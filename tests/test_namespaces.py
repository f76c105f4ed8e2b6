"""A command for which a node's directory is `/var/lib/kubelet`, on the kernel at hand (S1.6)."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from simulator import namespaces
from simulator.namespaces import KUBELET_DIRECTORY, command_in

NOBODY = 65534
SYSTEM_PYTHON = "/usr/bin/python3"
FORBIDDEN = """
import ctypes, os, sys
user, group = os.getuid(), os.getgid()
assert ctypes.CDLL(None).unshare(0x10000000 | 0x00020000) == 0
open("/proc/self/setgroups", "w").write("deny")
open("/proc/self/uid_map", "w").write(f"0 {user} 1")
open("/proc/self/gid_map", "w").write(f"0 {group} 1")
for limit in ("user", "mnt"):
    open(f"/proc/sys/user/max_{limit}_namespaces", "w").write("0")
os.execv(sys.argv[1], sys.argv[1:])
"""
"""Runs its arguments where namespaces are forbidden, as they are where an operator says so."""


@cache
def refusal() -> str:
    """Return why this kernel forbids namespaces; empty where it does not."""
    finished = run(Path(tempfile.gettempdir()), "true")
    return finished.stderr


def run(
    directory: Path, *command: str, stdin: str = "", cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command with the directory as `/var/lib/kubelet`."""
    return start(*command_in(directory, command), stdin=stdin, cwd=cwd)


def start(
    *command: str, stdin: str = "", cwd: Path | None = None, user: int | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    return subprocess.run(  # noqa: S603 - the commands of this module
        command,
        input=stdin,
        capture_output=True,
        text=True,
        cwd=cwd,
        user=user,
        group=user,
        extra_groups=None if user is None else [],
        check=False,
    )


@pytest.fixture
def node() -> Iterator[Path]:
    """The directory of a node; anybody may use it."""
    if refusal():
        pytest.skip(refusal())
    with tempfile.TemporaryDirectory(prefix="rb") as name:
        (Path(name) / "device-plugins").mkdir()
        for path in (Path(name), Path(name) / "device-plugins"):
            path.chmod(0o777)
        yield Path(name)


def test_the_directory_of_the_node_is_the_kubelets(node: Path) -> None:
    finished = run(node, "sh", "-c", f"ls {KUBELET_DIRECTORY} && touch {KUBELET_DIRECTORY}/made")

    assert finished.stdout == "device-plugins\n"
    assert (node / "made").exists()


def test_what_else_is_in_the_directory_above_stays_in_sight(node: Path) -> None:
    above = Path(KUBELET_DIRECTORY).parent
    finished = run(node, "ls", "-A", str(above))

    assert set(finished.stdout.splitlines()) == {each.name for each in above.iterdir()} | {
        "kubelet"
    }


def test_nothing_is_left_where_the_directory_was_not(node: Path) -> None:
    before = Path(KUBELET_DIRECTORY).exists()
    run(node, "true")

    assert Path(KUBELET_DIRECTORY).exists() == before


@pytest.mark.parametrize("target", ["there", "not/there"])
def test_the_place_may_exist_or_not(node: Path, tmp_path: Path, target: str) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "file").write_text("text")
    (tmp_path / "link").symlink_to("file")
    script = (
        "from simulator.namespaces import enter; from pathlib import Path;"
        f"here = Path({str(tmp_path)!r});"
        f"enter(Path({str(node)!r}), str(here / {target!r})); print((here / 'link').read_text());"
        f"print([each.name for each in (here / {target!r}).iterdir()])"
    )
    finished = start(sys.executable, "-c", script, cwd=Path(namespaces.__file__).parents[1])

    assert finished.stdout == "text\n['device-plugins']\n", finished.stderr
    assert not (tmp_path / "not").exists()


def test_the_command_is_root_inside_and_the_user_outside(node: Path) -> None:
    finished = run(node, "sh", "-c", f"id -u; touch {KUBELET_DIRECTORY}/made")

    assert finished.stdout == "0\n"
    assert (node / "made").stat().st_uid == os.getuid()


def test_no_privilege_is_needed(node: Path) -> None:
    if os.getuid() != 0 or not Path(SYSTEM_PYTHON).exists():
        pytest.skip("only root can be somebody else, who needs a Python that anybody may run")
    program = str(shutil.copy(namespaces.__file__, node / "program.py"))
    shown = f"id -u; ls {KUBELET_DIRECTORY}; exit 5"
    finished = start(
        SYSTEM_PYTHON, "-IS", program, str(node), "sh", "-c", shown, cwd=Path("/"), user=NOBODY
    )

    assert finished.stdout == "0\ndevice-plugins\nprogram.py\n", finished.stderr
    assert finished.returncode == 5


@pytest.mark.parametrize("code", [0, 1, 77])
def test_the_exit_code_is_that_of_the_command(node: Path, code: int) -> None:
    assert run(node, "sh", "-c", f"exit {code}").returncode == code


def test_the_process_becomes_the_command_so_that_signals_reach_it(node: Path) -> None:
    with subprocess.Popen(  # noqa: S603 - a shell that tells its number
        command_in(node, ["sh", "-c", "echo $$; exec sleep 60"]), stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        number = int(process.stdout.readline())
        process.send_signal(signal.SIGTERM)

    assert number == process.pid
    assert process.returncode == -signal.SIGTERM


def test_streams_are_untouched_and_a_closed_pipe_ends_the_command(node: Path) -> None:
    assert run(node, "cat", stdin="one\ntwo").stdout == "one\ntwo"
    ignored = run(node, "grep", "SigIgn", "/proc/self/status").stdout.split()[1]
    assert int(ignored, 16) & (1 << (signal.SIGPIPE - 1)) == 0


def test_a_command_stays_where_it_was_started(node: Path) -> None:
    above = Path(KUBELET_DIRECTORY).parent
    inside = next(each for each in sorted(above.iterdir()) if each.is_dir())
    finished = run(node, "ls", "-A", cwd=inside)

    assert set(finished.stdout.splitlines()) == {each.name for each in inside.iterdir()}


@pytest.mark.usefixtures("node")
def test_a_kernel_that_forbids_it_is_named_with_its_setting(tmp_path: Path) -> None:
    finished = start(sys.executable, "-c", FORBIDDEN, *command_in(tmp_path, ["true"]))

    assert finished.returncode == 3
    assert finished.stderr == (
        "error: /var/lib/kubelet cannot be made private: the kernel refuses a user namespace "
        "(user.max_user_namespaces is 0; user.max_mnt_namespaces is 0); allow it, or give the "
        "plugin the node's directory by a flag of its own\n"
    )


@pytest.mark.parametrize(
    ("directory", "command", "line"),
    [
        (".", "no-such-program", "error: cannot run no-such-program: No such file or directory\n"),
        ("absent", "true", "absent: Not a directory\n"),
    ],
)
def test_what_cannot_be_run_is_one_line(
    node: Path, directory: str, command: str, line: str
) -> None:
    finished = run(node / directory, command)

    assert finished.returncode == 3
    assert finished.stderr.endswith(line)
    assert finished.stderr.count("\n") == 1
