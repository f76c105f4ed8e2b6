"""Does a recorded run again, in virtual time: the same world, fed with what had reached it.

Plugins, disk and database answer what they answered, when they answered it; everything else is
decided anew. So a recording of a bug replays under a debugger, and under another program if that
decides otherwise, the records differ.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial

from simulator.config import CHECKPOINT_FILE_NAME
from simulator.core.instants import Duration, Instant, parse_duration
from simulator.core.pods import PodUid
from simulator.core.records import Stamped
from simulator.core.transitions import NodeName
from simulator.engine.actions import RebootNode, RestartKubelet, UpgradeKubelet
from simulator.engine.faults import EffectLog
from simulator.engine.timeline import Timeline
from simulator.engine.world import Watching, World
from simulator.errors import ConfigError
from simulator.server.kept import pod_of
from simulator.server.pods import Pods
from simulator.server.recordings.inputs import (
    STOPPED,
    Input,
    KubeletRestartWanted,
    PodUnwanted,
    PodWanted,
    RebootWanted,
    ServerStopped,
    read_input,
)
from simulator.server.recordings.recording import Beginning, read_header
from simulator.server.recordings.replayed_parts import ReplayedParts


@dataclass(frozen=True, slots=True)
class Recording:
    """A recording that was read.

    Attributes:
        beginning: How the run began.
        inputs: What reached it, in order.
        uids: By name, the uids of its pods in order of creation.
        end: The instant of its last line.
    """

    beginning: Beginning
    inputs: tuple[tuple[Instant, NodeName, Input], ...]
    uids: Mapping[str, tuple[PodUid, ...]]
    end: Instant


def read_recording(lines: Iterable[bytes], path: str) -> Recording:
    """Read a recording.

    A last line that was cut off when the server was killed is left out.

    Raises:
        ConfigError: It is none.
    """
    numbered = enumerate(lines, 1)
    beginning = read_header(_line(next(numbered, (1, b""))[1], path, 1), path)
    inputs: list[tuple[Instant, NodeName, Input]] = []
    uids: dict[str, dict[PodUid, None]] = {}
    end = beginning.started
    for number, text in numbered:
        if not text.endswith(b"\n"):
            break
        line = _line(text, path, number)
        try:
            end = Instant(beginning.started + parse_duration(str(line["t"])))
            found = read_input(line)
        except (ValueError, KeyError) as cause:
            reason = f"{path}:{number}: this line is no record and no input of a run: {cause}"
            raise ConfigError(" ".join(reason.split())) from cause
        if found is not None:
            inputs.append((end, NodeName(str(line["node"])), found))
        elif line["type"] == "PodPhaseChanged":
            uids.setdefault(str(line["name"]), {})[PodUid(str(line["pod"]))] = None
    kept = beginning.kept.pods
    by_name = {name: tuple(uid for uid in found if uid not in kept) for name, found in uids.items()}
    return Recording(beginning, tuple(inputs), by_name, end)


def play(recording: Recording, told: Callable[[Stamped], None]) -> World:
    """Do a run again, to the instant of the last line of its recording.

    Args:
        recording: The run.
        told: Told of each record.

    Raises:
        ConfigError: The recording does not fit together.
    """
    beginning = recording.beginning
    kept = beginning.kept
    run = kept.begin(beginning.run)
    timeline = Timeline()
    timeline.advance_to(beginning.started)
    parts = ReplayedParts(run, timeline, beginning.states)
    watching = Watching(invariants=False, records_max=1)
    world = World(run, timeline=timeline, adapters=parts, effects=EffectLog(), watching=watching)
    for name, content in beginning.files.items():
        world.nodes[name].storage.disk.put(CHECKPOINT_FILE_NAME, content)
    pods = Pods(world)
    world.factory.new_uid = _Uids(recording.uids).next
    world.watch_records(told)
    world.start(warm=False)
    pods.restore(kept)
    world.settle()
    for at, node, found in recording.inputs:
        timeline.call_at(at, partial(_feed, world, pods, parts, (node, found)))
    while (due := timeline.next_at()) is not None and due <= recording.end:
        timeline.step()
        world.settle()
    return world


class _Uids:
    """The uids that pods of the recorded run had."""

    def __init__(self, uids: Mapping[str, tuple[PodUid, ...]]) -> None:
        self._left = {name: deque(found) for name, found in uids.items()}

    def next(self, name: str) -> PodUid:
        """Return the uid of a new pod of a name.

        Raises:
            ConfigError: The recorded run had no such pod.
        """
        left = self._left.get(name)
        if not left:
            message = f'the replay makes a pod "{name}" that the recorded run has not made'
            raise ConfigError(message)
        return left.popleft()


def _feed(world: World, pods: Pods, parts: ReplayedParts, content: tuple[NodeName, Input]) -> None:
    """Let an input reach the world."""
    node, found = content
    match found:
        case PodWanted():
            pods.make(pod_of(found.pod), found.name)
        case PodUnwanted(uid, force, grace_ns, replaced):
            pods.unmake(PodUid(uid), force=force, grace=Duration(grace_ns), replaced=replaced)
        case KubeletRestartWanted(step, down_ns, version):
            down = Duration(down_ns)
            action = UpgradeKubelet(node, version, down) if version else RestartKubelet(node, down)
            world.perform(action, step)
        case RebootWanted(step, down_ns):
            world.perform(RebootNode(node, Duration(down_ns)), step)
        case ServerStopped():
            world.nodes[node].stop_kubelet(STOPPED)
        case _:
            parts.feed(node, found)


def _line(text: bytes, path: str, number: int) -> dict[str, object]:
    try:
        line = json.loads(text)
    except ValueError as cause:
        reason = f"{path}:{number}: this is no line of JSON: {cause}"
        raise ConfigError(reason) from cause
    if not isinstance(line, dict):
        reason = f"{path}:{number}: this is no line of a Trace"
        raise ConfigError(reason)
    return line
