"""What `rebind get bindings` prints: lines for people, `DeviceBinding` objects for programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from simulator.cli.checkpoint_texts import devices_text, numa_text
from simulator.cli.object_tables import sourced
from simulator.cli.output import Column, JsonValue, OutputOptions, Table, emit
from simulator.core.devices import NO_NUMA_NODE, device_ids
from simulator.core.transitions import DeviceBinding, NodeName, PodIdentity
from simulator.ports import StoreReader
from simulator.reports.store_text import pod_text


@dataclass(frozen=True, slots=True)
class _Line:
    """One container's devices of one resource."""

    node: NodeName
    pod: PodIdentity
    binding: DeviceBinding


@dataclass(frozen=True, slots=True)
class _PodBindings:
    """All devices of one pod."""

    node: NodeName
    pod: PodIdentity
    bindings: Sequence[DeviceBinding]


def show_bindings(
    store: StoreReader,
    output: OutputOptions,
    *,
    node: str | None,
    resource: str | None,
    source: str,
) -> None:
    """Print the bindings of all nodes, or of one, of all resources, or of one.

    Args:
        store: What is asked.
        output: The form.
        node: Only this node.
        resource: Only this resource.
        source: Where the answers come from, which is said unless it is a database.
    """
    lines = [
        line
        for each in store.nodes()
        if node in {None, each.node}
        for line in _held(store, each.node)
        if resource in {None, line.binding.resource}
    ]
    if output.format in {"json", "yaml", "name"}:
        emit(sourced(_OBJECTS, source), _by_pod(lines), output)
    else:
        emit(sourced(_lines(short=output.format == "table"), source), lines, output)


def _held(store: StoreReader, node: NodeName) -> Iterator[_Line]:
    """Yield a node's bindings; the pods are read after them, so that every one has its name."""
    bindings = store.load(node).bindings
    pods = {each.pod.uid: each.pod for each in store.pods(node=node)}
    for binding in bindings:
        yield _Line(node, pods.get(binding.pod, PodIdentity(binding.pod)), binding)


def _by_pod(lines: Sequence[_Line]) -> list[_PodBindings]:
    pods: dict[tuple[NodeName, PodIdentity], list[DeviceBinding]] = {}
    for line in lines:
        pods.setdefault((line.node, line.pod), []).append(line.binding)
    return [_PodBindings(node, pod, bindings) for (node, pod), bindings in pods.items()]


def _lines(*, short: bool) -> Table[_Line]:
    return Table(
        kind="DeviceBinding",
        columns=(
            Column("NODE", lambda line: line.node),
            Column("POD", lambda line: pod_text(line.pod)),
            Column("CONTAINER", lambda line: line.binding.container),
            Column("RESOURCE", lambda line: line.binding.resource),
            Column("NUMA", lambda line: numa_text(line.binding.devices)),
            Column("DEVICES", lambda line: devices_text(line.binding.devices, short=short)),
            Column("UID", lambda line: line.pod.uid, wide=True),
        ),
        name=lambda line: line.pod.uid,
        document=lambda line: {"node": line.node},
        nothing=_NOTHING,
    )


def _document(bound: _PodBindings) -> Mapping[str, JsonValue]:
    containers: dict[str, list[JsonValue]] = {}
    for binding in bound.bindings:
        nodes = [node for node, ids in binding.devices.items() if ids and node != NO_NUMA_NODE]
        containers.setdefault(binding.container, []).append(
            {
                "resourceName": binding.resource,
                "deviceIDs": list(device_ids(binding.devices)),
                "numaNodes": sorted(nodes),
            }
        )
    return {
        "metadata": {"namespace": bound.pod.namespace, "name": bound.pod.name or bound.pod.uid},
        "spec": {
            "podUID": bound.pod.uid,
            "nodeName": bound.node,
            "containers": [
                {"name": name, "devices": devices} for name, devices in containers.items()
            ],
        },
    }


_NOTHING: Final = "no container holds devices"
_OBJECTS: Final[Table[_PodBindings]] = Table(
    kind="DeviceBinding",
    columns=(),
    name=lambda bound: f"devicebinding/{pod_text(bound.pod)}",
    document=_document,
    nothing=_NOTHING,
)
