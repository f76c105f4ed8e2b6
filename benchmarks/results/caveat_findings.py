"""What makes figures say something else than they seem to: failures, full nodes, busy CPUs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from benchmarks.results.merging import Merged
from benchmarks.results.naming import Naming
from benchmarks.results.pairs import keeps_up
from benchmarks.results.quantities import number
from benchmarks.results.rows import Row
from simulator.core.plurals import counted

_NAMED_MAX: Final = 3
_WAITED_MIN: Final = 0.01
"""Share of the pods from which on their wait for room is in a p99."""
_LATE_MIN: Final = 0.05
"""Share of the pods from which on their percentiles tell of the load generator too."""
_WHOLE_CPU: Final = 0.9
"""CPU time per second from which on one thread has nothing left to give."""


def caveats(merged: Sequence[Merged], naming: Naming) -> Iterator[str]:
    """Say what a reader must know before believing the figures."""
    yield from _failed(merged, naming)
    yield from _waited(merged)
    yield from _late(merged, naming)
    yield from _busy(merged, naming)


def _failed(merged: Sequence[Merged], naming: Naming) -> Iterator[str]:
    shares = _worst(merged, naming, lambda row: row.errors / max(row.offered, 1))
    if shares:
        phases = ", ".join(dict.fromkeys(one.phase for one in merged if _has(one, "errors")))
        yield f"Pods were refused or failed in {phases}: {_listed(shares)}."


def _waited(merged: Sequence[Merged]) -> Iterator[str]:
    """Latencies then tell how many devices there are, and not how bindings are kept."""
    shares: dict[str, float] = {}
    for one in merged:
        share = max(row.waited / max(row.offered, 1) for row in one.rows)
        shares[one.phase] = max(shares.get(one.phase, 0.0), share)
    much = {phase: share for phase, share in shares.items() if share >= _WAITED_MIN}
    if much:
        listed = ", ".join(f"{phase} up to {share:.0%}" for phase, share in much.items())
        yield (
            f"Pods had to wait for a node with room ({listed}): that wait is in their latencies, "
            "whatever keeps the bindings."
        )


def _late(merged: Sequence[Merged], naming: Naming) -> Iterator[str]:
    shares = _worst(merged, naming, lambda row: row.late / max(row.offered, 1))
    much = [(name, share) for name, share in shares if share >= _LATE_MIN]
    if much:
        yield (
            f"The load generator was late with pods, and that is in their latencies: "
            f"{_listed(much)}."
        )


def _busy(merged: Sequence[Merged], naming: Naming) -> Iterator[str]:
    full = [one for one in merged if not keeps_up(one)]
    busy = [one for one in full if min(map(_client_cpu, one.rows)) >= _WHOLE_CPU]
    if busy:
        names = list(dict.fromkeys(naming.name(one.setting) for one in busy))
        all_ = len({one.setting for one in full})
        yield (
            f"Of {counted(all_, 'setting')} that did not serve what was offered, {len(names)} used "
            "a whole CPU for load and kubelets, which are one process: that is its limit, and not "
            f"that of what keeps the bindings ({'; '.join(names[:_NAMED_MAX])}"
            f"{_more(len(names))})."
        )


def _client_cpu(row: Row) -> float:
    if row.cpu_client_s is None or not row.counted_s:
        return 0.0
    return row.cpu_client_s / row.counted_s


def _worst(
    merged: Sequence[Merged], naming: Naming, share: Callable[[Row], float]
) -> list[tuple[str, float]]:
    """Return the settings with a share above 0, the largest first."""
    found: dict[str, float] = {}
    for one in merged:
        name = naming.name(one.setting)
        found[name] = max(found.get(name, 0.0), *map(share, one.rows))
    return sorted(((name, most) for name, most in found.items() if most), key=lambda one: -one[1])


def _listed(shares: Sequence[tuple[str, float]]) -> str:
    named = "; ".join(f"{name} up to {number(100 * share)}%" for name, share in shares[:_NAMED_MAX])
    return named + _more(len(shares))


def _more(count: int) -> str:
    return f"; and {count - _NAMED_MAX} more" if count > _NAMED_MAX else ""


def _has(one: Merged, field: str) -> bool:
    return any(getattr(row, field) for row in one.rows)
