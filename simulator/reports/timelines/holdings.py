"""Who held what over time, as a timeline: made from a database's holdings and changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from simulator.core.instants import Instant
from simulator.core.transitions import NodeBooted, NodeName
from simulator.ports import Change, Holding
from simulator.reports.store_text import pod_text
from simulator.reports.timelines.lanes import Bar, Lane, LaneKind, State, Tick, TickKind, Track
from simulator.reports.timelines.timeline import Entry, Mark, MarkKind, Timeline

_BOOT: Final = NodeBooted.__name__


def holdings_timeline(holdings: Sequence[Holding], changes: Sequence[Change]) -> Timeline:
    """Return a lane for each device, with a row for each holder of a disputed one.

    Args:
        holdings: Of the devices to show.
        changes: Those that belong to the holdings and the boots of their nodes. The history is
            bounded: a holding may have begun or ended with a change that is not known any more.
    """
    entries = _Entries()
    for change in changes:
        entries.add(change.revision, _of_change(change))
    for holding in holdings:
        began = _of_holding(holding, holding.since, "HoldingBegan")
        entries.add(holding.since_revision, began)
        if holding.until is not None and holding.until_revision is not None:
            ended = _of_holding(holding, holding.until, "HoldingEnded")
            entries.add(holding.until_revision, ended)
    index = entries.index()
    nodes = dict.fromkeys(holding.node for holding in holdings)
    nodes |= dict.fromkeys(change.node for change in changes)
    return Timeline(
        lanes=tuple(
            lane
            for node in sorted(nodes)
            for lane in _lanes(
                node,
                [holding for holding in holdings if holding.node == node],
                [change for change in changes if change.node == node],
                index,
            )
        ),
        marks=tuple(
            Mark(MarkKind.BOOT, change.at, change.detail, index[change.revision])
            for change in changes
            if change.kind == _BOOT
        ),
        entries=entries.in_order(),
    )


@dataclass(slots=True)
class _Entries:
    """Lines by revision: one for each, in order."""

    _by_revision: dict[int, Entry] = field(default_factory=dict)

    def add(self, revision: int, entry: Entry) -> None:
        """Take a line, unless something is known of that revision already."""
        self._by_revision.setdefault(revision, entry)

    def index(self) -> dict[int, int]:
        """Return the place of every revision in the order."""
        return {revision: place for place, revision in enumerate(sorted(self._by_revision))}

    def in_order(self) -> tuple[Entry, ...]:
        return tuple(self._by_revision[revision] for revision in sorted(self._by_revision))


def _of_change(change: Change) -> Entry:
    return Entry(
        change.at, change.node, change.kind, f"revision {change.revision}: {change.detail}"
    )


def _of_holding(holding: Holding, at: Instant, kind: str) -> Entry:
    text = f"{pod_text(holding.pod)} {holding.resource} {holding.device}"
    return Entry(at, holding.node, kind, f"{text}; the change itself is not kept any more")


def _lanes(
    node: NodeName,
    holdings: Sequence[Holding],
    changes: Sequence[Change],
    index: dict[int, int],
) -> Iterator[Lane]:
    boots = Track()
    number = 0
    for change in changes:
        if change.kind == _BOOT:
            number += 1
            boots.turn(State.UP, index[change.revision], change.at, change.detail)
    if number:
        yield Lane(LaneKind.NODE, node, node, tuple(boots.done()))
    by_device: dict[str, list[Holding]] = {}
    for holding in holdings:
        by_device.setdefault(f"{holding.resource} {holding.device}", []).append(holding)
    for name, of_device in by_device.items():
        yield Lane(LaneKind.DEVICE, node, name, tuple(_bars(of_device, index)))
    ticks = [Tick(TickKind.DONE, change.at, index[change.revision]) for change in changes]
    if ticks:
        yield Lane(LaneKind.CHANGES, node, LaneKind.CHANGES.value, ticks=tuple(ticks))


def _bars(holdings: Iterable[Holding], index: dict[int, int]) -> Iterator[Bar]:
    """Iterate over one device's holdings; a disputed device has several at a time, in rows."""
    ends: list[Instant | None] = []
    for holding in sorted(holdings, key=lambda one: (one.since, one.since_revision)):
        row = next(
            (row for row, end in enumerate(ends) if end is not None and end <= holding.since),
            len(ends),
        )
        ends[row : row + 1] = [holding.until]
        label = "/".join(
            [pod_text(holding.pod), *([",".join(holding.containers)] if holding.containers else [])]
        )
        yield Bar(
            State.HELD, holding.since, holding.until, label, index[holding.since_revision], row
        )
