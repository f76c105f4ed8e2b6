"""What `make demo` runs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_the_demo_imports_a_checkpoint_replays_it_and_says_what_differs(tmp_path: Path) -> None:
    rebind = tmp_path / "rebind"
    rebind.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m simulator.cli "$@"\n')
    rebind.chmod(0o755)
    finished = subprocess.run(  # noqa: S603 - a script of ours
        [str(ROOT / "scenarios" / "demo" / "demo.sh"), str(rebind), str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )

    text = " ".join(finished.stdout.split())
    assert (finished.returncode, finished.stderr) == (0, "")
    assert (tmp_path / "demo.db").exists()
    assert "2 bindings of 2 pods" in text
    assert "node-a default/trainer main example.com/gpu 0,1 gpu-0,gpu-1" in text
    assert "2 of 5 outcomes differ between checkpoint and database: in damage." in text
    assert (
        "The other 3 outcomes are alike: there the kubelet of one version decides the same" in text
    )
    assert "3 scenarios, 18 runs, 30 expectations held, 0 broken" in text
