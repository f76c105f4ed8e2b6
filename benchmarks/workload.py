"""What the measured nodes hold: pods of one container with one device each.

The shape is that of the measurement of the real code that stands beside ours as context: ids as
long as UUIDs, one environment variable and one device node in each response.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from simulator.core.allocate_response import AllocateResponse, DeviceSpec, encode
from simulator.core.devices import Device, DeviceId, NumaNode
from simulator.core.pods import Container, ContainerName, Pod, PodUid
from simulator.core.resources import ResourceName
from simulator.core.transitions import DeviceBinding

RESOURCE: Final = ResourceName("example.com/gpu")
CONTAINER: Final = ContainerName("main")
NUMA_NODES: Final = 2


def device_of(number: int) -> Device:
    """Return the device of this number; devices are spread over two NUMA nodes."""
    identifier = DeviceId(f"GPU-6f1c2d3e-0000-4000-8000-{number:012x}")
    return Device(identifier, topology=(NumaNode(number % NUMA_NODES),))


def pod(number: int) -> Pod:
    """Return the pod of this number: one container that asks for one device."""
    uid = PodUid(f"0b5e7a10-0000-4000-8000-{number:012x}")
    container = Container(CONTAINER, ((RESOURCE, 1),))
    return Pod(uid, f"trainer-{number}", containers=(container,))


@lru_cache(maxsize=1_024)
def allocate_response(devices: tuple[DeviceId, ...]) -> bytes:
    """Return what the plugin answers: one environment variable, a device node for each id.

    The answer to the same question is kept: its encoding is the plugin's work, not the kubelet's.
    """
    nodes = tuple(DeviceSpec(f"/dev/{each}", f"/dev/{each}", "rw") for each in devices)
    return encode(AllocateResponse(envs={"VISIBLE_DEVICES": ",".join(devices)}, devices=nodes))


def binding(number: int, *, device: int | None = None) -> DeviceBinding:
    """Return the binding that gives a device, the one of its own number, to pod `number`."""
    given = device_of(number if device is None else device)
    return DeviceBinding(
        pod(number).uid,
        CONTAINER,
        RESOURCE,
        {given.numa_nodes[0]: (given.id,)},
        allocate_response((given.id,)),
    )
