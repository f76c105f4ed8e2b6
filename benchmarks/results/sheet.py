"""Runs as CSV: one line per row and all figures, in base units that the headers name."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

from benchmarks.results.comparing import Comparison
from benchmarks.results.naming import KNOBS
from benchmarks.results.quantities import QUANTITIES
from benchmarks.results.rows import Result, Setting
from simulator.reports.text import printable

_SETTING = (
    *("persistence", "store", "clock", "durability", "options", "commitBatch", "flushPeriodNs"),
    *("bulkBind", "qps", "burst", "addedFsyncNs", "nodes", "existing", "clients"),
)
_PLACE = ("run", "started", "seed", "phase", "repetition")
_RUN = (*_PLACE, "seconds", "elapsedSeconds")
_SLICE = (
    *("endSeconds", "sliceSeconds", "served", "p50Ns", "p99Ns", "longestNs", "stallNs"),
    *("memoryBytes", "serverMemoryBytes", "storedBytes"),
)
_COUNTS = ("offered", "served", "bindings", "interrupted")


def csv_text(results: Iterable[Result]) -> str:
    """Return all rows of results; what is not known is empty."""
    found = io.StringIO()
    writer = csv.writer(found, lineterminator="\n")
    writer.writerow([*_RUN, *_SETTING, *_COUNTS, *(one.key for one in QUANTITIES)])
    for result in results:
        for row in result.rows:
            figures = [quantity.of(row) for quantity in QUANTITIES]
            place = [printable(row.phase), row.repetition, row.seconds, row.elapsed]
            counts = [row.offered, row.served, row.bindings, str(row.interrupted).lower()]
            line = [*_run(result), *place, *_setting(row.setting), *counts, *figures]
            writer.writerow(line)
    return found.getvalue()


def slices_csv(results: Iterable[Result]) -> str:
    """Return a line for each slice of the long phases of results; what is not known is empty."""
    found = io.StringIO()
    writer = csv.writer(found, lineterminator="\n")
    writer.writerow([*_PLACE, *_SETTING, *_SLICE])
    for result in results:
        for row in result.rows:
            place = [*_run(result), printable(row.phase), row.repetition, *_setting(row.setting)]
            for one in row.over_time:
                times = [one.p50, one.p99, one.longest, one.stall]
                sizes = [one.memory, one.server_memory, one.stored]
                writer.writerow([*place, one.end, one.seconds, one.served, *times, *sizes])
    return found.getvalue()


def changes_csv(comparison: Comparison) -> str:
    """Return a line for each figure of what two runs have both measured, in base units."""
    found = io.StringIO()
    writer = csv.writer(found, lineterminator="\n")
    writer.writerow(["phase", *_SETTING, "figure", "first", "second", "ratio", "beyondNoise"])
    for matched in comparison.matched:
        place = [printable(matched.phase), *_setting(matched.setting)]
        for change in matched.changes:
            beyond = "" if change.is_beyond is None else str(change.is_beyond).lower()
            sides = [change.first.median, change.second.median]
            writer.writerow([*place, change.quantity.key, *sides, change.ratio, beyond])
    return found.getvalue()


def _run(result: Result) -> list[str | int]:
    return [printable(result.name), printable(result.started), result.seed]


def _setting(setting: Setting) -> list[str | int | float | None]:
    return [
        printable(setting.persistence),
        setting.store.value,
        setting.clock.value,
        setting.durability.value,
        printable(_OPTIONS.words(setting)),
        setting.commit_batch,
        setting.flush_period,
        setting.bulk_bind,
        setting.qps,
        setting.burst,
        setting.added_fsync,
        setting.nodes,
        setting.existing,
        setting.clients,
    ]


_OPTIONS = next(knob for knob in KNOBS if knob.header == "OPTIONS")
