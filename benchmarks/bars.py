"""What "fast" means: each figure of the table with its bar, as data.

Bars are ratios or counts. A row without a limit is context: a time of this machine, or one of the
real kubelet's code measured elsewhere, and is never judged.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import Final


class Sense(Enum):
    """On which side of the limit the figure has to be."""

    AT_MOST = "≤"
    AT_LEAST = "≥"
    CONTEXT = ""


@dataclass(frozen=True, slots=True)
class Bar:
    """One row of the table.

    Attributes:
        key: What a benchmark reports its measurement under.
        what: The figure, in words.
        unit: `×`, `ms`, `%` or empty for a count.
    """

    key: str
    what: str
    sense: Sense
    limit: float
    unit: str = "×"

    def is_met(self, measured: float) -> bool:
        """Whether a measurement is on the right side; context always is."""
        if self.sense is Sense.AT_MOST:
            return measured <= self.limit
        return self.sense is Sense.CONTEXT or measured >= self.limit


def _at_most(key: str, limit: float, what: str, unit: str = "×") -> Bar:
    return Bar(key, what, Sense.AT_MOST, limit, unit)


def _at_least(key: str, limit: float, what: str, unit: str = "×") -> Bar:
    return Bar(key, what, Sense.AT_LEAST, limit, unit)


def _context(key: str, what: str, unit: str = "ms") -> Bar:
    return Bar(key, what, Sense.CONTEXT, 0.0, unit)


BARS: Final = (
    _at_most("admission/flat", 1.3, "durable admission on `database`, 5,000 bound pods over 8"),
    _at_least("admission/110", 1.5, "durable admission, `checkpoint` over `database`, 110 pods"),
    _at_least("admission/1000", 4, "the same, 1,000 pods"),
    _at_least("admission/5000", 15, "durable admission, `checkpoint` over `database`, 5,000 pods"),
    _context("admission/checkpoint/8", "durable admission on `checkpoint`, 8 pods"),
    _context("admission/checkpoint/110", "the same, 110 pods (the real code elsewhere: 2.3 ms)"),
    _context("admission/checkpoint/1000", "the same, 1,000 pods (the real code: 22.7 ms)"),
    _context("admission/checkpoint/5000", "the same, 5,000 pods (the real code: 97 ms)"),
    _context("admission/database/5000", "durable admission on `database`, 5,000 pods"),
    _at_most("restore/5000", 50, "restore at start, 5,000 bound pods, on a quiet machine", "ms"),
    _at_most("restore/linear", 1.3, "restore, time for each pod at 5,000 pods over 1,000"),
    _context("restore/checkpoint/5000", "restore from `checkpoint`, 5,000 pods (real: 1,139 ms)"),
    _context("codec/encode/110", "checkpoint encoded, 110 pods (the real code: 1.6 ms)"),
    _context("codec/encode/1000", "the same, 1,000 pods (the real code: 15.9 ms)"),
    _context("codec/encode/5000", "the same, 5,000 pods (the real code: 81.6 ms)"),
    _context("codec/rewrite/5000", "the same, all entries but one as before"),
    _context("codec/decode/5000", "checkpoint decoded and verified, 5,000 pods"),
    _at_most("decision/8", 0.25, "allocation decision over the durable write, 8 devices"),
    _at_most("decision/128", 0.25, "the same, 128 devices"),
    _context("decision/10000", "the same, 10,000 devices", "×"),
    _at_most("store/1", 1.5, "store, one admission for each commit, over bare sqlite3"),
    _context("store/8", "the same, batch of 8", "×"),
    _at_most("store/64", 1.35, "the same, batch of 64"),
    _at_most("store/512", 1.35, "the same, batch of 512"),
    _at_least("commit-batch/64", 4, "durable rate with `commitBatch` 64 over 1"),
    _at_least("commit-batch/512", 6, "durable rate with `commitBatch` 512 over 1"),
    _at_least("commit-batch/64/slow", 25, "`commitBatch` 64 over 1, 1 ms added to each fsync"),
    _at_least("commit-batch/512/slow", 80, "`commitBatch` 512 over 1, 1 ms added to each fsync"),
    _context("postgresql/batch/64", "PostgreSQL: durable rate with `commitBatch` 64 over 1", "×"),
    _context("postgresql/batch/512", "PostgreSQL: durable rate with `commitBatch` 512 over 1", "×"),
    _context("postgresql/sqlite/1", "PostgreSQL over SQLite, one admission for each commit", "×"),
    _context("postgresql/sqlite/64", "the same, batch of 64", "×"),
    _context("postgresql/sqlite/512", "the same, batch of 512", "×"),
    _at_most("fsyncs", 1.05, "fsyncs for each durable commit, counted", ""),
    _at_most("growth", 1.3, "one durable binding at 100,000 existing ones over none"),
    _at_least("live/group", 1.5, "64 live nodes, a pod in flight each: `commitBatch` 64 over 1"),
    _context("live/1/1", "live admissions per second, 1 node, `commitBatch` 1", "/s"),
    _context("live/1/64", "the same, `commitBatch` 64", "/s"),
    _context("live/64/1", "the same, 64 nodes, `commitBatch` 1", "/s"),
    _context("live/64/64", "the same, 64 nodes, `commitBatch` 64", "/s"),
    _context("list/1000", "a list of 1,000 new devices, from its arrival to its commit"),
    _context("list/10000", "the same, 10,000 devices"),
    _at_most("list/50000", 1_000, "the same, 50,000 devices, on a quiet machine", "ms"),
    _at_most("list/linear", 1.5, "a list, time for each device at 50,000 over 10,000"),
    _context("list/1000/changed", "a list of 1,000 devices of which one has changed"),
    _context("list/10000/changed", "the same, 10,000 devices"),
    _context("list/50000/changed", "the same, 50,000 devices"),
    _context("list-pods/110", "PodResources List of 110 pods, nothing new"),
    _context("list-pods/110/changed", "the same, after an admission"),
    _context("list-pods/1000", "the same, 1,000 pods, nothing new"),
    _context("list-pods/1000/changed", "the same, after an admission"),
    _at_most("storm/admissions", 2, "p99 of admissions, 1,000 List a second over none"),
    _at_most("storm/updates", 2, "p99 of another plugin's device updates, the same"),
    _at_least("api/noop", 0.5, "API server, durable creates, 64 clients: over a no-op handler"),
    _at_least("api/group", 1.5, "the same, group commit over single commits"),
    _at_least("api/group/slow", 4, "the same, 5 ms added to each commit"),
    _context("api/rate", "durable creates of the API server (the real one elsewhere: 650/s)", "/s"),
    _context("api/p99", "the same, p99 from a request to its answer"),
    _at_least("open-loop", 93, "delivered of what is offered at 3 × the unbatched rate", "%"),
)

HEADLINES: Final = (
    "admission/flat",
    "admission/5000",
    "commit-batch/64",
    "commit-batch/64/slow",
    "fsyncs",
    "growth",
    "api/noop",
)
"""Keys of the figures that say most; what each is called is understood without its neighbors."""

BARS_BY_KEY: Final = MappingProxyType({bar.key: bar for bar in BARS})
