"""Values out of NVML, /sys and /proc: one inventory.

What NVML, its driver or the kernel does not say is absent from the values; only a machine whose
GPUs cannot even be counted is an error.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path
from typing import Final

import pynvml

from plugins.nvml.closeness import closeness_of
from plugins.nvml.gpus import Gpu, Inventory, MigDevice
from plugins.nvml.library import Handle, NvmlError, answered, error_text, is_lost
from plugins.nvml.profiles import profile_in_name, profile_of_slices
from simulator.core.devices import NumaNode
from simulator.errors import HardwareError

_LOG: Final = logging.getLogger(__name__)
_CONTROL_NODES: Final = (
    "/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia-modeset", "/dev/dxg",
)  # fmt: skip
_NUMA_WORDS: Final = 16
"""64-bit words of the NUMA node sets that NVML is asked for: 1,024 nodes, as Linux has at most."""


def read_inventory(host_root: Path = Path("/")) -> Inventory:
    """Read what this machine has; NVML is open.

    Args:
        host_root: Where the host's /dev, /proc and /sys are seen. The paths of device nodes in the
            result are the host's own.

    Raises:
        HardwareError: NVML cannot count the GPUs.
    """
    gpus: list[Gpu] = []
    handles: dict[int, Handle] = {}
    unnamed: list[int] = []
    capabilities = _capabilities(host_root)
    for index in range(_count()):
        try:
            handle = pynvml.nvmlDeviceGetHandleByIndex(index)
            uuid: str = pynvml.nvmlDeviceGetUUID(handle)
        except NvmlError as error:
            _LOG.warning(
                "A GPU cannot be named, so it is not listed",
                extra={"index": index, "error": error_text(error)},
            )
            unnamed.append(index)
            continue
        gpu = _gpu(handle, Gpu(index=index, uuid=uuid), host_root, capabilities)
        gpus.append(gpu)
        if not gpu.is_lost:
            handles[index] = handle
    return Inventory(
        gpus=tuple(gpus),
        closeness=closeness_of(handles),
        unnamed=tuple(unnamed),
        control_nodes=tuple(n for n in _CONTROL_NODES if (host_root / n.lstrip("/")).exists()),
    )


def _count() -> int:
    try:
        count: int = pynvml.nvmlDeviceGetCount()
    except NvmlError as error:
        message = f"asked NVML how many GPUs there are, it answered: {error_text(error)}"
        raise HardwareError(message) from error
    return count


def _gpu(handle: Handle, bare: Gpu, host_root: Path, capabilities: dict[str, int]) -> Gpu:
    """Return the GPU with what NVML tells of it; what is known stays when it proves lost."""
    gpu = bare
    try:
        pci = answered(pynvml.nvmlDeviceGetPciInfo, handle)
        if pci is not None:
            # /sys writes the domain with at least 4 digits, NVML's own text with 8.
            bus_id = f"{pci.domain:04x}:{pci.bus:02x}:{pci.device:02x}.0"
            gpu = replace(gpu, bus_id=bus_id, numa_node=_numa_node(handle, bus_id, host_root))
        gpu = replace(gpu, minor=answered(pynvml.nvmlDeviceGetMinorNumber, handle))
        mode = answered(pynvml.nvmlDeviceGetMigMode, handle)
        if mode is not None and mode[0] == pynvml.NVML_DEVICE_MIG_ENABLE:
            gpu = replace(gpu, mig_enabled=True)
            gpu = replace(gpu, mig_devices=_mig_devices(handle, gpu, capabilities))
        answered(pynvml.nvmlDeviceGetMemoryInfo, handle)
    except NvmlError as error:
        _LOG.warning(
            "A GPU is lost" if is_lost(error) else "A GPU does not answer and counts as lost",
            extra={"uuid": gpu.uuid, "index": gpu.index, "error": error_text(error)},
        )
        gpu = replace(gpu, is_lost=True)
    return gpu


def _numa_node(handle: Handle, bus_id: str, host_root: Path) -> NumaNode | None:
    """Return the NUMA node of a GPU's slot: what /sys says, else NVML if it names just one.

    NVML's `nvmlDeviceGetNumaNodeId` is another thing: the node that a GPU's own memory makes on
    machines where it is part of the system's.
    """
    try:
        text = (host_root / "sys/bus/pci/devices" / bus_id / "numa_node").read_text("ascii")
        node = int(text)
    except (OSError, ValueError):
        words = answered(
            pynvml.nvmlDeviceGetMemoryAffinity,
            handle,
            _NUMA_WORDS,
            pynvml.NVML_AFFINITY_SCOPE_NODE,
        )
        mask = sum(word << (64 * place) for place, word in enumerate(words or ()))
        return NumaNode(mask.bit_length() - 1) if mask.bit_count() == 1 else None
    return NumaNode(node) if node >= 0 else None


def _mig_devices(handle: Handle, gpu: Gpu, capabilities: dict[str, int]) -> tuple[MigDevice, ...]:
    """Read the MIG devices of a GPU; places without one are skipped."""
    places: int = answered(pynvml.nvmlDeviceGetMaxMigDeviceCount, handle) or 0
    memory = answered(pynvml.nvmlDeviceGetMemoryInfo, handle)
    found = []
    for place in range(places):
        mig = answered(pynvml.nvmlDeviceGetMigDeviceHandleByIndex, handle, place)
        if mig is not None:
            found.append(_mig_device(mig, gpu, capabilities, memory.total if memory else 0))
    return tuple(found)


def _mig_device(
    mig: Handle, gpu: Gpu, capabilities: dict[str, int], gpu_memory_bytes: int
) -> MigDevice:
    name: str = answered(pynvml.nvmlDeviceGetName, mig) or ""
    profile = profile_in_name(name)
    if profile is None:
        size = pynvml.nvmlDeviceGetAttributes(mig)
        profile = profile_of_slices(
            compute_slices=size.computeInstanceSliceCount,
            gpu_slices=size.gpuInstanceSliceCount,
            memory_mib=size.memorySizeMB,
            gpu_memory_bytes=gpu_memory_bytes,
        )
    gpu_instance: int = pynvml.nvmlDeviceGetGpuInstanceId(mig)
    compute_instance: int = pynvml.nvmlDeviceGetComputeInstanceId(mig)
    instance = f"gpu{gpu.minor}/gi{gpu_instance}"
    keys = (f"{instance}/access", f"{instance}/ci{compute_instance}/access")
    return MigDevice(
        uuid=pynvml.nvmlDeviceGetUUID(mig),
        profile=profile,
        gpu_instance=gpu_instance,
        compute_instance=compute_instance,
        capabilities=tuple(
            f"/dev/nvidia-caps/nvidia-cap{capabilities[key]}" for key in keys if key in capabilities
        ),
    )


def _capabilities(host_root: Path) -> dict[str, int]:
    """Read which minor number opens which part of a MIG GPU (`gpu0/gi1/ci0/access 12`)."""
    try:
        text = (host_root / "proc/driver/nvidia-caps/mig-minors").read_text("ascii")
    except (OSError, ValueError):
        return {}
    rows = (line.split() for line in text.splitlines())
    return {row[0]: int(row[1]) for row in rows if len(row) == 2 and row[1].isdecimal()}  # noqa: PLR2004 - a name and its number
