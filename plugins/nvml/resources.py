"""Which resources a machine's GPUs make, and under which device ids.

The names and the strategies are those of the NVIDIA device plugin:

| `migStrategy` | `nvidia.com/gpu`                            | `nvidia.com/mig-<profile>` |
|---|---|---|
| `none`        | every GPU, whatever its MIG mode            | -                          |
| `single`      | the MIG devices, all of one profile;        | -                          |
|               | without MIG, every GPU                      |                            |
| `mixed`       | every GPU without MIG                       | the MIG devices, by profile |

With time slicing each device stands in the list several times, as `GPU-…::0`, `GPU-…::1` …, and the
resource may be called `….shared` so that nobody takes a share for a whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Final

from plugins.nvml.gpus import Gpu, Inventory, MigDevice
from plugins.nvml.profiles import resource_of_profile
from simulator.core.devices import DeviceId, NumaNode
from simulator.core.resources import ResourceName, is_extended_resource_name
from simulator.errors import ConfigError

DOMAIN: Final = "nvidia.com"
GPU_NAME: Final = "gpu"
SHARED_SUFFIX: Final = ".shared"
REPLICAS_MAX: Final = 10_000


class MigStrategy(Enum):
    """What becomes of GPUs in MIG mode; the table above says it."""

    NONE = "none"
    SINGLE = "single"
    MIXED = "mixed"


@dataclass(frozen=True, slots=True)
class Naming:
    """How the devices of a machine are offered.

    Attributes:
        replicas: How often each device is offered; 1 is no time slicing.
        rename_shared: Whether the resource of replicas ends in `.shared`.
        domain: What stands before the `/` of the resource names.
        only: Full names of the resources that are offered; empty for all there are.
    """

    mig_strategy: MigStrategy = MigStrategy.NONE
    replicas: int = 1
    rename_shared: bool = False
    domain: str = DOMAIN
    only: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Unit:
    """What a container can be given: a whole GPU or one of its MIG devices.

    Attributes:
        mig: None for the whole GPU.
        ids: The ids under which it is offered: its UUID, or its replicas in order.
    """

    gpu: Gpu
    mig: MigDevice | None
    ids: tuple[DeviceId, ...]

    @property
    def uuid(self) -> str:
        """The UUID that the driver knows it by."""
        return self.gpu.uuid if self.mig is None else self.mig.uuid

    @property
    def topology(self) -> tuple[NumaNode, ...] | None:
        """The NUMA node of its GPU; None where that is unknown (S1.4)."""
        return None if self.gpu.numa_node is None else (self.gpu.numa_node,)


@dataclass(frozen=True, slots=True)
class Offer:
    """One resource and what it consists of, in the machine's order."""

    resource: ResourceName
    units: tuple[Unit, ...]


def offers_of(inventory: Inventory, naming: Naming) -> tuple[Offer, ...]:
    """Return the resources that a machine's GPUs make, sorted by name.

    Raises:
        ConfigError: The options do not fit each other, or `single` does not fit this machine.
    """
    _check(naming)
    by_name: dict[str, list[Unit]] = {}
    for name, gpu, mig in _named(inventory.gpus, naming.mig_strategy):
        unit = Unit(gpu, mig, ids_of(gpu.uuid if mig is None else mig.uuid, naming.replicas))
        by_name.setdefault(name, []).append(unit)
    suffix = SHARED_SUFFIX if naming.rename_shared else ""
    offers = tuple(
        Offer(_resource(f"{naming.domain}/{name}{suffix}"), tuple(units))
        for name, units in sorted(by_name.items())
    )
    return _chosen(offers, naming.only) if naming.only and offers else offers


def ids_of(uuid: str, replicas: int) -> tuple[DeviceId, ...]:
    """Return the device ids of one GPU or MIG device."""
    if replicas == 1:
        return (DeviceId(uuid),)
    return tuple(DeviceId(f"{uuid}::{replica}") for replica in range(replicas))


def _chosen(offers: tuple[Offer, ...], only: tuple[str, ...]) -> tuple[Offer, ...]:
    """Return the offers that are wanted; one that is not there is the user's mistake."""
    names = [offer.resource for offer in offers]
    missing = [name for name in only if name not in names]
    if missing:
        message = f"asked for {missing[0]}, but this machine's GPUs make {', '.join(names)}"
        raise ConfigError(message)
    return tuple(offer for offer in offers if offer.resource in only)


def _named(
    gpus: tuple[Gpu, ...], strategy: MigStrategy
) -> Iterator[tuple[str, Gpu, MigDevice | None]]:
    """Iterate over what is offered, with the last part of its resource's name."""
    if strategy is MigStrategy.SINGLE:
        _check_single(gpus)
    for gpu in gpus:
        if strategy is MigStrategy.NONE or not gpu.mig_enabled:
            yield GPU_NAME, gpu, None
            continue
        for mig in gpu.mig_devices:
            name = GPU_NAME if strategy is MigStrategy.SINGLE else resource_of_profile(mig.profile)
            yield name, gpu, mig


def _check_single(gpus: tuple[Gpu, ...]) -> None:
    """Refuse a machine where `nvidia.com/gpu` would mean different things.

    A lost GPU does not say whether it has MIG, and stands in nobody's way.
    """
    asked = "MIG strategy `single` offers every device as one resource, but on this machine"
    told = [gpu for gpu in gpus if not gpu.is_lost]
    without = [gpu.uuid for gpu in told if not gpu.mig_enabled]
    enabled = [gpu for gpu in told if gpu.mig_enabled]
    if without and enabled:
        message = (
            f"{asked} {len(enabled)} of {len(told)} GPUs have MIG mode and {without[0]} has not; "
            "use `mixed`, or set the same mode on all"
        )
        raise ConfigError(message)
    empty = [gpu.uuid for gpu in enabled if not gpu.mig_devices]
    if empty:
        message = f"{asked} {empty[0]} has MIG mode and no MIG device; create some, or use `mixed`"
        raise ConfigError(message)
    profiles = sorted({mig.profile for gpu in enabled for mig in gpu.mig_devices})
    if len(profiles) > 1:
        message = f"{asked} there are MIG devices of {', '.join(profiles)}; use `mixed`"
        raise ConfigError(message)


def _check(naming: Naming) -> None:
    if not 1 <= naming.replicas <= REPLICAS_MAX:
        message = f"asked for {naming.replicas} replicas of each GPU, 1 to {REPLICAS_MAX} can be"
        raise ConfigError(message)
    if naming.rename_shared and naming.replicas == 1:
        message = (
            f"asked for resources called `…{SHARED_SUFFIX}` without replicas; "
            "ask for 2 replicas or more"
        )
        raise ConfigError(message)


def _resource(name: str) -> ResourceName:
    if not is_extended_resource_name(name):
        message = f"{name!r} is no extended resource name; choose another domain"
        raise ConfigError(message)
    return ResourceName(name)
