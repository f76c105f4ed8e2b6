"""What is counted agrees with somebody else's count of the same things."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from typing_extensions import override

from benchmarks.counted_fsync import CountedFsync
from benchmarks.measuring.instruments import ProcessMeter
from benchmarks.measuring.phases import Target
from benchmarks.results.rows import Row
from simulator.core.records import AdmissionDecided, Stamped, StateWritten
from tests.benchmarks.measuring.runs import Written

REAL = Written(
    nodes=3,
    clock="real",
    load="{qpsLoad: {qps: 200}}",
    lifetime="100ms",
    phases="- {name: churn, load: load, pods: pod, duration: 300ms, drain: 10s}",
)


class Witness:
    """Counts by the world's records, beside the instruments."""

    def __init__(self) -> None:
        self.writes = 0
        self.bound = 0
        self.calls: Counter[str] = Counter()
        self._target: Target | None = None

    def watch(self, target: Target) -> None:
        """Begin to count."""
        self._target = target
        self._before = self._kubelets()
        target.driver.world.watch_records(self._take)

    def called(self) -> dict[str, int]:
        """Return what the kubelets have counted since, by the names of rows."""
        return dict(self._kubelets() - self._before)

    def _kubelets(self) -> Counter[str]:
        assert self._target is not None
        found: Counter[str] = Counter()
        for node in self._target.driver.world.nodes.values():
            found.update(node.api_calls)
        return found

    def _take(self, stamped: Stamped) -> None:
        record = stamped.record
        if isinstance(record, StateWritten):
            self.writes += not record.error
        elif isinstance(record, AdmissionDecided):
            self.bound += sum(len(ids) for *_, ids in record.held)


def calls_of(row: Row) -> dict[str, int]:
    """Return the calls of a row by their name."""
    return {f"{call.verb.upper()} {call.kind}": call.count for call in row.api_calls}


def test_each_write_of_a_checkpoint_is_one_fsync_and_the_bytes_of_its_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """S4.9; the file's size at each fsync is what was written to it, whoever counts."""
    sizes: list[int] = []

    class Looking(CountedFsync):
        @override
        def __call__(self, descriptor: int) -> None:
            sizes.append(os.fstat(descriptor).st_size)
            super().__call__(descriptor)

    monkeypatch.setattr("benchmarks.measuring.real_target.CountedFsync", Looking)
    witness = Witness()

    def watch(target: Target) -> None:
        witness.watch(target)
        sizes.clear()

    row = replace(REAL, persistence="checkpoint").row(watch)

    assert row.served == row.bindings == witness.bound == 60
    assert row.fsyncs == witness.writes == len(sizes)
    assert row.bytes_written is not None
    # Beside the files there is what wakes the event loop up: a byte now and then.
    assert sum(sizes) <= row.bytes_written <= sum(sizes) + 100 * len(sizes)


def test_each_commit_of_a_database_is_one_fsync() -> None:
    witness = Witness()
    row = replace(REAL, matrix="commitBatch: 1").row(witness.watch)

    assert row.served == row.bindings == witness.bound == 60
    assert row.fsyncs is not None
    assert witness.writes - 2 <= row.fsyncs <= witness.writes + 4  # The log moves now and then.


def test_the_calls_that_pass_are_those_that_the_kubelets_have_counted() -> None:
    witness = Witness()
    row = Written(nodes=3, lifetime="1h", devices=100, load="{qpsLoad: {qps: 50}}").row(
        witness.watch
    )

    assert calls_of(row) == witness.called()
    # S12.4: one GET and one PATCH for each pod, once for its start and once for Running.
    assert calls_of(row) == {"GET pods": 100, "PATCH pods/status": 50} or row.served == 50


def test_the_bytes_of_a_process_are_those_that_it_has_written(tmp_path: Path) -> None:
    meter = ProcessMeter()
    before = meter.read()
    (tmp_path / "file").write_bytes(bytes(1 << 20))
    after = meter.read()

    assert before.written is not None
    assert after.written is not None
    assert 1 << 20 <= after.written - before.written <= (1 << 20) + 4096


def test_what_lies_in_main_memory_is_written_to_no_disk() -> None:
    """Nothing can be counted then, which is not the same as nothing."""
    assert ProcessMeter(talks=True, in_memory=True).read().written is None
    assert ProcessMeter(talks=True).read().written is not None
