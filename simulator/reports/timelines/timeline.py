"""A run as a timeline: lanes of bars for what lasts, ticks and marks for what happens.

Made from the records of a run alone, so it shows no more than they say. It knows nothing of pages,
colors or widths.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from simulator.core import records
from simulator.core.instants import Instant
from simulator.core.pods import PodUid
from simulator.core.records import Stamped
from simulator.core.transitions import NodeName
from simulator.reports.results import ScenarioResult, Verdict
from simulator.reports.timelines.device_lanes import device_lanes
from simulator.reports.timelines.lanes import Lane, LaneKind, Numbered, Tick, TickKind
from simulator.reports.timelines.lifelines import kubelet_lane, machine_lane, plugin_lanes
from simulator.reports.timelines.pod_lanes import pod_lanes
from simulator.reports.wording import pod_names, sentence


class MarkKind(Enum):
    """What a vertical line stands for."""

    STEP = "step"
    FAULT = "fault"
    VIOLATION = "violation"
    BOOT = "boot"


@dataclass(frozen=True, slots=True)
class Mark:
    """Something that concerns all lanes at once.

    Attributes:
        record: Index of its entry.
        label: E.g. the step's name.
    """

    kind: MarkKind
    at: Instant
    label: str
    record: int


@dataclass(frozen=True, slots=True)
class Entry:
    """One record as a line of text."""

    at: Instant
    node: str
    type: str
    text: str


@dataclass(frozen=True, slots=True)
class Judged:
    """When an expectation was judged in this run, and how.

    Attributes:
        row: Index of the expectation.
    """

    at: Instant
    row: int
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Timeline:
    """All that happened in one run.

    Attributes:
        lanes: By node: the machine, its kubelet, plugins, containers, devices, calls and writes.
        entries: All records, in order.
    """

    lanes: tuple[Lane, ...]
    marks: tuple[Mark, ...]
    entries: tuple[Entry, ...]
    judged: tuple[Judged, ...] = ()

    def instants(self) -> tuple[Instant, ...]:
        """Return every instant at which something happens, in order."""
        found = {entry.at for entry in self.entries} | {one.at for one in self.judged}
        found |= {bar.since for lane in self.lanes for bar in lane.bars}
        found |= {bar.until for lane in self.lanes for bar in lane.bars if bar.until is not None}
        return tuple(sorted(found))


def timeline(result: ScenarioResult, run: int) -> Timeline:
    """Return the timeline of one run of a scenario."""
    judged = tuple(
        Judged(cell.at, row, cell.verdict)
        for row, cell in enumerate(expectation.cells[run] for expectation in result.rows)
        if cell.facts or cell.problem
    )
    stamped = result.runs[run].records
    return Timeline(
        lanes=tuple(_lanes(stamped)),
        marks=tuple(_marks(stamped)),
        entries=_entries(stamped),
        judged=judged,
    )


def _entries(stamped: Sequence[Stamped]) -> tuple[Entry, ...]:
    names = pod_names(stamped)
    return tuple(
        Entry(one.at, one.node, type(one.record).__name__, sentence(one.record, names))
        for one in stamped
    )


def _distinct_names(stamped: Sequence[Stamped]) -> dict[str, str]:
    """Return pod names, with a number behind the second pod of a name and later ones."""
    distinct: dict[str, str] = {}
    called: dict[str, int] = {}
    for uid, name in pod_names(stamped).items():
        number = called[name] = called.get(name, 0) + 1
        distinct[uid] = name if number == 1 else f"{name} ({number})"
    return distinct


def _pod_of(record: records.Record) -> PodUid | None:
    match record:
        case records.PodPhaseChanged(pod=pod) | records.PodDeleted(pod=pod):
            return pod
        case records.AdmissionDecided(pod=pod) | records.ContainerChanged(pod=pod):
            return pod
        case _:
            return None


def _homes(stamped: Sequence[Stamped]) -> dict[PodUid, NodeName]:
    """Return the node of each pod; what is said of it before it has one belongs there too."""
    homes: dict[PodUid, NodeName] = {}
    for one in stamped:
        pod = _pod_of(one.record)
        if pod is not None and one.node:
            homes.setdefault(pod, one.node)
    return homes


def _lanes(stamped: Sequence[Stamped]) -> Iterator[Lane]:
    names = _distinct_names(stamped)
    homes = _homes(stamped)
    by_node: dict[NodeName, list[Numbered]] = {}
    for index, one in enumerate(stamped):
        pod = _pod_of(one.record)
        node = one.node if one.node or pod is None else homes.get(pod, one.node)
        by_node.setdefault(node, []).append((index, one))
    for node, of_node in sorted(by_node.items(), key=lambda item: not item[0]):
        machine = machine_lane(node, of_node)
        if machine.bars:
            yield machine
            yield kubelet_lane(node, of_node)
        yield from plugin_lanes(node, of_node)
        yield from pod_lanes(node, of_node, names)
        yield from device_lanes(node, of_node, names)
        for kind, ticks in ((LaneKind.CALLS, _calls(of_node)), (LaneKind.WRITES, _writes(of_node))):
            if ticks:
                yield Lane(kind, node, kind.value, ticks=tuple(ticks))


def _calls(of_node: Sequence[Numbered]) -> list[Tick]:
    return [
        Tick(TickKind.FAILED if one.record.error else TickKind.DONE, one.at, index)
        for index, one in of_node
        if isinstance(one.record, records.PluginCalled)
    ]


def _writes(of_node: Sequence[Numbered]) -> list[Tick]:
    return [
        Tick(TickKind.FAILED if one.record.error else TickKind.DONE, one.at, index)
        for index, one in of_node
        if isinstance(one.record, records.StateWritten)
    ]


def _marks(stamped: Sequence[Stamped]) -> Iterator[Mark]:
    for index, one in enumerate(stamped):
        match one.record:
            case records.StepDone(step=step):
                yield Mark(MarkKind.STEP, one.at, step, index)
            case records.FaultInjected(fault=fault):
                yield Mark(MarkKind.FAULT, one.at, fault, index)
            case records.InvariantViolated(invariant=invariant):
                yield Mark(MarkKind.VIOLATION, one.at, invariant, index)
            case records.KubeletPanicked():
                yield Mark(MarkKind.FAULT, one.at, "kubelet panic", index)
            case _:
                pass
