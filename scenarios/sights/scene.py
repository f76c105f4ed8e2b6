"""What a row of expectations is judged by, and how what is seen is compared with it.

Resources are shown by the part of their name after the slash, where that is unambiguous in the
scenario.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from scenarios.sights.view import Run
from simulator.core.records import Record, Stamped
from simulator.core.resources import ResourceName
from simulator.core.transitions import NodeName
from simulator.engine.actions import DeviceCounts
from simulator.reports.results import Fact
from simulator.reports.wording import pod_names

RecordT = TypeVar("RecordT", bound=Record)


@dataclass(frozen=True, slots=True)
class Scene:
    """What a row is judged by.

    Attributes:
        run: The run, at the instant of judging.
        since: Index of the first record after the row's step began.
        short: Resource to the name by which it is shown.
        node: The node that rows about nodes speak of.
        resources: Plugin to the resource it serves.
        known_pods: Uid to name of the pods of the nodes' first checkpoints.
    """

    run: Run
    since: int
    short: Mapping[str, str]
    node: NodeName
    resources: Mapping[str, ResourceName]
    known_pods: Mapping[str, str]

    def records(self) -> Sequence[Stamped]:
        """Return the records since the row's step began."""
        return self.run.records[self.since :]

    def pod_names(self) -> dict[str, str]:
        """Return the names of all pods that are known, by uid."""
        return {**self.known_pods, **pod_names(self.run.records)}

    def counts(self, counts: Mapping[ResourceName, int]) -> str:
        """Return counts by resource in words."""
        shown = [f"{counts[name]} {self.short.get(name, name)}" for name in sorted(counts)]
        return ", ".join(shown) or "no devices"


def equal(key: str, seen: str, wanted: str | None) -> Fact:
    """Return the fact that `seen` is, or is not, `wanted`."""
    return Fact(key, seen, wanted, wanted in (None, seen))


def long_text(key: str, seen: str, wanted: str | None) -> Fact:
    """Return the same for a text that is too long for a cell."""
    return Fact(key, "", wanted, wanted in (None, seen), seen)


def counted(
    scene: Scene, key: str, seen: DeviceCounts, wanted: Mapping[ResourceName, int] | None
) -> Fact:
    """Return the fact that counts are what is wanted; a resource that is not there counts as 0."""
    counts = dict(seen)
    text = scene.counts(counts)
    if wanted is None:
        return Fact(key, text)
    holds = all(counts.get(name, 0) == count for name, count in wanted.items())
    return Fact(key, text, scene.counts(wanted), holds)


def of_type(scene: Scene, kind: type[RecordT]) -> list[RecordT]:
    """Return the records of one type since the row's step began."""
    return [one.record for one in scene.records() if isinstance(one.record, kind)]
