"""The commands of README.md: read, run, and on request written back with their output.

A block of kind `console` shows commands after `$` and the output that each gives; a line `...`
stands for any number of lines, and within a line for any text. A command that ends with `&` is a
server in the background: its first line is its output, and it ends with its section.
A block of kind `sh` shows commands alone. A block of kind `yaml`
whose first line is `# NAME` is the file of that name. `python -m tests.readme` writes the output
anew where it no longer matches; read the difference before you commit it.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from tests.cli.laboratory import furnish
from tests.cli.running import rebind

README = Path(__file__).resolve().parent.parent / "README.md"
_BLOCK = re.compile(r"^```(sh|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"^```yaml\n# (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_PROMPT = "$ "
_ELISION = "..."
_IN_BACKGROUND = "&"


@dataclass
class Shown:
    """A command of the README and the output that stands under it."""

    command: str
    output: list[str] = field(default_factory=list)

    def matches(self, found: list[str]) -> bool:
        """Tell whether `found` is what stands there, elisions aside."""
        pattern = "".join(
            r"(?:.*\n)*?" if line == _ELISION else _line_pattern(line) for line in self.output
        )
        return re.fullmatch(pattern, "".join(f"{line}\n" for line in found)) is not None


def _line_pattern(line: str) -> str:
    return re.escape(line).replace(re.escape(_ELISION), ".*") + r"\n"


def sections(text: str) -> list[str]:
    """Return the text between the headings."""
    return re.split(r"^## ", text, flags=re.MULTILINE)


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
    (folder / "rebind.db").unlink()  # A reader begins without one.
    for name, body in _FILE.findall(text):
        (folder / name).write_text(body, encoding="utf-8")


def run(command: str, servers: ExitStack) -> tuple[int, list[str]]:
    """Run a `rebind` command in the current folder; return its exit code and output lines.

    Args:
        command: What stands after the prompt.
        servers: Ends the servers that were started.
    """
    program, *arguments = shlex.split(command, comments=True)
    if arguments[-1] == _IN_BACKGROUND:
        return _started(command, arguments[:-1], servers)
    if program != "rebind":
        reason = f"README shows {command!r}, which is no rebind command"
        raise ValueError(reason)
    if arguments[0] == "exec":  # It becomes the command, so it needs a process of its own.
        replaced = subprocess.run(  # noqa: S603 - the README's own command
            _program(arguments), capture_output=True, text=True, env=_environment(), check=False
        )
        return replaced.returncode, replaced.stdout.splitlines() + replaced.stderr.splitlines()
    finished = rebind(*arguments)
    return finished.code, finished.stdout.rstrip("\n").splitlines() + finished.stderr.splitlines()


def _program(arguments: list[str]) -> list[str]:
    return [sys.executable, "-m", "simulator.cli", *arguments]


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(README.parent)}


def _started(command: str, arguments: list[str], servers: ExitStack) -> tuple[int, list[str]]:
    process = subprocess.Popen(  # noqa: S603 - the README's own command
        _program(arguments),
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
        env=_environment(),
    )
    servers.enter_context(process)
    servers.callback(process.terminate)
    assert process.stderr is not None
    line = process.stderr.readline().rstrip("\n")
    if not line:
        reason = f"{command!r} ended with {process.wait()} and said nothing"
        raise ValueError(reason)
    return 0, [line]


def rewritten(text: str) -> str:
    """Return the README with the output that its commands give now."""
    return "## ".join(_rewritten(section) for section in sections(text))


def _rewritten(section: str) -> str:
    with ExitStack() as servers:
        return _with_output(section, servers)


def _with_output(section: str, servers: ExitStack) -> str:

    def write(block: re.Match[str]) -> str:
        if block[1] != "console":
            return block[0]
        lines = []
        for shown in next(blocks(block[0]))[1]:
            found = run(shown.command, servers)[1]
            lines += [_PROMPT + shown.command, *(shown.output if shown.matches(found) else found)]
        return "\n".join(["```console", *lines, "```"])

    return _BLOCK.sub(write, section)


if __name__ == "__main__":
    written = README.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        prepare(Path(folder), written)
        README.write_text(rewritten(written), encoding="utf-8")
