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
_RUN = ("run", "started", "seed", "phase", "repetition", "seconds", "elapsedSeconds")
_COUNTS = ("offered", "served", "bindings", "interrupted")


def csv_text(results: Iterable[Result]) -> str:
    """Return all rows of results; what is not known is empty."""
    found = io.StringIO()
    writer = csv.writer(found, lineterminator="\n")
    writer.writerow([*_RUN, *_SETTING, *_COUNTS, *(one.key for one in QUANTITIES)])
    for result in results:
        for row in result.rows:
            figures = [quantity.of(row) for quantity in QUANTITIES]
            run = [printable(result.name), printable(result.started), result.seed]
            place = [printable(row.phase), row.repetition, row.seconds, row.elapsed]
            counts = [row.offered, row.served, row.bindings, str(row.interrupted).lower()]
            writer.writerow([*run, *place, *_setting(row.setting), *counts, *figures])
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
