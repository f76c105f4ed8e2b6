"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import resource
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from simulator.cli.output_files import require_writable, write_new, write_whole

LARGE = b"x" * 8192


@pytest.fixture
def _small_files() -> Iterator[None]:
    """Let no file grow beyond 4 KiB; Python ignores SIGXFSZ."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.mark.usefixtures("_small_files")
@pytest.mark.parametrize("write", [write_whole, write_new])
def test_of_a_file_that_cannot_be_written_nothing_stays(
    tmp_path: Path, write: Callable[[Path, bytes], None]
) -> None:
    path = tmp_path / "report.html"

    with pytest.raises(OSError, match="File too large") as caught:
        write(path, LARGE)

    assert caught.value.filename == str(path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("_small_files")
def test_a_file_that_cannot_be_replaced_keeps_its_content(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_bytes(b"before")

    with pytest.raises(OSError, match="File too large"):
        write_whole(path, LARGE)

    assert [(one.name, one.read_bytes()) for one in tmp_path.iterdir()] == [(path.name, b"before")]


def test_a_file_that_is_replaced_keeps_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_bytes(b"before")
    path.chmod(0o640)

    write_whole(path, LARGE)

    assert path.read_bytes() == LARGE
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_new_file_never_replaces_another(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_bytes(b"mine")

    with pytest.raises(FileExistsError):
        write_new(path, LARGE)

    assert path.read_bytes() == b"mine"


def test_to_ask_whether_a_file_can_be_written_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_bytes(b"before")

    require_writable(path)
    require_writable(tmp_path / "new.json")

    assert [(one.name, one.read_bytes()) for one in tmp_path.iterdir()] == [(path.name, b"before")]


def test_a_pipe_is_not_waited_for_when_it_is_asked_whether_it_can_be_written(
    tmp_path: Path,
) -> None:
    os.mkfifo(tmp_path / "pipe")

    require_writable(tmp_path / "pipe")

    assert [one.name for one in tmp_path.iterdir()] == ["pipe"]
