"""How often a durable commit waits for the disk: counted, so that no machine's speed matters."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from benchmarks.sync_counter import counted_syncs
from simulator.ports import Durability
from store.sql_store import SqlStore
from tests.store.world import admits_one

COMMITS = 200


def _syncs(folder: Path, durability: Durability, *, batch: int) -> int:
    with (
        counted_syncs() as counted,
        closing(SqlStore(f"sqlite:///{folder}/rebind.db", durability=durability)) as store,
    ):
        before = counted.syncs
        for commit in range(COMMITS):
            numbers = range(commit * batch, (commit + 1) * batch)
            store.apply([admits_one(f"p{number}", f"g{number}") for number in numbers])
        return counted.syncs - before


@pytest.mark.parametrize("batch", [1, 16])
def test_a_durable_commit_syncs_once_however_many_bindings_it_holds(
    tmp_path: Path, batch: int
) -> None:
    """R99: of n pods in one commit each waits for one n-th of a sync."""
    syncs = _syncs(tmp_path, Durability.FULL, batch=batch)

    assert COMMITS <= syncs <= 1.05 * COMMITS


def test_without_a_sync_for_each_commit_the_last_ones_can_be_lost_at_a_power_cut(
    tmp_path: Path,
) -> None:
    """R97: `normal` syncs only when the log is moved into the file; `off` never."""
    normal, off = tmp_path / "normal", tmp_path / "off"
    normal.mkdir()
    off.mkdir()

    assert _syncs(normal, Durability.NORMAL, batch=1) <= 0.05 * COMMITS
    assert _syncs(off, Durability.OFF, batch=1) == 0
