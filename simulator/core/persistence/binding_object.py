"""The strategy `binding-object`: one DeviceBinding object per pod, and no file (P5).

Synchronous, the object is there before the pod's first container starts; asynchronous, it follows
as soon as it can, and a crash before that forgets what runs. The object is the node's own: what
somebody else wrote into it is replaced. It is removed when the pod's devices are released; what a
pod has left behind that is not there any more is removed after the next start.

Objects are found by the pod's name, so each says of which pod it is (W7): one of another UID is an
orphan. A creation that finds the pod's own object with the same content is done (W6).

The custom resource per pod that was discussed in 2018 (persistence-designs 1.3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from typing_extensions import override

from simulator.core.api_calls import (
    ApiRefused,
    ApiStored,
    ApiUnavailable,
    BindingObject,
    DeviceBindingsListed,
    GetDeviceBinding,
    ListDeviceBindings,
    PutDeviceBinding,
    RemoveDeviceBinding,
)
from simulator.core.api_refusals import DevicesNotBound
from simulator.core.calls import KeepingReply, StoreDecision
from simulator.core.devices import DeviceId, device_ids
from simulator.core.instants import Duration
from simulator.core.persistence.api_only import ApiOnlyPersistence
from simulator.core.persistence.defaults import nothing_to_do
from simulator.core.persistence.protocol import Gate, ManagerView, PodsListed, StartDelayed
from simulator.core.persistence.spec_devices import bound, identity_of, may_take
from simulator.core.pods import ContainerName, Pod, PodUid
from simulator.core.refusals import Refusal
from simulator.core.resources import ResourceName
from simulator.core.transitions import DeviceBinding, PodIdentity

_TARGET: Final = "devicebinding"
_NOT_FOUND: Final = 404
_CONFLICT: Final = 409
_ATTEMPTS: Final = 4
"""Writes of one object in a row that may find it changed."""

Content = tuple[tuple[ContainerName, ResourceName, tuple[DeviceId, ...]], ...]
"""What two objects are compared by."""


@dataclass(frozen=True, slots=True)
class _Kept:
    """A pod's object as it is in the API."""

    pod: PodIdentity
    content: Content
    revision: int


@dataclass(frozen=True, slots=True)
class _Attempt:
    """How to write an object: in place of this revision, or as a new one."""

    replaces: int | None


