"""README.md: its commands work and give the output that stands there."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from scenarios.schema.expect import RECORD_TYPES
from tests.cli.laboratory import FILES
from tests.cli.running import rebind
from tests.readme import README, Shown, blocks, prepare, run, sections

TEXT = README.read_text(encoding="utf-8")
MAKEFILE = (README.parent / "Makefile").read_text(encoding="utf-8")
LINES_MAX = 250


@pytest.fixture
def _laboratory(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in [name for name in os.environ if name.startswith("REBIND_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("REBIND_HTTP", "none")  # Other tests may have the port.
    with TemporaryDirectory(prefix="rb") as folder:  # Its sockets' paths are to be short.
        monkeypatch.chdir(folder)
        monkeypatch.setenv("PATH", f"{folder}/bin:{os.environ['PATH']}")
        prepare(Path(folder), TEXT)
        yield


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


def test_the_files_of_a_section_are_made_by_it_or_it_says_where_they_are() -> None:
    written = set(re.findall(r"^```yaml\n# (\S+)$", TEXT, re.MULTILINE))
    written |= set(re.findall(r"--out ([\w.-]+)", TEXT))
    not_told = {
        word
        for section in sections(TEXT)
        for _, commands in blocks(section)
        for one in commands
        for word in one.command.split()
        if re.fullmatch(r"[\w-]+\.(yaml|json)|kubelet_internal_checkpoint", word)
        if word not in written
        if not ((FILES / word).exists() and "`tests/cli/files`" in section)
    }

    assert not_told == set()


@pytest.mark.usefixtures("_laboratory")
def test_the_commands_of_the_readme_give_what_stands_there() -> None:
    # One after the other, as a reader would: a later command may need what an earlier one made.
    for section in sections(TEXT):
        shown = [(kind, one) for kind, commands in blocks(section) for one in commands]
        with ExitStack() as servers:
            for kind, one in shown:
                if not one.command or one.command.startswith(("make ", "python ", ".ci/")):
                    continue
                code, output = run(one.command, servers)

                assert code in {0, 1}, output
                if kind == "console":
                    assert one.matches(output), f"{one.command} gives\n" + "\n".join(output)


def test_every_type_of_record_is_explained_where_the_readme_says() -> None:
    assert "`rebind explain trace`" in " ".join(TEXT.split())

    explained = rebind("explain", "trace").stdout

    assert [name for name in RECORD_TYPES if f"  {name} <record>" not in explained] == []


def test_every_dependency_is_explained() -> None:
    pyproject = (README.parent / "pyproject.toml").read_text(encoding="utf-8")
    listed = pyproject.partition("\ndependencies = [")[2].partition("]\n")[0]
    names = re.findall(r'"([a-z0-9-]+)', listed)

    assert names
    assert [name for name in names if f"`{name}`" not in TEXT] == []


@pytest.mark.parametrize(
    ("shown", "found", "same"),
    [
        (["a", "..."], ["a", "b", "c"], True),
        (["a", "...", "c"], ["a", "c"], True),
        (["a", "...", "d"], ["a", "b", "c"], False),
        (["a"], ["a", "b"], False),
        (["a ... d"], ["a b c d"], True),
        (["a ... d"], ["a b c"], False),
        ([], [], True),
    ],
)
def test_an_elision_stands_for_any_lines(shown: list[str], found: list[str], same: bool) -> None:  # noqa: FBT001 - a case of the table
    assert Shown("rebind", shown).matches(found) is same
