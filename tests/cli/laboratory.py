"""The folder in which the examples of the help texts are run.

It holds what the examples name:

    kubelet_internal_checkpoint   two pods hold devices
    before.checkpoint             an older file of the same node, one pod
    pod.yaml                      one of the pods, refused after a kubelet restart
    rebind.db                     node n0, imported from kubelet_internal_checkpoint
    rebind-run/n0                 the folder of node n0
    run.json                      a benchmark run, made up, with two repetitions
    later.json                    another one of the same settings, slower
    bin/rebind                    the program, for commands that are given as arguments
"""

from __future__ import annotations

import shutil
import sys
from functools import cache
from pathlib import Path

from benchmarks.results.documents import result_text
from tests.benchmarks.results.example import SETTINGS, example
from tests.cli.running import rebind

FILES = Path(__file__).parent / "files"

WANT_SERVER = {
    *("apply", "delete", "describe", "events", "reboot", "restart"),
    *("get plugins", "get events", "plugin start", "plugin stop", "plugin list"),
}
"""Commands that only a running server can do."""

SPARE = """
apiVersion: v1
kind: Pod
metadata: {name: extra}
spec: {containers: [{name: main}], nodeName: n0}
---
apiVersion: v1
kind: Pod
metadata: {name: other}
spec: {containers: [{name: main}], nodeName: n0}
"""


def furnish(folder: Path) -> None:
    """Put the files into `folder`, which must be the current one."""
    for source in sorted(FILES.iterdir()):
        shutil.copy(source, folder)
    imported = rebind("checkpoint", "import", "kubelet_internal_checkpoint", "--node", "n0")
    assert imported.code == 0, imported.stderr
    (folder / "rebind-run" / "n0" / "device-plugins").mkdir(parents=True)
    for name, slower in (("run.json", 1.0), ("later.json", 1.3)):
        (folder / name).write_text(example_run(slower))
    put_program(folder / "bin")


@cache
def example_run(slower: float) -> str:
    """Return the file of a made-up run."""
    run = example(settings=SETTINGS[:4], rates=(100, 300), repetitions=2, slower=slower)
    return result_text(run)


def put_program(folder: Path) -> None:
    """Put the program of this checkout into a folder, under its name."""
    folder.mkdir()
    program = folder / "rebind"
    root = Path(__file__).parents[2]
    program.write_text(
        f'#!/bin/sh\nPYTHONPATH="{root}" exec "{sys.executable}" -m simulator.cli "$@"\n'
    )
    program.chmod(0o755)


def wants_server(command: str) -> bool:
    """Tell whether a command line, without `rebind`, is for a running server."""
    first, second, *_ = [*command.split(), ""]
    return bool({first, f"{first} {second}"} & WANT_SERVER)


def furnish_server() -> None:
    """Put what the examples name into the server that `REBIND_ROOT_DIR` names."""
    Path("spare.yaml").write_text(SPARE)
    for file in ("trainer.yaml", "web.yaml", "spare.yaml"):
        applied = rebind("apply", "-f", file)
        assert applied.code == 0, applied.stderr
    for node, name in (("n0", "gpu"), ("n0", "nic"), ("n1", "nic")):
        listed = rebind("plugin", "list", name, "--node", node)
        if listed.code == 0 and "Stopped" not in listed.stdout:
            continue
        which = (name,) if listed.code == 0 else ("fake", "--name", name)
        started = rebind("plugin", "start", *which, "--node", node)
        # A node that an example has rebooted starts its plugins itself, perhaps only now.
        assert started.code == 0 or "runs on" in started.stderr, started.stderr
    stopped = rebind("plugin", "stop", "nic", "--node", "n0")
    assert stopped.code == 0, stopped.stderr
