"""What the process does with its three streams, whatever the caller made of them."""

from __future__ import annotations

import fcntl
import json
import os
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from simulator.cli import program

ROOT = Path(program.__file__).parents[2]
CURRENT = ROOT / "tests" / "cli" / "files" / "kubelet_internal_checkpoint"
FULL = Path("/dev/full")


def shell(command: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run a line of shell in which `rebind` is the program."""
    program_line = f'rebind() {{ "{sys.executable}" -m simulator.cli "$@"; }}; {command}'
    return subprocess.run(  # noqa: S603 - the lines below, and no others
        ["/bin/sh", "-c", program_line],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        check=False,
    )


def test_a_stream_that_is_closed_is_no_defect(tmp_path: Path) -> None:
    finished = shell("rebind version >&-; rebind checkpoint show absent 2>&-", tmp_path)

    assert finished.returncode == 3
    assert finished.stdout == b""
    assert finished.stderr == b""


@pytest.mark.skipif(not FULL.exists(), reason="the system has no /dev/full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_disk_behind_a_stream_is_told_by_the_code(tmp_path: Path, unbuffered: str) -> None:
    data = shell(f"rebind version >{FULL}", tmp_path, PYTHONUNBUFFERED=unbuffered)
    errors = shell(f"rebind checkpoint show absent 2>{FULL}", tmp_path, PYTHONUNBUFFERED=unbuffered)

    assert (data.returncode, data.stderr) == (3, b"error: No space left on device\n")
    assert (errors.returncode, errors.stderr) == (3, b"")


def test_data_is_utf8_in_any_locale_and_a_name_that_is_not_is_escaped(tmp_path: Path) -> None:
    name = os.fsencode(tmp_path) + b"/node\xff.\xc3\xa9"
    Path(os.fsdecode(name)).write_bytes(CURRENT.read_bytes())

    finished = shell("rebind checkpoint verify node* -o json", tmp_path, PYTHONIOENCODING="latin-1")

    assert finished.returncode == 0
    assert json.loads(finished.stdout.decode())["file"] == "node\udcff.é"


def test_behind_a_pipe_prose_is_as_wide_as_the_terminal_of_the_other_streams(
    tmp_path: Path,
) -> None:
    """`rebind … | less`: what a pager shows is on the terminal of stderr."""
    terminal, other_end = os.openpty()
    try:
        fcntl.ioctl(other_end, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 60, 0, 0))
        environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
        finished = subprocess.run(  # noqa: S603 - this program, and no other
            [sys.executable, "-m", "simulator.cli", "checkpoint", "verify", str(CURRENT)],
            cwd=tmp_path,
            env={**environment, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=other_end,
            check=True,
        )
    finally:
        os.close(terminal)
        os.close(other_end)

    sentences = [line for line in finished.stdout.decode().splitlines() if line[:2] in {"- ", "  "}]
    assert 50 < max(map(len, sentences)) <= 60
