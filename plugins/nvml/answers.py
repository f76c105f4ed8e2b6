"""What a container gets for the devices that the kubelet has chosen for it (S1.4, S10).

Several strategies may be asked for at once; each says how a container comes to its GPUs:

| strategy          | the answer has                                                             |
|---|---|
| `envvar`          | NVIDIA_VISIBLE_DEVICES with the UUIDs, which NVIDIA's runtime hook reads   |
| `device-specs`    | the device nodes: /dev/nvidiaN, the nodes of MIG, nvidiactl, nvidia-uvm …  |
| `cdi-annotations` | an annotation `cdi.k8s.io/…` with CDI names, for runtimes without the field |
| `cdi-cri`         | CDI names in the field for them (kubelets from 1.28 on)                    |

A GPU of which a container has several shares is named once (R67).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from plugins.nvml.gpus import Inventory
from plugins.nvml.resources import Unit
from simulator.core.allocate_response import AllocateResponse, DeviceSpec
from simulator.core.devices import DeviceId
from simulator.core.resources import ResourceName
from simulator.errors import PluginCallError

VISIBLE_DEVICES: Final = "NVIDIA_VISIBLE_DEVICES"
CDI_KIND: Final = "nvidia.com/gpu"
"""The kind in the CDI specification that `nvidia-ctk cdi generate` writes."""
ANNOTATION_PREFIX: Final = "cdi.k8s.io/rebind-nvml_"
PERMISSIONS: Final = "rw"


class Strategy(Enum):
    """One way in which a container comes to its GPUs; the table above says them all."""

    ENVVAR = "envvar"
    DEVICE_SPECS = "device-specs"
    CDI_ANNOTATIONS = "cdi-annotations"
    CDI_CRI = "cdi-cri"


@dataclass(frozen=True, slots=True)
class AnswerOptions:
    """How containers come to their GPUs.

    Attributes:
        strategies: What an answer has.
        cdi_kind: The kind of the CDI names, `vendor/class`.
        one_share_each: Whether a container may have only one share of a time-sliced resource: more
            of them promise no more of the GPU.
    """

    strategies: tuple[Strategy, ...] = (Strategy.ENVVAR, Strategy.DEVICE_SPECS)
    cdi_kind: str = CDI_KIND
    one_share_each: bool = False


class Answers:
    """Answers Allocate for one resource.

    Args:
        units: All there are of the resource, in the machine's order.
        inventory: Has the device nodes that every container needs.
    """

    def __init__(
        self,
        resource: ResourceName,
        units: Sequence[Unit],
        inventory: Inventory,
        options: AnswerOptions,
    ) -> None:
        self._resource = resource
        self._units = tuple(units)
        self._unit_of = {id_: unit for unit in units for id_ in unit.ids}
        self._control_nodes = inventory.control_nodes
        self._options = options

    def allocate(self, ids: Iterable[DeviceId]) -> AllocateResponse:
        """Return what a container gets with these devices.

        Raises:
            PluginCallError: A device is not one of this resource, or these are too many shares.
        """
        asked = tuple(ids)
        unknown = [id_ for id_ in asked if id_ not in self._unit_of]
        if unknown:
            message = (
                f"asked for {unknown[0]} of {self._resource}, which is no device of it; "
                f"it has {len(self._unit_of)}"
            )
            raise PluginCallError(message)
        wanted = {self._unit_of[id_].uuid for id_ in asked}
        units = [unit for unit in self._units if unit.uuid in wanted]
        self._check_shares(asked)
        strategies = self._options.strategies
        names = tuple(f"{self._options.cdi_kind}={unit.uuid}" for unit in units)
        key = f"{ANNOTATION_PREFIX}{self._resource.rpartition('/')[2]}"
        return AllocateResponse(
            envs={VISIBLE_DEVICES: ",".join(unit.uuid for unit in units)}
            if Strategy.ENVVAR in strategies
            else {},
            devices=self._nodes(units) if Strategy.DEVICE_SPECS in strategies else (),
            annotations={key: ",".join(names)} if Strategy.CDI_ANNOTATIONS in strategies else {},
            cdi_devices=names if Strategy.CDI_CRI in strategies else (),
        )

    def _check_shares(self, asked: tuple[DeviceId, ...]) -> None:
        shares = [id_ for id_ in asked if len(self._unit_of[id_].ids) > 1]
        if self._options.one_share_each and len(shares) > 1:
            message = (
                f"asked for {len(asked)} of {self._resource}, which are shares of GPUs; "
                "a container may have one, since more promise no more of a GPU"
            )
            raise PluginCallError(message)

    def _nodes(self, units: Sequence[Unit]) -> tuple[DeviceSpec, ...]:
        """Return the device nodes of some units, each once, those of the GPUs first."""
        paths = [f"/dev/nvidia{u.gpu.minor}" for u in units if u.gpu.minor is not None]
        paths += [path for u in units if u.mig is not None for path in u.mig.capabilities]
        paths += self._control_nodes
        return tuple(
            DeviceSpec(container_path=path, host_path=path, permissions=PERMISSIONS)
            for path in dict.fromkeys(paths)
        )
