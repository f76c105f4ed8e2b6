"""Which kubelet version made a recording."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from simulator.config import DEFAULT_KUBELET_VERSION
from simulator.core.switches import behavior_for

_VERSION: Final = re.compile(r"v?(\d+)\.(\d+)(?:\.\d+.*)?")

V1_KUBELET: Final = behavior_for("1.19")
"""The kubelets that wrote what stands below a folder `v1` (1.20.2/README)."""


def version_of(path: Path) -> str:
    """Return the name of the nearest folder named like a version, else the default version."""
    for folder in path.resolve().parents:
        if _VERSION.fullmatch(folder.name):
            return folder.name.removeprefix("v")
    return DEFAULT_KUBELET_VERSION


def version_folder_of(path: Path) -> Path | None:
    """Return the nearest folder named like a version."""
    return next(
        (folder for folder in path.resolve().parents if _VERSION.fullmatch(folder.name)), None
    )
