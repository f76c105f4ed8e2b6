"""The recordings that came with the project: the codec must agree with every one of them."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from tests.golden.__main__ import FINE, main

DATA = Path(__file__).parent / "data"
FOLDERS = sorted(
    folder.relative_to(DATA)
    for folder in DATA.rglob("*")
    if folder.is_dir() and not list(folder.rglob("*.jsonl"))
)


@pytest.mark.parametrize("folder", FOLDERS, ids=str)
def test_the_codec_reproduces_every_recorded_file(folder: Path) -> None:
    output = io.StringIO()

    code = main([str(DATA / folder)], output)

    assert output.getvalue().count("\n") == 1, output.getvalue()
    assert output.getvalue().endswith("differences 0\n")
    assert code == FINE


def test_there_are_recordings_of_every_version_and_of_both_formats() -> None:
    assert {folder.parts[0] for folder in FOLDERS} == {"1.20.2", "1.32.10", "1.36.2"}
    assert Path("1.20.2/v1/checkpoints") in FOLDERS
