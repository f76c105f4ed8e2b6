"""The values of recorded steps, turned into the device manager's (golden/1.36.2/traces/README)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from simulator.core.allocate_response import AllocateResponse, DeviceSpec, Mount, encode
from simulator.core.calls import (
    AllocateCall,
    AllocateReply,
    CallFailed,
    PluginCall,
    PluginReply,
    PreferredAllocationCall,
    PreferredAllocationReply,
    PreStartContainerReply,
)
from simulator.core.devices import Device, DeviceId, NumaNode
from simulator.core.facts import ContainerInstance
from simulator.core.machine import Machine, TopologyOptions, TopologyPolicy, TopologyScope
from simulator.core.pods import Container, ContainerKind, ContainerName, Pod, PodUid
from simulator.core.resources import ResourceName

Json = Mapping[str, Any]
"""An object as it stands in a recording."""

ANSWER_KEYS: Final = ("error", "response", "no_container_responses", "returned")
"""Keys of a recorded plugin call that are its answer, and so an input of the replay."""


def read_steps(path: Path) -> tuple[Json, list[Json]]:
    """Return a trace's header and its steps."""
    with path.open(encoding="utf-8") as lines:
        header, *steps = [json.loads(line) for line in lines if line.strip()]
    return header, steps


def machine_of(header: Json) -> Machine:
    return Machine(tuple(NumaNode(node) for node in header["numa_node_ids"]))


def topology_of(header: Json) -> TopologyOptions:
    return TopologyOptions(
        policy=TopologyPolicy(header["topology_policy"]),
        scope=TopologyScope(header["topology_scope"]),
    )


def pod_of(recorded: Json) -> Pod:
    return Pod(
        uid=PodUid(recorded["uid"]),
        name=recorded["name"],
        namespace=recorded["namespace"],
        init_containers=tuple(
            _container(
                each,
                ContainerKind.SIDECAR if each.get("restart_policy_always") else ContainerKind.INIT,
            )
            for each in recorded["init_containers"] or ()
        ),
        containers=tuple(
            _container(each, ContainerKind.REGULAR) for each in recorded["containers"] or ()
        ),
    )


def _container(recorded: Json, kind: ContainerKind) -> Container:
    limits = tuple(
        (ResourceName(resource), quantity) for resource, quantity in recorded["limits"].items()
    )
    return Container(ContainerName(recorded["name"]), limits, kind)


def devices_of(recorded: Sequence[Json] | None) -> list[Device]:
    return [
        Device(
            DeviceId(each["id"]),
            each["health"],
            None
            if each["numa_nodes"] is None
            else tuple(NumaNode(node) for node in each["numa_nodes"]),
        )
        for each in recorded or ()
    ]


def instances_of(recorded: Sequence[Json] | None) -> tuple[ContainerInstance, ...]:
    return tuple(
        ContainerInstance(
            PodUid(each["pod"]),
            ContainerName(each["container"]),
            each["container_id"],
            each["running"],
        )
        for each in recorded or ()
    )


def reply_of(recorded: Json, call: PluginCall) -> PluginReply:
    """Return the recorded answer to a call."""
    if recorded.get("error"):
        return CallFailed(recorded["error"])
    if isinstance(call, AllocateCall):
        if recorded.get("no_container_responses"):
            return AllocateReply(None)
        return AllocateReply(encode(_response_of(recorded.get("response", {}))))
    if isinstance(call, PreferredAllocationCall):
        returned = recorded.get("returned") or ()
        return PreferredAllocationReply(tuple(DeviceId(device) for device in returned))
    return PreStartContainerReply()


def _response_of(recorded: Json) -> AllocateResponse:
    return AllocateResponse(
        envs=recorded.get("envs") or {},
        mounts=tuple(
            Mount(each["container_path"], each["host_path"], bool(each.get("read_only")))
            for each in recorded.get("mounts") or ()
        ),
        devices=tuple(
            DeviceSpec(each["container_path"], each["host_path"], each["permissions"])
            for each in recorded.get("devices") or ()
        ),
        annotations=recorded.get("annotations") or {},
        cdi_devices=tuple(
            each["name"] if isinstance(each, dict) else each
            for each in recorded.get("cdi_devices") or ()
        ),
    )


def call_as_recorded(call: PluginCall) -> Iterator[tuple[str, object]]:
    """Yield what a recording says of a call, the answer left out; empty lists are not recorded."""
    yield "resource", call.resource
    if isinstance(call, PreferredAllocationCall):
        yield "rpc", "GetPreferredAllocation"
        yield "available", list(call.available)
        yield "size", call.size
        yield "must_include", list(call.must_include)
    else:
        yield "rpc", "Allocate" if isinstance(call, AllocateCall) else "PreStartContainer"
        yield "devices", list(call.devices)
