"""The same spec gives the same records under any hash randomization."""

from __future__ import annotations

import os
import subprocess
import sys

PROGRAM = """
from dataclasses import replace
from tests.engine.runs import NODE, Run, a_spec, container, pod, seconds, with_plugin
from tests.engine.test_database import sqlite
from simulator.engine.actions import *
for persistence in ("checkpoint", "database"):
    spec = a_spec(pod("a", container("x", 1), container("y", 2)), pod("b"), persistence=persistence)
    spec = with_plugin(replace(spec, choice="random", seed=11), starts_after_boot=seconds(0.01))
    run = Run(spec, store_factory=sqlite)
    for action in (
        StartPlugin("gpu"), CreatePod("a"), CreatePod("b"), RestartKubelet(NODE),
        DeletePod("b", force=True), PowerCut(NODE, loss=Loss.RANDOM),
    ):
        run.do(action)
    run.wait(30)
    for stamped in run.all_records():
        print(stamped)
    print(run.pod("a"), run.simulation.holdings(NODE), run.simulation.node(NODE))
"""


def output(hash_seed: str) -> str:
    return subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def test_records_do_not_depend_on_hash_randomization() -> None:
    first = output("0")

    assert first.count("AdmissionDecided") >= 8
    assert output("1") == first
    assert output("2") == first
