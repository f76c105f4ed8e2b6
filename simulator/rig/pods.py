"""The pods of a rig: made from a few numbers, and what came of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from simulator.core.instants import Duration
from simulator.core.pods import Container, ContainerKind, ContainerName, Pod, PodUid
from simulator.core.resources import ResourceName
from simulator.core.transitions import NodeName
from simulator.engine.api_objects import ApiPod
from simulator.engine.spec import PodSpec
from simulator.live.world import LiveWorld
from simulator.rig.outcomes import PodRefusedError, StartedContainer

__tracebackhide__ = True  # pytest shows the line of the test instead of what is below it

_MAIN: Final = ContainerName("main")
_INIT: Final = ContainerName("init")


def spec_of(name: str, wanted: Mapping[str, int], init: int) -> PodSpec:
    """Return a pod whose one container wants devices.

    Args:
        name: Of the pod.
        wanted: Devices by resource.
        init: Devices of the first resource that an init container wants; without any it has none.
    """
    limits = tuple((ResourceName(each), number) for each, number in wanted.items())
    first = tuple((each, init) for each, _ in limits[:1])
    pod = Pod(
        PodUid(""),
        name,
        init_containers=(Container(_INIT, first, ContainerKind.INIT),) if init else (),
        containers=(Container(_MAIN, limits),),
    )
    return PodSpec(name, pod, termination_grace=Duration(0))


def phase_of(world: LiveWorld, name: str) -> str:
    """Return the phase of a pod; `Deleted` if there is none."""
    observed = world.pod(name)
    return "Deleted" if observed is None else observed.phase


def started(world: LiveWorld, node: NodeName, made: ApiPod) -> StartedContainer:
    """Return what the container of a pod was started with.

    Raises:
        PodRefusedError: It was not.
    """
    name, status = made.pod.name, made.status
    if status.waiting:
        raise PodRefusedError(name, "CreateContainerConfigError", status.waiting)
    if status.phase != "Running":
        raise PodRefusedError(name, status.reason or status.phase, status.message)
    process = world.nodes[node].runtime.current(made.uid, _MAIN)
    if process is None or process.given is None or process.given.options is None:
        return StartedContainer(name, made.uid, _MAIN)
    options = process.given.options
    return StartedContainer(
        pod=name,
        uid=made.uid,
        container=_MAIN,
        devices=dict(process.devices),
        envs=options.envs,
        mounts=options.mounts,
        device_nodes=options.devices,
        annotations=options.annotations,
        cdi_devices=options.cdi_devices,
    )
