"""The commands of README.md: read, run, and on request written back with their output.

A block of kind `console` shows commands after `$` and the output that each gives; a line `...`
stands for any number of lines. A block of kind `sh` shows commands alone. A block of kind `yaml`
whose first line is `# NAME` is the file of that name. `python -m tests.readme` writes the output
anew where it no longer matches; read the difference before you commit it.
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
_FILE = re.compile(r"^```yaml\n# (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_PROMPT = "$ "
_ELISION = "..."


@dataclass
class Shown:
    """A command of the README and the output that stands under it."""

    command: str
    output: list[str] = field(default_factory=list)

    def matches(self, found: list[str]) -> bool:
        """Tell whether `found` is what stands there, elisions aside."""
        pattern = "".join(
            r"(?:.*\n)*?" if line == _ELISION else re.escape(line) + r"\n" for line in self.output
        )
        return re.fullmatch(pattern, "".join(f"{line}\n" for line in found)) is not None


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


def prepare(folder: Path, text: str) -> None:
    """Put what the commands need into `folder`, the current one: files of the README too."""
    furnish(folder)
    for name, body in _FILE.findall(text):
        (folder / name).write_text(body, encoding="utf-8")


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
            found = run(shown.command)[1]
            lines += [_PROMPT + shown.command, *(shown.output if shown.matches(found) else found)]
        return "\n".join(["```console", *lines, "```"])

    return _BLOCK.sub(write, text)


if __name__ == "__main__":
    written = README.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        prepare(Path(folder), written)
        README.write_text(rewritten(written), encoding="utf-8")
