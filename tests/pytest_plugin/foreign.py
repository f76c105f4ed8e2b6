"""A project that is not Rebind: its folders, its settings, its test run."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path

from simulator import pytest_plugin

ROOT = Path(pytest_plugin.__file__).parents[1]
SETTINGS = """
[pytest]
addopts = --strict-markers --strict-config -p no:cacheprovider
filterwarnings = error
"""


@dataclass(frozen=True)
class Outcome:
    """How a test run ended."""

    code: int
    output: str


class Project:
    """A project with the folders `plugins`, `store` and `tests`.

    Args:
        folder: Where it is.
        packages: Which of its folders have an `__init__.py`.
    """

    def __init__(self, folder: Path, packages: tuple[str, ...] = ()) -> None:
        self.folder = folder
        for name in ("plugins", "store", "tests"):
            (folder / name).mkdir()
            (folder / name / "gpu.py").write_text("NAME = 'theirs'\n")
        for name in packages:
            (folder / name / "__init__.py").touch()
        (folder / "pytest.ini").write_text(SETTINGS)
        (folder / "bin").mkdir()
        rebind = folder / "bin" / "rebind"
        rebind.write_text(
            f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -P -m simulator.cli "$@"\n'
        )
        rebind.chmod(0o755)

    def write(self, name: str, text: str) -> None:
        """Write a file of tests."""
        (self.folder / "tests" / name).write_text(textwrap.dedent(text))

    def run(self, *options: str) -> Outcome:
        """Run its tests, from its folder, as its developer would."""
        known = bool(entry_points(group="pytest11", name="rebind"))
        plugin = () if known else ("-p", "simulator.pytest_plugin")
        environment = {
            **{
                name: value
                for name, value in os.environ.items()
                if name[:4] not in ("PYTE", "COV_")
            },
            "PYTHONPATH": str(ROOT),
            "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}",
        }
        finished = subprocess.run(  # noqa: S603 - the tests of this folder
            [sys.executable, "-m", "pytest", *plugin, "-p", "no:hypothesispytest", *options],
            cwd=self.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=300,
        )
        return Outcome(finished.returncode, finished.stdout)


def documented() -> str:
    """Return the example of the plugin's documentation."""
    lines = (pytest_plugin.__doc__ or "").splitlines()
    code = [line for line in lines if line.startswith("    ") or not line]
    return textwrap.dedent("\n".join(code))
