"""Churn serves what is offered, durably, and counts what it costs."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.churn import ChurnLoad, churn
from benchmarks.nodes import database_nodes
from benchmarks.presets import PRESETS, QUICK, Combination, RunRow, run
from benchmarks.writers import DatabaseWriters
from store.committer import Committer
from store.sql_store import SqlStore

LOAD = ChurnLoad(nodes=4, devices=3, rate=200, seconds=0.2, drain_seconds=30)


def measured(combination: Combination) -> RunRow:
    """Run one combination under a small load."""
    (row,) = run(replace(QUICK, load=LOAD, combinations=(combination,)))
    return row


@pytest.mark.parametrize(
    "combination",
    [
        Combination("checkpoint", None, 0),
        Combination("database", 1, 0),
        Combination("database", 8, 1),
    ],
)
def test_every_pod_is_served_and_timed(combination: Combination) -> None:
    row = measured(combination)

    assert row.result.served == row.result.offered > 0
    assert len(row.result.latencies) == row.result.offered
    assert row.written is None or row.written > 0


def test_a_checkpoint_costs_one_fsync_for_each_pod() -> None:
    """S4.10: written once for the container, not when the old pod's devices are freed."""
    row = measured(Combination("checkpoint", None, 0))

    assert row.syncs == row.result.served


def test_the_database_without_batches_costs_a_commit_for_the_release_and_one_for_the_pod() -> None:
    row = measured(Combination("database", 1, 0))

    # The log is moved into the file now and then, which syncs both.
    assert 2 * row.result.served <= row.syncs <= 2 * row.result.served + 4


def test_what_was_served_is_in_the_database(tmp_path: Path) -> None:
    store = SqlStore(f"sqlite:///{tmp_path / 'rebind.db'}")
    names = [f"n{index}" for index in range(LOAD.nodes)]
    nodes = database_nodes(names, store, bound=3, devices=3)
    for node in nodes:
        node.restore()
        node.connect_plugin()
    with closing(Committer(store, commit_batch=8)) as committer:
        result = churn(LOAD, nodes, DatabaseWriters(committer))
    held = {(holding.node, holding.pod.uid) for holding in store.holders()}
    ever = {(holding.node, holding.pod.uid) for holding in store.holders(past=True)}
    store.close()

    assert held == {(node.name, uid) for node in nodes for uid in node.facts.active_pods}
    assert len(ever) == LOAD.nodes * LOAD.devices + result.served


def test_what_is_not_served_in_time_counts_with_the_time_that_it_waited() -> None:
    flood = replace(LOAD, rate=5_000, seconds=0.2, drain_seconds=0)
    (row,) = run(replace(QUICK, load=flood, combinations=(Combination("database", 1, 20),)))

    assert row.result.served < row.result.offered
    assert len(row.result.latencies) == row.result.offered
    assert row.result.latencies.percentile_ms(100) > 100


def test_every_preset_says_how_long_it_takes_and_has_few_combinations() -> None:
    for preset in PRESETS.values():
        assert len(preset.combinations) <= 12
        assert preset.seconds <= 60
