"""The commands of README.md: read, run, and on request written back with their output.

A block of kind `console` shows commands after `$` and the output that each gives; a block of kind
`sh` shows commands alone. `python -m tests.readme` writes the output anew; read the difference
before you commit it.
"""

from __future__ import annotations

import os
import re
import shlex
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.cli.laboratory import furnish
from tests.cli.running import rebind

README = Path(__file__).resolve().parent.parent / "README.md"
_BLOCK = re.compile(r"^```(sh|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_PROMPT = "$ "


@dataclass
class Shown:
    """A command of the README and the output that stands under it."""

    command: str
    output: list[str] = field(default_factory=list)


def blocks(text: str) -> Iterator[tuple[str, list[Shown]]]:
    """Iterate over the blocks of commands: their kind and what they show."""
    for kind, body in _BLOCK.findall(text):
        shown: list[Shown] = []
        for line in body.splitlines():
            if kind == "sh":
                shown.append(Shown(line.partition("#")[0].strip()))
            elif line.startswith(_PROMPT):
                shown.append(Shown(line.removeprefix(_PROMPT)))
            else:
                shown[-1].output.append(line)
        yield kind, shown


def run(command: str) -> tuple[int, list[str]]:
    """Run a `rebind` command in the current folder; return its exit code and output lines."""
    program, *arguments = shlex.split(command)
    if program != "rebind":
        reason = f"README shows {command!r}, which is no rebind command"
        raise ValueError(reason)
    finished = rebind(*arguments)
    return finished.code, finished.stdout.rstrip("\n").splitlines() + finished.stderr.splitlines()


def rewritten(text: str) -> str:
    """Return the README with the output that its commands give now."""

    def write(block: re.Match[str]) -> str:
        if block[1] != "console":
            return block[0]
        lines = []
        for shown in next(blocks(block[0]))[1]:
            lines += [_PROMPT + shown.command, *run(shown.command)[1]]
        return "\n".join(["```console", *lines, "```"])

    return _BLOCK.sub(write, text)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        furnish(Path(folder))
        README.write_text(rewritten(README.read_text(encoding="utf-8")), encoding="utf-8")
