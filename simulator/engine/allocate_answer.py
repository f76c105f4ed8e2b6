"""What a simulated plugin answers to Allocate: device nodes and an environment variable.

Deterministic: the same ids give the same bytes, before and after a restart.
"""

from __future__ import annotations

from simulator.core.allocate_response import AllocateResponse, DeviceSpec, encode
from simulator.core.calls import AllocateCall
from simulator.core.resources import ResourceName


def allocate_answer(call: AllocateCall, *, with_envs: bool) -> bytes:
    """Return a serialized ContainerAllocateResponse that grants the devices of `call`.

    Each device gets a node `/dev/ID`; `example.com/gpu` sets `EXAMPLE_COM_GPU` to the ids.
    """
    devices = sorted(call.devices)
    return encode(
        AllocateResponse(
            envs={_variable(call.resource): ",".join(devices)} if with_envs else {},
            devices=tuple(DeviceSpec(f"/dev/{each}", f"/dev/{each}", "rw") for each in devices),
        )
    )


def _variable(resource: ResourceName) -> str:
    return "".join(letter if letter.isalnum() else "_" for letter in resource).upper()
