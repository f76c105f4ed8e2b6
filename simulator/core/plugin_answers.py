"""What Rebind's own plugins answer: a function of the call alone.

The simulated plugin and the one on a real socket answer from here, so that one scenario gives the
same bytes in both. The same ids give the same bytes, before and after a restart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from simulator.core.allocate_response import AllocateResponse, DeviceSpec, Mount
from simulator.core.devices import DeviceId
from simulator.core.resources import ResourceName


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerParts:
    """What an answer to Allocate consists of.

    Attributes:
        envs: `example.com/gpu` sets `EXAMPLE_COM_GPU` to the ids.
        device_nodes: A node `/dev/ID` for each device.
        mounts: A folder `/var/lib/NAME/ID` for each device, read-only; NAME is `gpu` here.
        annotations: `example.com/gpu-devices` is set to the ids.
        cdi_devices: The CDI name `example.com/gpu=ID` for each device.
    """

    envs: bool = True
    device_nodes: bool = True
    mounts: bool = False
    annotations: bool = False
    cdi_devices: bool = False


def granted(
    resource: ResourceName, devices: Sequence[DeviceId], parts: AnswerParts
) -> AllocateResponse:
    """Return the answer that grants `devices` to a container; their order does not show."""
    ids = sorted(devices)
    joined = ",".join(ids)
    kind = resource.rpartition("/")[2]
    return AllocateResponse(
        envs={_variable(resource): joined} if parts.envs else {},
        devices=tuple(DeviceSpec(f"/dev/{each}", f"/dev/{each}", "rw") for each in ids)
        if parts.device_nodes
        else (),
        mounts=tuple(
            Mount(f"/var/lib/{kind}/{each}", f"/var/lib/{kind}/{each}", read_only=True)
            for each in ids
        )
        if parts.mounts
        else (),
        annotations={f"{resource}-devices": joined} if parts.annotations else {},
        cdi_devices=tuple(f"{resource}={each}" for each in ids) if parts.cdi_devices else (),
    )


def first_offered(
    available: Sequence[DeviceId], must_include: Sequence[DeviceId], size: int
) -> tuple[DeviceId, ...]:
    """Return `size` of the devices on offer: those that are chosen already, then the first ones."""
    return tuple(dict.fromkeys((*must_include, *available)))[: max(size, 0)]


def _variable(resource: ResourceName) -> str:
    return "".join(letter if letter.isalnum() else "_" for letter in resource).upper()
