"""A small world for tests of stores: one node, one resource, pods by letter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from simulator.core.devices import Device, DeviceId, NumaNode
from simulator.core.instants import Instant
from simulator.core.pods import ContainerName, PodUid
from simulator.core.resources import ResourceName
from simulator.core.transitions import (
    CheckpointImported,
    DeviceBinding,
    DevicesReported,
    NodeBooted,
    NodeName,
    OnConflict,
    PodAdmitted,
    PodIdentity,
    PodRejected,
    PodsReleased,
    ResourceRemoved,
)

NODE: Final = NodeName("n0")
GPU: Final = ResourceName("example.com/gpu")
MAIN: Final = ContainerName("main")
RESPONSE: Final = b"\x0a\x05\x0a\x01A\x12\x00"


def binding(
    pod: str,
    devices: Mapping[int, tuple[str, ...]],
    *,
    container: str = "main",
    response: bytes | None = RESPONSE,
) -> DeviceBinding:
    return DeviceBinding(
        pod=PodUid(f"uid-{pod}"),
        container=ContainerName(container),
        resource=GPU,
        devices={
            NumaNode(node): tuple(DeviceId(id_) for id_ in ids) for node, ids in devices.items()
        },
        response=response,
    )


def identity(pod: str) -> PodIdentity:
    return PodIdentity(PodUid(f"uid-{pod}"), "default", pod)


def admitted(pod: str, *bindings: DeviceBinding, at: int = 5, node: NodeName = NODE) -> PodAdmitted:
    return PodAdmitted(node, Instant(at), identity(pod), bindings)


def admits_one(pod: str, device: str, *, at: int = 5, node: NodeName = NODE) -> PodAdmitted:
    return admitted(pod, binding(pod, {0: (device,)}), at=at, node=node)


def released(*pods: str, at: int = 9, node: NodeName = NODE) -> PodsReleased:
    return PodsReleased(node, Instant(at), tuple(PodUid(f"uid-{pod}") for pod in pods))


def rejected(pod: str, *, message: str = "no healthy devices present") -> PodRejected:
    return PodRejected(NODE, Instant(7), identity(pod), "UnexpectedAdmissionError", message)


def reported(*devices: Device, node: NodeName = NODE) -> DevicesReported:
    return DevicesReported(node, Instant(2), GPU, devices)


def device(name: str, health: str = "Healthy", topology: tuple[int, ...] | None = None) -> Device:
    nodes = None if topology is None else tuple(map(NumaNode, topology))
    return Device(DeviceId(name), health, nodes)


def booted(boot_id: str) -> NodeBooted:
    return NodeBooted(NODE, Instant(1), boot_id)


def removed() -> ResourceRemoved:
    return ResourceRemoved(NODE, Instant(8), GPU)


def imported(
    *bindings: DeviceBinding,
    content: bytes = b"file",
    keep: bool = False,
    replace: bool = False,
    listed: tuple[str, ...] = ("g0", "g1"),
) -> CheckpointImported:
    return CheckpointImported(
        node=NODE,
        at=Instant(3),
        content=content,
        bindings=bindings,
        registered=((GPU, tuple(map(DeviceId, listed))),),
        on_conflict=OnConflict.KEEP if keep else OnConflict.REFUSE,
        replace=replace,
    )
