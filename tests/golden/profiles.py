"""Which switches a recording's version has, as far as the checkpoint codec looks at them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from simulator.config import DEFAULT_KUBELET_VERSION
from simulator.core.behavior import Behavior, CheckpointFormat

_VERSION: Final = re.compile(r"v?(\d+)\.(\d+)(?:\.\d+.*)?")

V1_KUBELET: Final = Behavior(
    version="1.19",
    checkpoint_written=CheckpointFormat.V1,
    checkpoints_read=frozenset({CheckpointFormat.V1}),
    legacy_json_escapes=True,
    lenient_allocate_responses=False,
    cdi_devices_known=False,
)
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


def behavior_of(version: str) -> Behavior:
    """Return the switches of a version."""
    match = _VERSION.fullmatch(version)
    if match is None:
        message = f"{version!r} is not a kubelet version"
        raise ValueError(message)
    minor = int(match[2])
    return Behavior(
        version=version,
        legacy_json_escapes=minor < 30,
        lenient_allocate_responses=minor > 32,
        cdi_devices_known=minor >= 28,
    )
