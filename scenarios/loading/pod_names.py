"""Names of pods that a scenario may use beside those of its manifests.

A template with several replicas makes pods NAME-0, NAME-1, …; NAME alone means all of them. The
replacements of a pod NAME by its controller are NAME-1, NAME-2, …
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from typing import Final

_NUMBERED: Final = re.compile(r"(?P<name>.+)-(?P<number>0|[1-9][0-9]{0,5})", re.ASCII)


def pods_meant(name: str, pods: Iterable[str]) -> tuple[str, ...]:
    """Return the pods among `pods` that `name` means: itself, or all replicas of a template."""
    names = tuple(pods)
    if name in names:
        return (name,)
    matches = ((pod, _NUMBERED.fullmatch(pod)) for pod in names)
    return tuple(pod for pod, match in matches if match is not None and match["name"] == name)


def replaced_pod(name: str, controlled: AbstractSet[str]) -> str | None:
    """Return the pod of a controller whose replacement is called `name`."""
    match = _NUMBERED.fullmatch(name)
    if match is None or match["number"] == "0" or match["name"] not in controlled:
        return None
    return match["name"]
