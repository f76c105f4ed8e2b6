"""The words around a text: which of them make it another component's.

`rpc error`, `connection refused` or `no space left on device` are said by everything on a node.
Unless the kubelet's words around an admission stand there too, such a text is the device manager's
only if nothing beside it names images, volumes, networks, probes, claims or the runtime.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import Final

FOREIGN_REASONS: Final = frozenset(
    {
        "BackOff",
        "CrashLoopBackOff",
        "CreateContainerError",
        "ErrImageNeverPull",
        "ErrImagePull",
        "FailedAttachVolume",
        "FailedCreatePodSandBox",
        "FailedMount",
        "FailedPrepareDynamicResources",
        "ImageInspectError",
        "ImagePullBackOff",
        "NetworkNotReady",
        "RegistryUnavailable",
        "RunContainerError",
        "StartError",
        "Unhealthy",
    }
)
"""Reasons of events and waiting containers that other components than the device manager give."""

_FOREIGN: Final = re.compile(
    r"pull(?:ing)? (?:and unpack )?image|PullImage|ErrImage|ImagePull|manifest (?:for|unknown)"
    r"|sandbox|setup network|\bcni\b"
    r"|\bcsi\b|MountVolume|AttachVolume|UnmountVolume|volume \""
    r"|NodePrepareResources|NodeUnprepareResources|dynamic resources|resource ?claim"
    r"|(?:readiness|liveness|startup) probe|dial tcp"
    r"|(?:containerd|crio|cri-dockerd|docker|dockershim)\.sock|io\.containerd|/containerd/"
    r"|response from daemon|containerd task|OCI runtime|shim task"
    r"|(?:try to|could not) find container|runtime service|etcd|webhook"
    r"|(?:cpu|memory|dra)[ _-]?manager",
    re.IGNORECASE,
)
_NEAR: Final = re.compile(
    r"device[ _-]?(?:plugin|manager)|ListAndWatch|GetPreferredAllocation|PreStartContainer"
    r"|GetDevicePluginOptions|kubelet_internal_checkpoint",
    re.IGNORECASE,
)
_LABEL: Final = re.compile(r"(?:Error: |.*\berr(?:or)?=\"?)?")


class Surroundings(Enum):
    """Where a text has to stand to be known.

    `ANYWHERE`: its words are the device manager's own. `NOT_FOREIGN`: nothing beside it may name
    another component. `NEAR`: it must stand alone, or beside words about device plugins.
    """

    ANYWHERE = "anywhere"
    NOT_FOREIGN = "notForeign"
    NEAR = "near"


def fits(wanted: Surroundings, line: str, start: int, *, foreign: bool) -> bool:
    """Tell whether a text stands where it has to, outside the words around an admission.

    Args:
        wanted: What it needs.
        line: The whole text.
        start: Where it begins there.
        foreign: Whether the reason beside it is another component's.
    """
    if wanted is Surroundings.ANYWHERE:
        return True
    if foreign or _FOREIGN.search(line):
        return False
    if wanted is Surroundings.NOT_FOREIGN:
        return True
    return _NEAR.search(line) is not None or _LABEL.fullmatch(line[:start]) is not None
