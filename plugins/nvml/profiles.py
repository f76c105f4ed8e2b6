"""How a MIG device is called: `1g.5gb`, `1c.3g.20gb`, `1g.5gb+me`.

A newer driver says it at the end of the device's name. For an older one it follows from the slices
and the memory: the memory is counted in whole eighths of the GPU's, rounded up, which is why 4,864
MiB of a 40 GB GPU are called 5gb.
"""

from __future__ import annotations

import re
from typing import Final

_AT_THE_END: Final = re.compile(r" MIG ([0-9]+[cg]\.[0-9a-z.+,_-]+)$", re.ASCII)
_EIGHTHS: Final = 8
_MIB: Final = 1 << 20
_GIB: Final = 1 << 30


def profile_in_name(name: str) -> str | None:
    """Return the profile at the end of a MIG device's name (`NVIDIA … MIG 1g.5gb`)."""
    match = _AT_THE_END.search(name)
    return match[1] if match else None


def profile_of_slices(
    *, compute_slices: int, gpu_slices: int, memory_mib: int, gpu_memory_bytes: int
) -> str:
    """Return the profile that the size of a MIG device makes.

    Args:
        compute_slices: Slices of its compute instance.
        gpu_slices: Slices of the GPU instance around it.
        memory_mib: Its memory.
        gpu_memory_bytes: The memory of the whole GPU.
    """
    eighths = _rounded_up(memory_mib * _MIB * _EIGHTHS, max(gpu_memory_bytes, 1))
    gpu_gib = _rounded_up(gpu_memory_bytes, _GIB)
    # Half a gigabyte is rounded up: 4 of 8 parts of 141 are called 71gb.
    size = f"{gpu_slices}g.{(eighths * gpu_gib + _EIGHTHS // 2) // _EIGHTHS}gb"
    return size if compute_slices == gpu_slices else f"{compute_slices}c.{size}"


def resource_of_profile(profile: str) -> str:
    """Return the last part of the resource name: `mig-1g.5gb`, `mig-1g.5gb.me`.

    A resource name cannot have what stands before and between the extras of a profile.
    """
    return f"mig-{profile.replace('+', '.').replace(',', '.')}"


def _rounded_up(numerator: int, denominator: int) -> int:
    return -(-numerator // denominator)
