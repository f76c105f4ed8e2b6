"""Recordings of live runs: a `Trace` with all that is needed to do the run again.

A recording begins with a header, as every Trace does, which also says how the run began; then comes
a line for each record and for each input, as it happens.
"""

from __future__ import annotations

import base64
import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

import simulator
from simulator.api.dialect.documents import micro_timestamp
from simulator.config import API_VERSION, CHECKPOINT_FILE_NAME
from simulator.core.behavior import Readmission
from simulator.core.devices import DeviceId, NumaNode
from simulator.core.instants import Duration, Instant, format_duration
from simulator.core.migration.phases import Phase
from simulator.core.persistence.choosing import OptionValue
from simulator.core.pods import ContainerName, PodUid
from simulator.core.records import Record
from simulator.core.resources import ResourceName
from simulator.core.transitions import DeviceBinding, NodeName, NodeState
from simulator.engine.spec import NodeSpec, SimulationSpec
from simulator.engine.world import World
from simulator.errors import ConfigError
from simulator.ports import Durability
from simulator.reports.documents import Json
from simulator.reports.trace import record_fields
from simulator.server.kept import Kept, kept_lines, kept_of

KIND: Final = "Trace"
NAME: Final = "recording"

_LOG: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Beginning:
    """How a recorded run began.

    Attributes:
        started: The instant from which times count.
        run: The choices of all nodes.
        kept: The pods of an earlier server.
        states: What the database had of each node.
        files: The checkpoint files of nodes that had one.
    """

    started: Instant
    run: SimulationSpec
    kept: Kept
    states: Mapping[NodeName, NodeState]
    files: Mapping[NodeName, bytes]


def beginning_of(world: World, run: SimulationSpec, kept: Kept) -> Beginning:
    """Look at a world that has not begun yet.

    Raises:
        RebindError: What a node keeps cannot be read.
    """
    states, files = {}, {}
    for name, node in world.nodes.items():
        database = node.storage.database
        if database is not None:
            states[name] = database.store.load(name)
        content = node.storage.disk.read(CHECKPOINT_FILE_NAME)
        if content is not None:
            files[name] = content
    return Beginning(world.now, run, kept, states, files)


class Recorder:
    """Writes a recording; it ends where the file cannot be written any more, and the run goes on.

    Args:
        path: A file that does not exist yet.

    Raises:
        OSError: It exists, or cannot be made.
    """

    def __init__(self, path: Path) -> None:
        try:
            self._file: BinaryIO = path.open("xb", buffering=0)
        except FileExistsError as error:
            reason = "there is such a file already; name a new one for the recording"
            raise FileExistsError(error.errno, reason, str(path)) from error
        self._path = path
        self._ended = False
        self._started = Instant(0)

    def begin(self, beginning: Beginning) -> None:
        """Write the header.

        Raises:
            OSError: It cannot be written.
        """
        self._started = beginning.started
        self._append(_text(header(beginning)))

    def line(self, at: Instant, node: NodeName, content: Record) -> bytes:
        """Write a record or an input, and return its line."""
        text = _text(line_of(at, self._started, node, content))
        if not self._ended:
            try:
                self._append(text)
            except OSError as error:
                self._ended = True
                _LOG.error(
                    "%s cannot be written: %s; the recording ends here, the nodes go on",
                    self._path,
                    error.strerror,
                )
        return text

    def close(self) -> None:
        """Write no more."""
        self._file.close()

    def _append(self, text: bytes) -> None:
        rest = memoryview(text + b"\n")
        while rest:
            rest = rest[self._file.write(rest) :]


def _text(line: Mapping[str, Json]) -> bytes:
    return json.dumps(line, ensure_ascii=False).encode("utf-8", "surrogatepass")


def line_of(at: Instant, started: Instant, node: NodeName, content: Record) -> dict[str, Json]:
    """Return the line of a record or an input."""
    return {
        "t": format_duration(at - started),
        "node": node,
        "type": type(content).__name__,
        **record_fields(content),
    }


def header(beginning: Beginning) -> dict[str, Json]:
    """Return the first line of a recording."""
    run = beginning.run
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {"name": NAME},
        "spec": {
            "kubeletVersion": run.kubelet_version,
            "persistence": run.persistence,
            "readmission": run.readmission.value,
            "seed": run.seed,
            "nodes": [node.name for node in run.nodes],
            "started": micro_timestamp(beginning.started),
            "recording": {
                "rebindVersion": simulator.__version__,
                "startedNs": str(beginning.started),
                "persistenceOptions": dict(run.persistence_options),
                "durability": run.durability.value,
                "choice": run.choice,
                "nodes": [_node(node) for node in run.nodes],
                "objects": kept_lines(beginning.kept),
                "states": {name: _state(state) for name, state in beginning.states.items()},
                "files": {
                    name: base64.b64encode(content).decode()
                    for name, content in beginning.files.items()
                },
            },
        },
    }


