"""README.md: its commands work and give the output that stands there."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.cli.laboratory import furnish
from tests.readme import README, blocks, run

TEXT = README.read_text(encoding="utf-8")
MAKEFILE = (README.parent / "Makefile").read_text(encoding="utf-8")
LINES_MAX = 250


@pytest.fixture
def _laboratory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("REBIND_")]:
        monkeypatch.delenv(name)
    furnish(tmp_path)


def test_the_readme_is_short() -> None:
    assert TEXT.count("\n") < LINES_MAX


def test_every_make_command_has_its_target() -> None:
    targets = set(re.findall(r"^([a-z]+):", MAKEFILE, re.MULTILINE))
    shown = {
        one.command.split()[1]
        for kind, commands in blocks(TEXT)
        for one in commands
        if kind == "sh" and one.command.startswith("make ")
    }

    assert shown
    assert shown <= targets


@pytest.mark.usefixtures("_laboratory")
def test_the_commands_of_the_readme_give_what_stands_there() -> None:
    # One after the other, as a reader would: a later command may need what an earlier one made.
    for kind, commands in blocks(TEXT):
        for one in commands:
            if not one.command or one.command.startswith(("make ", "python ", ".ci/")):
                continue
            code, output = run(one.command)

            assert code in {0, 1}, output
            if kind == "console":
                assert output == one.output, one.command


def test_every_dependency_is_explained() -> None:
    pyproject = (README.parent / "pyproject.toml").read_text(encoding="utf-8")
    listed = pyproject.partition("\ndependencies = [")[2].partition("]\n")[0]
    names = re.findall(r'"([a-z0-9-]+)', listed)

    assert names
    assert [name for name in names if f"`{name}`" not in TEXT] == []
