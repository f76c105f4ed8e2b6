"""Which kubelet version made a recording."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from simulator.config import DEFAULT_KUBELET_VERSION
from simulator.core.switches import behavior_for

_VERSION: Final = re.compile(r"v?(\d+)\.(\d+)(?:\.\d+.*)?")

_V1_FOLDER: Final = "v1"

V1_KUBELET: Final = behavior_for("1.19")
"""The kubelets that wrote what stands below a folder `v1` (1.20.2/README)."""


def version_of(path: Path) -> str:
    """Return the name of the nearest folder named like a version, else the default version."""
    folder = version_folder_of(path)
    return DEFAULT_KUBELET_VERSION if folder is None else folder.name.removeprefix("v")


def version_folder_of(path: Path) -> Path | None:
    """Return the nearest folder named like a version, by the path as given or where links lead."""
    folders = [*path.absolute().parents, *path.resolve().parents]
    return next((folder for folder in folders if _VERSION.fullmatch(folder.name)), None)


def is_below_v1(path: Path) -> bool:
    """Tell whether a folder `v1` stands between a recording and the folder of its version."""
    version_folder = version_folder_of(path)
    for folder in path.absolute().parents:
        if folder == version_folder:
            return False
        if folder.name == _V1_FOLDER:
            return True
    return False