def _node(node: NodeSpec) -> dict[str, Json]:
    return {
        "name": node.name,
        "numaNodes": node.numa_nodes,
        "topologyManagerPolicy": node.topology_manager_policy,
        "topologyManagerScope": node.topology_manager_scope,
    }


def read_header(line: Mapping[str, object], path: str) -> Beginning:
    """Return how the run of a recording began.

    Raises:
        ConfigError: It is no recording, or a Trace that was made in virtual time.
    """
    try:
        return _beginning(_mapping(line["spec"]))
    except (KeyError, TypeError, ValueError, AttributeError) as cause:
        reason = (
            f"{path}:1: this is no recording of `rebind serve --record`, whose header says how the "
            "run began; a trace made by `rebind replay` cannot be replayed"
        )
        raise ConfigError(reason) from cause


def _beginning(spec: Mapping[str, object]) -> Beginning:
    recording = _mapping(spec["recording"])
    options = _mapping(recording["persistenceOptions"])
    run = SimulationSpec(
        nodes=tuple(_node_spec(_mapping(node)) for node in _list(recording["nodes"])),
        kubelet_version=str(spec["kubeletVersion"]),
        persistence=str(spec["persistence"]),
        persistence_options=tuple(
            sorted((name, _option(value)) for name, value in options.items())
        ),
        readmission=Readmission(spec["readmission"]),
        durability=Durability(recording["durability"]),
        choice=str(recording["choice"]),
        seed=int(str(spec["seed"])),
    )
    return Beginning(
        started=Instant(int(str(recording["startedNs"]))),
        run=run,
        kept=kept_of(_mapping(line) for line in _list(recording["objects"])),
        states={
            NodeName(name): _read_state(NodeName(name), _mapping(state))
            for name, state in _mapping(recording["states"]).items()
        },
        files={
            NodeName(name): base64.b64decode(str(content))
            for name, content in _mapping(recording["files"]).items()
        },
    )


def _option(value: object) -> OptionValue:
    return value if isinstance(value, bool) else Duration(int(str(value)))


def _node_spec(node: Mapping[str, object]) -> NodeSpec:
    return NodeSpec(
        NodeName(str(node["name"])),
        numa_nodes=int(str(node["numaNodes"])),
        topology_manager_policy=str(node["topologyManagerPolicy"]),
        topology_manager_scope=str(node["topologyManagerScope"]),
    )


def _state(state: NodeState) -> dict[str, Json]:
    return {
        "bindings": [
            {
                "pod": binding.pod,
                "container": binding.container,
                "resource": binding.resource,
                "devices": {str(numa): list(ids) for numa, ids in binding.devices.items()},
                "response": (
                    None
                    if binding.response is None
                    else base64.b64encode(binding.response).decode()
                ),
            }
            for binding in state.bindings
        ],
        "registered": list(state.registered),
        "phase": None if state.phase is None else state.phase.value,
    }


def _read_state(node: NodeName, state: Mapping[str, object]) -> NodeState:
    phase = state["phase"]
    return NodeState(
        node=node,
        revision=0,
        bindings=tuple(_read_binding(_mapping(each)) for each in _list(state["bindings"])),
        registered=tuple(ResourceName(str(each)) for each in _list(state["registered"])),
        phase=None if phase is None else Phase(phase),
    )


def _read_binding(binding: Mapping[str, object]) -> DeviceBinding:
    response = binding["response"]
    return DeviceBinding(
        pod=PodUid(str(binding["pod"])),
        container=ContainerName(str(binding["container"])),
        resource=ResourceName(str(binding["resource"])),
        devices={
            NumaNode(int(numa)): tuple(DeviceId(str(each)) for each in _list(ids))
            for numa, ids in _mapping(binding["devices"]).items()
        },
        response=None if response is None else base64.b64decode(str(response)),
    )


def _list(value: object) -> list[object]:
    if not isinstance(value, list):
        message = "no list"
        raise TypeError(message)
    return value


def _mapping(value: object) -> Mapping[str, object]:
    if not isinstance(value, dict):
        message = "no map"
        raise TypeError(message)
    return value
