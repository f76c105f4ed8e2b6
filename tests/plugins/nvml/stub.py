"""Builds the stub of NVIDIA's library and steers it.

pynvml opens the library by its bare name, `libnvidia-ml.so.1`. A process of its own finds the stub
by LD_LIBRARY_PATH (`Stub.environment`). Inside the tests' own process that variable comes too late,
so the stub is loaded beforehand by its path: the loader gives a library that is already loaded,
known by the name it was built with (`-soname`), to everyone who asks for that name.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

SOURCE: Final = Path(__file__).with_name("nvml_stub.c")
LIBRARY: Final = "libnvidia-ml.so.1"
STATE_VARIABLE: Final = "REBIND_NVML_STUB"


def compiler() -> str | None:
    """Return the machine's C compiler."""
    return next((path for name in ("cc", "gcc", "clang") if (path := shutil.which(name))), None)


def build(folder: Path) -> Path:
    """Compile the stub into a folder; a warning is an error."""
    library = folder / LIBRARY
    command = [compiler() or "cc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
    command += [f"-Wl,-soname,{LIBRARY}", "-o", str(library), str(SOURCE)]
    subprocess.run(command, check=True)  # noqa: S603 - the compiler that was found
    return library


def give_gpus(folder: Path) -> None:
    """Let this process have the machine of the stub; skip the test where none can be built."""
    if compiler() is None:
        pytest.skip("no C compiler on this machine builds the stub of NVML")
    preload(build(folder))


def preload(library: Path) -> None:
    """Load the stub into this process, so that pynvml gets it."""
    ctypes.CDLL(str(library))


def searched_first(folder: Path) -> Mapping[str, str]:
    """What makes a process look for libraries in a folder, before it does elsewhere."""
    folders = [str(folder), os.environ.get("LD_LIBRARY_PATH", "")]
    return {"LD_LIBRARY_PATH": os.pathsep.join(filter(None, folders))}


@dataclass(frozen=True)
class Stub:
    """A machine of the stub: what it looks like and what happens on it.

    Attributes:
        state: The file that the library reads at every call; its statements stand in the stub.
        host_root: A folder with the machine's /dev, /proc and /sys.
    """

    library: Path
    state: Path
    host_root: Path

    def says(self, *statements: str) -> None:
        """Change the machine, now."""
        with self.state.open("a", encoding="ascii") as file:
            file.write("".join(f"{statement}\n" for statement in statements))

    def has_file(self, path: str, text: str = "") -> None:
        """Put a file of the host where the plugin sees it."""
        place = self.host_root / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="ascii")

    @property
    def environment(self) -> Mapping[str, str]:
        """What lets a process of its own find the stub."""
        return {**searched_first(self.library.parent), STATE_VARIABLE: str(self.state)}


def gpu(index: int) -> str:
    """Return the UUID of a GPU of the stub."""
    return f"GPU-{index:08}-aaaa-4bbb-8ccc-0123456789ab"


def mig(index: int, place: int) -> str:
    """Return the UUID of a MIG device of the stub."""
    return f"MIG-{index:08}-{place:04}-4bbb-8ccc-0123456789ab"
