"""The same with plugins as processes, through the program itself."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from plugins.faulty.modes import MODES
from tests.cli.running import rebind

TIMED = "two-instances"
"""Its second instance must come while the plugin is watched, which a start of Python may miss."""
ROOT = Path(__file__).parents[2]


@pytest.mark.soak
@pytest.mark.parametrize("mode", [mode for mode in MODES if mode != TIMED])
def test_each_fault_is_found_in_a_process(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    finished = rebind(
        *("conform", "--socket-dir-flag", "--socket-dir", "--timeout", "5s", "-o", "json", "--"),
        *(sys.executable, "-m", "simulator.cli", "plugin", "run", "faulty", "--mode", mode),
    )

    failed = [
        item["check"] for item in json.loads(finished.stdout)["items"] if item["verdict"] == "fail"
    ]
    assert set(failed) == set(MODES[mode].fails), finished.stdout
