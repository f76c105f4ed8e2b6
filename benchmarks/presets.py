"""What `rebind bench run` can run: named sets of combinations, and the runs of one.

Each combination is a run of its own in a fresh folder: the same arrivals, another way to keep the
bindings.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Final

from benchmarks.churn import ChurnLoad, ChurnResult, churn
from benchmarks.counted_fsync import CountedFsync
from benchmarks.nodes import MeasuredNode, checkpoint_node, database_nodes
from benchmarks.sync_counter import SyncCount, counted_syncs
from benchmarks.writers import CheckpointWriters, DatabaseWriters, Writers
from benchmarks.written_bytes import bytes_since, written_bytes
from simulator.ports import Durability
from store.committer import Committer
from store.sql_store import SqlStore

DURABILITY: Final = Durability.FULL
"""Of every acknowledged write: an fsync of the file, or of the database's log."""


@dataclass(frozen=True, slots=True)
class Combination:
    """One way to keep bindings.

    Attributes:
        commit_batch: Commits that the committer gathers at most; None for `checkpoint`, where each
            node writes its own file.
        added_fsync_ms: How much longer each fsync takes.
    """

    persistence: str
    commit_batch: int | None
    added_fsync_ms: int


@dataclass(frozen=True, slots=True)
class Preset:
    """A named set of runs.

    Attributes:
        about: One line for `rebind bench list`.
    """

    name: str
    about: str
    load: ChurnLoad
    combinations: tuple[Combination, ...]

    @property
    def seconds(self) -> int:
        """About how long it takes, in seconds, the making of the nodes included."""
        return round(len(self.combinations) * (self.load.seconds + self.load.drain_seconds + 1.5))


@dataclass(frozen=True, slots=True)
class RunRow:
    """What one combination gave.

    Attributes:
        syncs: fsyncs during the run.
        written: Bytes given to the operating system during the run; None where it does not tell.
    """

    combination: Combination
    load: ChurnLoad
    result: ChurnResult
    syncs: int
    written: int | None
    durability: Durability = DURABILITY


QUICK: Final = Preset(
    name="quick",
    about="churn on 200 nodes, file against database, commitBatch 1, 8, 64, fsync + 0 and 1 ms",
    load=ChurnLoad(),
    combinations=tuple(
        Combination(persistence, batch, added)
        for added in (0, 1)
        for persistence, batch in (
            ("checkpoint", None),
            ("database", 1),
            ("database", 8),
            ("database", 64),
        )
    ),
)
PRESETS: Final = MappingProxyType({preset.name: preset for preset in (QUICK,)})


def run(
    preset: Preset, *, seconds: float | None = None, nodes: int | None = None
) -> Iterator[RunRow]:
    """Run the combinations of a preset one after the other.

    Args:
        preset: What to run.
        seconds: Length of each run in place of the preset's own.
        nodes: Number of nodes in place of the preset's own.

    Raises:
        AttributeError: The SQLite of this Python hides what counting fsyncs needs.
    """
    load = replace(
        preset.load, seconds=seconds or preset.load.seconds, nodes=nodes or preset.load.nodes
    )
    for combination in preset.combinations:
        with tempfile.TemporaryDirectory(prefix="rebind-bench-") as folder:
            yield _run(combination, load, Path(folder))


def _run(combination: Combination, load: ChurnLoad, folder: Path) -> RunRow:
    with ExitStack() as closing:
        prepare = _files if combination.persistence == "checkpoint" else _database
        nodes, writers, count = prepare(combination, load, folder, closing)
        for node in nodes:
            node.restore()
            node.connect_plugin()
        count.added_seconds = combination.added_fsync_ms / 1_000
        syncs, written = count.syncs, written_bytes()
        result = churn(load, nodes, writers)
        return RunRow(combination, load, result, count.syncs - syncs, bytes_since(written))


Prepared = tuple[list[MeasuredNode], Writers, SyncCount]


def _files(_: Combination, load: ChurnLoad, folder: Path, closing: ExitStack) -> Prepared:
    fsync = CountedFsync()
    nodes = []
    for index in range(load.nodes):
        own = folder / f"n{index}"
        own.mkdir()
        nodes.append(
            checkpoint_node(own.name, own, bound=load.devices, devices=load.devices, sync=fsync)
        )
    writers = CheckpointWriters({node.name: node.answers for node in nodes})
    closing.callback(writers.close)
    return nodes, writers, fsync.count


def _database(
    combination: Combination, load: ChurnLoad, folder: Path, closing: ExitStack
) -> Prepared:
    count = closing.enter_context(counted_syncs())
    store = SqlStore(f"sqlite:///{folder / 'rebind.db'}", durability=DURABILITY)
    closing.callback(store.close)
    names = [f"n{index}" for index in range(load.nodes)]
    nodes = database_nodes(names, store, bound=load.devices, devices=load.devices)
    committer = Committer(store, commit_batch=combination.commit_batch or 1)
    closing.callback(committer.close)
    return nodes, DatabaseWriters(committer), count
