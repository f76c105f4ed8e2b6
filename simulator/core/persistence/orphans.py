"""DeviceBinding objects that nobody needs any more, and how they go.

Usually an orphan is removed with one request. It takes more when nobody knows whether it was
written at all, for the answer was lost and then the pod had gone (W5, W6), and when it was changed
meanwhile: then it is looked at first. What another pod has under that name is left alone (W7), and
so is what another kubelet of this node's name has written for the same pod (W9).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from simulator.core.api_calls import (
    ApiRefused,
    ApiStored,
    ApiUnavailable,
    BindingObject,
    DeviceBindingsListed,
    GetDeviceBinding,
    RemoveDeviceBinding,
)
from simulator.core.calls import KeepingReply, StoreDecision
from simulator.core.devices import DeviceId, device_ids
from simulator.core.persistence.protocol import ManagerView
from simulator.core.persistence.spec_devices import bound
from simulator.core.pods import ContainerName, PodUid
from simulator.core.resources import ResourceName
from simulator.core.transitions import DeviceBinding, PodIdentity

TARGET: Final = "devicebinding"
"""What records call these objects."""
NOT_FOUND: Final = 404
CONFLICT: Final = 409
ATTEMPTS: Final = 4
"""Requests about one object in a row that may find it changed."""

Content = tuple[tuple[ContainerName, ResourceName, tuple[DeviceId, ...]], ...]
"""What two objects are compared by."""


@dataclass(frozen=True, slots=True)
class Orphan:
    """An object that nobody needs any more.

    Attributes:
        pod: Whose it was.
        revision: As it is in the API; None when nobody knows whether it was written.
        contents: What this kubelet has written into it, or tried to.
    """

    pod: PodIdentity
    revision: int | None
    contents: tuple[Content, ...]


class Orphans:
    """The orphans of one node, in the order in which they became known."""

    def __init__(self) -> None:
        self._orphans: dict[PodUid, Orphan] = {}

    def __bool__(self) -> bool:
        """Tell whether there is one."""
        return bool(self._orphans)

    def add(self, orphan: Orphan) -> None:
        """Have an object removed."""
        self._orphans[orphan.pod.uid] = orphan

    def forget(self, pod: PodUid) -> None:
        """Have the object of a pod no more: it is gone, or needed again."""
        self._orphans.pop(pod, None)

    def remove(self, view: ManagerView) -> StoreDecision[bool]:
        """Remove them, one after the other.

        Returns:
            Whether the server has let it be done; if not, the rest is still there.
        """
        for orphan in tuple(self._orphans.values()):
            is_gone = yield from _remove(orphan)
            if not is_gone:
                return False
            self.forget(orphan.pod.uid)
            view.note(bound(TARGET, orphan.pod.uid, ()))
        return True


def _remove(orphan: Orphan) -> StoreDecision[bool]:
    """Remove an object; tell whether it is gone, or somebody else's by now."""
    revision = orphan.revision
    for _ in range(ATTEMPTS):
        if revision is None:
            look = yield GetDeviceBinding(orphan.pod)
            if isinstance(look, ApiUnavailable):
                return False
            found = next(iter(objects_in(look)), None)
            if found is None or not _is_own(orphan, found):
                return True
            revision = found.revision
        reply = yield RemoveDeviceBinding(orphan.pod, revision)
        if isinstance(reply, ApiStored):
            return True
        if isinstance(reply, ApiUnavailable):
            return False
        if not isinstance(reply, ApiRefused):
            raise TypeError(misfit(reply))
        if reply.code != CONFLICT:
            return reply.code == NOT_FOUND
        revision = None
    return False


def _is_own(orphan: Orphan, found: BindingObject) -> bool:
    is_of_pod = found.pod.uid == orphan.pod.uid
    return is_of_pod and content_of(found.bindings) in orphan.contents


def content_of(bindings: Iterable[DeviceBinding]) -> Content:
    """Return what an object says that has these bindings."""
    return tuple(
        sorted((each.container, each.resource, device_ids(each.devices)) for each in bindings)
    )


def objects_in(reply: KeepingReply) -> tuple[BindingObject, ...]:
    """Return the objects of an answer.

    Raises:
        TypeError: It is the answer to something else.
    """
    if not isinstance(reply, DeviceBindingsListed):
        raise TypeError(misfit(reply))
    return reply.objects


def misfit(reply: KeepingReply) -> str:
    """Return what is wrong about an answer to something else."""
    return f"a call about a DeviceBinding cannot be answered with {reply}"
