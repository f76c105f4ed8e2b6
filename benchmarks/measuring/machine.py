"""What a run is measured on: the machine and the versions of everything that takes part."""

from __future__ import annotations

import os
import platform
import sqlite3
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Final

from benchmarks.results.rows import MachineFacts
from simulator.config import DEFAULT_KUBELET_VERSION

_PACKAGES: Final = ("rebind", "sqlalchemy", "psycopg", "grpcio", "uvicorn", "aiohttp")
_UNKNOWN: Final = "unknown"
_IN_MEMORY: Final = frozenset({"tmpfs", "ramfs"})


def machine_facts(folder: Path) -> MachineFacts:
    """Return what the machine is; `folder` lies on the file system that is written to."""
    return MachineFacts(
        processor=processor(),
        cpus=len(os.sched_getaffinity(0)),
        system=f"{platform.system()} {platform.release()}",
        memory=_memory(),
        filesystem=filesystem(folder),
    )


def versions() -> Mapping[str, str]:
    """Return the versions of the parts, by name; what is not installed is left out."""
    found = {
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "kubelet": DEFAULT_KUBELET_VERSION,
    }
    for name in _PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def processor() -> str:
    """Return what the system calls the processor."""
    for line in _lines(Path("/proc/cpuinfo")):
        name, _, value = line.partition(":")
        if name.strip() in {"model name", "Model"}:
            return value.strip()
    return platform.processor() or platform.machine() or _UNKNOWN


def _memory() -> int | None:
    for line in _lines(Path("/proc/meminfo")):
        if line.startswith("MemTotal:"):
            return int(line.split()[1]) * 1024
    return None


def is_in_memory(folder: Path) -> bool:
    """Tell whether the files of a folder lie in main memory."""
    return filesystem(folder) in _IN_MEMORY


def filesystem(folder: Path) -> str | None:
    """Return the type of the file system with the longest mount point above a folder."""
    place = folder.resolve()
    found: tuple[int, str] | None = None
    for line in _lines(Path("/proc/mounts")):
        fields = line.split()
        mount = Path(fields[1].replace("\\040", " "))
        if place.is_relative_to(mount) and (found is None or len(mount.parts) >= found[0]):
            found = len(mount.parts), fields[2]
    return None if found is None else found[1]


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
