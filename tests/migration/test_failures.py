"""A store or a disk that fails at any of its calls, and a process that is killed for good."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from simulator.cli.commands.migrate.stopped_node import NodeFiles, StoppedNode
from simulator.core.migration.phases import Phase
from simulator.core.migration.steps import migrate
from simulator.core.migration.survey import Survey
from simulator.errors import StoreUnavailableError
from simulator.ports import Store
from tests.migration.stopped import NODE, Bench, believed, checkpoint_file, of_file
from tests.store.failing_store import FailingStore

WAYS = ((Phase.CHECKPOINT, Phase.DATABASE), (Phase.DATABASE, Phase.CHECKPOINT))


@pytest.mark.parametrize("moment", ["before its effect", "after its effect"])
@pytest.mark.parametrize(("start", "end"), WAYS)
def test_the_nth_failure_of_the_store_costs_nothing(
    tmp_path: Path, store: Store, start: Phase, end: Phase, moment: str
) -> None:
    """N = 1, 2, 3, ... until no failure is met; the answer may be lost after the effect too."""
    bench = Bench(tmp_path, "sqlite://", checkpoint_file(2))
    sound = StoppedNode(NODE, store, bench.files)
    failures = 0
    while True:
        _go(bench, sound, start)
        failing = FailingStore(store, fail_at=failures + 1, after=moment.startswith("after"))
        with suppress(StoreUnavailableError):
            _go(bench, StoppedNode(NODE, failing, bench.files), end)
        if not failing.has_failed:
            break
        failures += 1
        found = _go(bench, sound, end)

        assert believed(found) == of_file(2)
    _go(bench, sound, Phase.CHECKPOINT)

    assert failures >= len(WAYS)
    assert bench.files.path.read_bytes() == bench.content


def _go(bench: Bench, node: StoppedNode, to: Phase) -> Survey:
    found = node.run(migrate(bench.job(), to))

    assert isinstance(found, Survey), found
    return found


@pytest.mark.parametrize(("start", "end"), WAYS)
def test_a_disk_that_fails_at_any_fsync_costs_nothing(
    tmp_path: Path, store: Store, start: Phase, end: Phase
) -> None:
    bench = Bench(tmp_path, "sqlite://", checkpoint_file(2))
    sound = StoppedNode(NODE, store, bench.files)
    fail_at = 0
    while True:
        _go(bench, sound, start)
        fail_at += 1
        calls = 0

        def sync(handle: int) -> None:
            nonlocal calls
            calls += 1
            if calls == fail_at:  # noqa: B023 - called within this turn only
                raise OSError(28, "No space left on device")
            os.fsync(handle)

        broken = NodeFiles(bench.files.path, sync=sync)
        with suppress(StoreUnavailableError):
            _go(bench, StoppedNode(NODE, store, broken), end)
        found = _go(bench, sound, end)

        assert believed(found) == of_file(2)
        if calls < fail_at:
            break
    _go(bench, sound, Phase.CHECKPOINT)

    assert bench.files.path.read_bytes() == bench.content


_KILLED = """
import os, signal, sys
from pathlib import Path
from simulator.core.migration.phases import Phase
from tests.migration import stopped

folder, url, to, number = sys.argv[1:]
bench = stopped.Bench.found(Path(folder), url)
try:
    bench.go(Phase(to), stopped.Cut(int(number), after=True))
except stopped.Killed:
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize(("start", "end"), WAYS)
def test_a_process_killed_after_any_effect_costs_nothing(
    tmp_path: Path, start: Phase, end: Phase
) -> None:
    """With signal 9, its database open and nothing closed."""
    url = f"sqlite:///{tmp_path}/rebind.db"
    bench = Bench(tmp_path, url, checkpoint_file(2))
    bench.go(start)
    number = 0
    while True:
        number += 1
        command = [sys.executable, "-c", _KILLED, str(tmp_path), url, end.value, str(number)]
        ended = subprocess.run(command, check=False)  # noqa: S603 - this program
        found = bench.look()

        assert believed(found) == of_file(2)
        if ended.returncode == 0:
            break
        assert ended.returncode == -signal.SIGKILL
        bench.go(start)
    bench.go(Phase.CHECKPOINT)

    assert number > len(WAYS)
    assert bench.files.path.read_bytes() == bench.content
