"""Whether a long phase stayed as it was, in a sentence for each setting."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Final

from benchmarks.results.merging import Merged
from benchmarks.results.naming import Naming
from benchmarks.results.quantities import STALL, Form, number, text
from benchmarks.results.slices import FLAT_WITHIN, Drift, Tracked, drift
from simulator.core.instants import SECOND, Duration

WORDS: Final[Mapping[Tracked, str]] = {
    Tracked.RATE: "the rate",
    Tracked.P99: "the p99 of admission",
    Tracked.MEMORY: "memory",
    Tracked.SERVER_MEMORY: "the API server's memory",
    Tracked.STORED: "the size on disk",
}
"""What should stay flat, in sentences."""
_FORMS: Final[Mapping[Tracked, Form]] = {
    Tracked.RATE: Form.NUMBER,
    Tracked.P99: Form.DURATION,
    Tracked.MEMORY: Form.BYTES,
    Tracked.SERVER_MEMORY: Form.BYTES,
    Tracked.STORED: Form.BYTES,
}
_TOLD_MAX: Final = 3
"""Settings and phases that are told; the table has all."""


def ends_text(tracked: Tracked, found: Drift) -> str:
    """Return from where to where something went."""
    unit = "/s" if tracked is Tracked.RATE else ""
    ends = (f"{text(end, _FORMS[tracked])}{unit}" for end in (found.first, found.last))
    return " to ".join(ends)


def over_time(merged: Sequence[Merged], naming: Naming) -> Iterator[str]:
    """Say of long phases what stayed flat, what grew and what fell."""
    told = [(one, changes) for one in merged if (changes := _changes(one))][:_TOLD_MAX]
    legend = f" {_legend(told)}" if told else ""
    for one, changes in told:
        yield _told(one, changes, naming) + legend
        legend = ""


def _changes(one: Merged) -> dict[Tracked, Drift]:
    """Return how everything went that is known, medians over the repetitions."""
    found: dict[Tracked, Drift] = {}
    for tracked in Tracked:
        known = [each for row in one.rows if (each := drift(row.over_time, tracked)) is not None]
        if known:
            first = median(each.first for each in known)
            found[tracked] = Drift(first, median(each.last for each in known))
    return found


def _told(one: Merged, changes: Mapping[Tracked, Drift], naming: Naming) -> str:
    last = max(row.over_time[-1].end for row in one.rows if row.over_time)
    seconds = Duration(round(last) * SECOND)
    parts = [f"{WORDS[each]} {_change(each, found)}" for each, found in changes.items()]
    stall = one.spread(STALL.of)
    longest = text(stall.most if stall else 0, Form.DURATION)
    return (
        f"In the {text(seconds, Form.DURATION)} of {one.phase}, {naming.name(one.setting)}: "
        f"{', '.join(parts)}; the longest stall was {longest}."
    )


def _change(tracked: Tracked, found: Drift) -> str:
    """Return `stayed flat`, or by how much something grew or fell, and from where to where."""
    ends = ends_text(tracked, found)
    if found.is_flat(FLAT_WITHIN[tracked]):
        return f"stayed flat ({ends})"
    if not found.first:
        return f"grew ({ends})"
    verb = "grew" if found.change > 0 else "fell"
    return f"{verb} by {number(abs(found.change) * 100)}% ({ends})"


def _legend(told: Sequence[tuple[Merged, Mapping[Tracked, Drift]]]) -> str:
    """Return what is compared, and what counts as flat."""
    by_share: dict[float, list[str]] = {}
    for tracked in Tracked:
        if any(tracked in changes for _, changes in told):
            by_share.setdefault(FLAT_WITHIN[tracked], []).append(WORDS[tracked])
    shares = ", ".join(f"{share:.0%} ({', '.join(names)})" for share, names in by_share.items())
    return (
        "Compared are the medians of the slices of its first and of its last third; "
        f"flat is a change of at most {shares}."
    )
