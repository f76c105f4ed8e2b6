"""What a run says, in two or three sentences with numbers.

Sentences are computed from rows that differ in one thing only, and say when a difference is no
larger than the noise, or when nobody can tell. With nothing to compare, none compares.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from benchmarks.results.batch_findings import batching
from benchmarks.results.caveat_findings import caveats
from benchmarks.results.drift_findings import over_time
from benchmarks.results.merging import Merged
from benchmarks.results.naming import Naming
from benchmarks.results.pairs import at_scheduled_rates, keeps_up, pairs
from benchmarks.results.quantities import (
    ACHIEVED,
    P50,
    P99,
    Form,
    number,
    text,
)
from benchmarks.results.rows import TimeSource
from benchmarks.results.start_findings import added_to_the_start
from benchmarks.results.wording import ratios
from simulator.core.plurals import counted

LEADS: Final = 3
"""Sentences that stand on top; further ones are said below."""

_NAMED_MAX: Final = 3
_UNTOLD: Final = " With one repetition nobody can tell such differences from noise."


def findings(merged: Sequence[Merged]) -> tuple[str, ...]:
    """Return the sentences, the most telling one of each kind first; none of nothing."""
    if not merged:
        return ()
    if not any(row.offered for one in merged for row in one.rows):
        return ("No pod came: the phases are too short for their loads.",)
    naming = Naming(one.setting for one in merged)
    kinds = [
        list(added_to_the_start(merged)),
        list(batching(merged)),
        list(_growth(merged)),
        list(_saturation(at_scheduled_rates(merged), naming)),
    ]
    found = [kind[0] for kind in kinds if kind] + [one for kind in kinds for one in kind[1:]]
    found += _ease(at_scheduled_rates(merged))
    drifts = list(over_time(merged, naming))
    is_alone = len({one.setting for one in merged}) == 1
    if not found:
        found = [_alone(merged, naming) if is_alone else _fastest(merged, naming)]
    elif any(len(one.rows) == 1 and one.setting.clock is TimeSource.REAL for one in merged):
        found[0] += _UNTOLD
    if is_alone or not any(one.setting.clock is TimeSource.VIRTUAL for one in merged):
        found = [*drifts[:1], *found, *drifts[1:]]
    else:  # Nothing drifts in a model, unless it is meant to.
        found += drifts
    # What makes figures doubtful is not left to those who read on.
    told = found[: LEADS - 1]
    doubts = " ".join(caveats(merged, naming))
    return (*told, *filter(None, [doubts]), *found[len(told) :])


def _growth(merged: Sequence[Merged]) -> Iterator[str]:
    """Say how latency grows with the bindings that a node already has."""
    counts = {one.setting.existing for one in merged}
    least, most = min(counts), max(counts)
    if least == most:
        return
    parts = []
    for persistence in dict.fromkeys(one.setting.persistence for one in merged):
        found = list(
            pairs(
                merged,
                lambda one, name=persistence: (one.persistence, one.existing) == (name, least),  # type: ignore[misc]
                lambda one, name=persistence: (one.persistence, one.existing) == (name, most),  # type: ignore[misc]
                lambda one: replace(one, existing=0),
            )
        )
        change = ratios(found, P50)
        if change:
            parts.append(f"{persistence} {change}")
    if parts:
        yield (
            f"From {least} to {most} existing pods on a node, the median admission changes: "
            f"{'; '.join(parts)}."
        )


def _saturation(merged: Sequence[Merged], naming: Naming) -> Iterator[str]:
    """Say which settings do not serve what is offered, and what they serve at most."""
    full: dict[str, float] = {}
    for one in merged:
        achieved = one.spread(ACHIEVED.of)
        if achieved and not keeps_up(one):
            name = naming.name(one.setting)
            full[name] = max(full.get(name, 0.0), achieved.median)
    if not full:
        return
    ordered = sorted(full.items(), key=lambda item: item[1])
    named = "; ".join(f"{name} at {number(rate)}/s" for name, rate in ordered[:_NAMED_MAX])
    more = len(ordered) - _NAMED_MAX
    rest = f"; and {more} more" if more > 0 else ""
    all_ = len({one.setting for one in merged})
    if all_ == 1:
        [(name, rate)] = ordered
        offered = _most_offered(merged)
        yield f"{name} saturates at {number(rate)}/s, below what is offered (at most {offered}/s)."
        return
    settings = counted(all_, "setting")
    yield (
        f"{len(full)} of {settings} saturate below what is offered "
        f"(at most {_most_offered(merged)}/s): {named}{rest}."
    )


def _ease(merged: Sequence[Merged]) -> Iterator[str]:
    """Say that all settings serve what is offered, if they do."""
    settings = len({one.setting for one in merged})
    if settings > 1 and all(map(keeps_up, merged)):
        most = _most_offered(merged)
        yield f"All {settings} settings serve what is offered, at most {most}/s."


def _most_offered(merged: Sequence[Merged]) -> str:
    return number(max(row.offered_per_second for one in merged for row in one.rows))


def _alone(merged: Sequence[Merged], naming: Naming) -> str:
    told = "; ".join(_served(one, naming) for one in merged[:_NAMED_MAX])
    more = len(merged) - _NAMED_MAX
    rest = f"; and {counted(more, 'further phase')}" if more > 0 else ""
    return f"{told}{rest}; there is nothing to compare it with."


def _fastest(merged: Sequence[Merged], naming: Naming) -> str:
    phase = merged[-1].phase
    merged = [one for one in merged if one.phase == phase]
    best = max(merged, key=lambda one: sum(row.achieved_per_second for row in one.rows))
    more = f", more than the other {len(merged) - 1}" if len(merged) > 1 else ""
    return f"{_served(best, naming)}{more}."


def _served(one: Merged, naming: Naming) -> str:
    achieved, tail = one.spread(ACHIEVED.of), one.spread(P99.of)
    offered = sum(row.offered_per_second for row in one.rows) / len(one.rows)
    bound = "at least " if one.is_bound(P99) else ""
    late = f", p99 {bound}{text(tail.median, Form.DURATION)}" if tail else ""
    rate = number(achieved.median if achieved else 0)
    return (
        f"{naming.name(one.setting)} served {rate}/s of {number(offered)}/s offered "
        f"({one.phase}){late}"
    )
