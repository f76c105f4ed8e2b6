"""The lanes of containers: pending, running, waiting, exited, failed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from simulator.core import records
from simulator.core.pods import ContainerName, PodUid
from simulator.reports.timelines.lanes import Lane, LaneKind, Numbered, State, Tick, TickKind, Track
from simulator.reports.wording import Names

_CHANGES: Final = {
    "running": State.RUNNING,
    "exited": State.EXITED,
    "killed": State.EXITED,
    "waiting": State.WAITING,
}


@dataclass(slots=True)
class _Story:
    """What concerns one pod on one node.

    Attributes:
        containers: In the order in which the run shows them.
    """

    containers: dict[ContainerName, None] = field(default_factory=dict)
    records: list[Numbered] = field(default_factory=list)


def pod_lanes(node: str, of_node: Iterable[Numbered], names: Names) -> Iterator[Lane]:
    """Iterate over the containers of all pods; a pod that never shows one has a lane itself."""
    for uid, story in _stories(of_node).items():
        shown = names.get(uid, uid)
        for container in story.containers or (None,):
            first = container is None or container is next(iter(story.containers))
            yield Lane(
                LaneKind.CONTAINER,
                node,
                shown if container is None else f"{shown}/{container}",
                tuple(_track(story.records, container).done()),
                tuple(_decisions(story.records)) if first else (),
            )


def _stories(of_node: Iterable[Numbered]) -> dict[PodUid, _Story]:
    stories: dict[PodUid, _Story] = {}
    for index, stamped in of_node:
        record = stamped.record
        match record:
            case records.ManagerStarted(held=held):
                for uid, container, *_ in held:
                    stories.setdefault(uid, _Story()).containers[container] = None
            case records.DevicesAllocated() | records.ContainerChanged():
                story = stories.setdefault(record.pod, _Story())
                story.containers[record.container] = None
                story.records.append((index, stamped))
            case records.PodPhaseChanged() | records.PodDeleted() | records.AdmissionDecided():
                stories.setdefault(record.pod, _Story()).records.append((index, stamped))
            case _:
                pass
    return stories


def _track(story: Sequence[Numbered], container: ContainerName | None) -> Track:
    """Follow one container; while its process runs, the pod's phase does not change that."""
    track = Track()
    failed: str | None = None
    for index, stamped in story:
        at = stamped.at
        match stamped.record:
            case records.ContainerChanged(container=name, state=state) if name == container:
                message = stamped.record.message
                if failed is not None and state in {"exited", "killed"}:
                    track.turn(State.FAILED, index, at, failed)
                else:
                    track.turn(_CHANGES[state], index, at, message or state)
            case records.PodPhaseChanged(phase="Pending") if track.state is None:
                track.turn(State.PENDING, index, at, "pending")
            case records.PodPhaseChanged(phase="Failed", reason=reason):
                failed = reason or "Failed"
                if track.state is not State.RUNNING:
                    track.turn(State.FAILED, index, at, failed)
            case records.PodDeleted():
                track.end(at)
            case _:
                pass
    return track


def _decisions(story: Iterable[Numbered]) -> Iterator[Tick]:
    for index, stamped in story:
        match stamped.record:
            case records.AdmissionDecided(admitted=admitted, waiting=waiting):
                refused = TickKind.WAITS if waiting else TickKind.FAILED
                yield Tick(TickKind.DONE if admitted else refused, stamped.at, index)
            case _:
                pass
