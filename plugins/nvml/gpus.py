"""What a machine has: GPUs, their MIG devices, and how close GPUs are to each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from simulator.core.devices import NumaNode

Pair = tuple[int, int]
"""Two GPU indexes, the lower one first."""


@dataclass(frozen=True, slots=True)
class MigDevice:
    """One MIG device: a compute instance inside a GPU instance.

    Attributes:
        uuid: `MIG-…`.
        profile: What `nvidia-smi` calls it, such as `1g.5gb` or `1g.5gb+me`.
        capabilities: Paths of the device nodes that open its GPU and its compute instance.
    """

    uuid: str
    profile: str
    gpu_instance: int
    compute_instance: int
    capabilities: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Gpu:
    """One physical GPU.

    Attributes:
        index: NVML's index, in the order of the PCI bus; may change with every boot.
        uuid: `GPU-…`; stays with the card, not with the slot.
        minor: The number of its device node `/dev/nvidiaN`; None where it cannot be read.
        bus_id: PCI address as /sys names it (`0000:3b:00.0`); empty where it cannot be read.
        numa_node: None where neither /sys nor NVML names one.
        mig_enabled: Whether MIG mode is on; its MIG devices may still be none.
        is_lost: It has fallen off the bus (NVML_ERROR_GPU_IS_LOST).
    """

    index: int
    uuid: str
    minor: int | None = None
    bus_id: str = ""
    numa_node: NumaNode | None = None
    mig_enabled: bool = False
    mig_devices: tuple[MigDevice, ...] = ()
    is_lost: bool = False


@dataclass(frozen=True, slots=True)
class Inventory:
    """The GPUs of a machine, by index.

    Attributes:
        closeness: How close two GPUs are, higher is closer; pairs about which NVML says nothing are
            absent.
        unnamed: Indexes of GPUs so lost that not even their UUID can be read: they have no device
            id and are not listed.
        control_nodes: Device nodes that every GPU container needs and this machine has.
    """

    gpus: tuple[Gpu, ...]
    closeness: Mapping[Pair, int] = field(default_factory=dict)
    unnamed: tuple[int, ...] = ()
    control_nodes: tuple[str, ...] = ()