class BindingObjectPersistence(ApiOnlyPersistence):
    """Keeps device bindings in objects of their own.

    Args:
        synchronous: Whether a pod waits for its object.
    """

    def __init__(self, *, synchronous: bool = True) -> None:
        self._synchronous = synchronous
        self._kept: dict[PodUid, _Kept] = {}
        self._unwritten: dict[PodUid, Pod] = {}
        self._orphans: dict[PodUid, _Kept] = {}

    @property
    @override
    def name(self) -> str:
        return "binding-object"

    @property
    @override
    def flush_period(self) -> Duration | None:
        return Duration(0)

    @property
    @override
    def owes_api(self) -> bool:
        return bool(self._unwritten or self._orphans)

    @override
    def on_pods_listed(self, view: ManagerView, pods: Sequence[Pod]) -> StoreDecision[PodsListed]:
        """Take up the objects of these pods; the others are orphans.

        No pod can be admitted before both lists are there: the devices of its neighbors would seem
        free.
        """
        reply = yield ListDeviceBindings(view.node)
        if isinstance(reply, ApiUnavailable):
            return PodsListed(error=reply.message)
        listed = {pod.uid for pod in pods}
        taken: dict[tuple[ResourceName, DeviceId], PodUid] = {}
        found: list[DeviceBinding] = []
        for each in _objects(reply):
            kept = _Kept(each.pod, _content(each.bindings), each.revision)
            if each.pod.uid in listed:
                self._kept[each.pod.uid] = kept
                recorded = {
                    (one.container, one.resource) for one in view.pod_bindings(each.pod.uid)
                }
                found += [
                    one
                    for one in each.bindings
                    if (one.container, one.resource) not in recorded and may_take(view, one, taken)
                ]
            else:
                self._orphans[each.pod.uid] = kept
        return PodsListed(tuple(found))

    @override
    def on_pod_admitted(
        self, view: ManagerView, pod: Pod, added: Sequence[DeviceBinding]
    ) -> StoreDecision[Refusal | None]:
        """Let the object follow, if nothing waits for it."""
        if not self._synchronous and self._lacks(view, pod):
            self._unwritten[pod.uid] = pod
        return nothing_to_do()

    @override
    def on_pod_rejected(
        self, view: ManagerView, pod: Pod, reason: str, message: str
    ) -> StoreDecision[Refusal | None]:
        """Write nothing for a pod that does not run."""
        self._unwritten.pop(pod.uid, None)
        return nothing_to_do()

    @override
    def on_released(
        self, view: ManagerView, pods: Sequence[PodUid]
    ) -> StoreDecision[Refusal | None]:
        """Let the objects go, later: at a start they would count for nothing."""
        for pod in pods:
            self._unwritten.pop(pod, None)
            kept = self._kept.pop(pod, None)
            if kept is not None:
                self._orphans[pod] = kept
        return nothing_to_do()

    @override
    def before_start(self, view: ManagerView, pod: Pod) -> StoreDecision[Gate]:
        """Have the object in the API, if pods wait for it."""
        if not self._synchronous or not self._lacks(view, pod):
            return None
        return (yield from self._write(view, pod))

    @override
    def on_tick(self, view: ManagerView) -> StoreDecision[bool]:
        """Write the objects that follow their pods, then remove those that nobody needs."""
        for pod in tuple(self._unwritten.values()):
            gate = yield from self._write(view, pod)
            if isinstance(gate, StartDelayed):
                return False
            if gate is not None or not self._lacks(view, pod):
                self._unwritten.pop(pod.uid, None)
        for orphan in tuple(self._orphans.values()):
            reply = yield RemoveDeviceBinding(orphan.pod, orphan.revision)
            if isinstance(reply, ApiUnavailable):
                return False
            if not isinstance(reply, ApiStored | ApiRefused):
                raise TypeError(_misfit(reply))
            # Refused, it is gone, or somebody has made another one of it.
            self._orphans.pop(orphan.pod.uid, None)
            view.note(bound(_TARGET, orphan.pod.uid, ()))
        return True

    def _lacks(self, view: ManagerView, pod: Pod) -> bool:
        """Tell whether the API does not have what the pod has; nothing needs no object."""
        if pod.static:
            return False
        wanted = _content(view.pod_bindings(pod.uid))
        kept = self._kept.get(pod.uid)
        return wanted != (kept.content if kept else ())

    def _write(self, view: ManagerView, pod: Pod) -> StoreDecision[Gate]:
        """Create or update the pod's object, whatever is found in its place."""
        identity = identity_of(pod)
        kept = self._kept.get(pod.uid)
        attempt = _Attempt(kept.revision if kept else None)
        for _ in range(_ATTEMPTS):
            bindings = tuple(view.pod_bindings(pod.uid))
            reply = yield PutDeviceBinding(view.node, identity, bindings, attempt.replaces)
            if isinstance(reply, ApiUnavailable):
                return StartDelayed(reply.message)
            if isinstance(reply, ApiStored):
                self._written(view, identity, bindings, reply.revision)
                return None
            if not isinstance(reply, ApiRefused):
                raise TypeError(_misfit(reply))
            if reply.code == _NOT_FOUND and attempt.replaces is None:
                # The server does not know the kind, or the namespace: it may, once installed.
                return StartDelayed(reply.message)
            if reply.code not in {_NOT_FOUND, _CONFLICT}:
                view.note(bound(_TARGET, pod.uid, bindings, reply.message))
                return DevicesNotBound(reply.message)
            found = yield from self._found_instead(view, identity, bindings)
            if not isinstance(found, _Attempt):
                return found
            attempt = found
        return StartDelayed(f'DeviceBinding "{pod.name}" is changed again and again')

    def _found_instead(
        self, view: ManagerView, pod: PodIdentity, bindings: tuple[DeviceBinding, ...]
    ) -> StoreDecision[_Attempt | StartDelayed | None]:
        """Look what keeps an object from being written; None if it is written already (W6)."""
        look = yield GetDeviceBinding(pod)
        if isinstance(look, ApiUnavailable):
            return StartDelayed(look.message)
        found = next(iter(_objects(look)), None)
        if found is None:
            return _Attempt(None)
        if found.pod.uid != pod.uid:
            removed = yield RemoveDeviceBinding(found.pod, found.revision)
            if isinstance(removed, ApiUnavailable):
                return StartDelayed(removed.message)
            self._orphans.pop(found.pod.uid, None)
            return _Attempt(None)
        if _content(found.bindings) != _content(bindings):
            return _Attempt(found.revision)
        self._written(view, pod, bindings, found.revision)
        return None

    def _written(
        self,
        view: ManagerView,
        pod: PodIdentity,
        bindings: Sequence[DeviceBinding],
        revision: int,
    ) -> None:
        """Know the object; of a pod that was released meanwhile it is an orphan at once."""
        kept = _Kept(pod, _content(bindings), revision)
        view.note(bound(_TARGET, pod.uid, bindings))
        if view.pod_bindings(pod.uid):
            self._kept[pod.uid] = kept
        else:
            self._orphans[pod.uid] = kept


def _content(bindings: Sequence[DeviceBinding]) -> Content:
    return tuple(
        sorted((each.container, each.resource, device_ids(each.devices)) for each in bindings)
    )


def _objects(reply: KeepingReply) -> tuple[BindingObject, ...]:
    if not isinstance(reply, DeviceBindingsListed):
        raise TypeError(_misfit(reply))
    return reply.objects


def _misfit(reply: KeepingReply) -> str:
    return f"a call about a DeviceBinding cannot be answered with {reply}"
