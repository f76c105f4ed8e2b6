"""The strategy `binding-object`: one DeviceBinding object per pod, and no file (P5).

Synchronous, the object is there before the pod's first container starts; asynchronous, it follows
as soon as it can, and a crash before that forgets what runs. The object is the node's own: what
somebody else wrote into it is replaced. It is removed when the pod's devices are released; what a
pod has left behind that is not there any more is removed after the next start. So is what the last
request of a dead kubelet has written, later than the list of the next one, for a pod that it
refuses.

Objects are found by the pod's name, so each says of which pod it is (W7): one of another UID is an
orphan. A creation that finds the pod's own object with the same content is done (W6).

The custom resource per pod that was discussed in 2018 (persistence-designs 1.3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeGuard

from typing_extensions import override

from simulator.core.api_calls import (
    ApiRefused,
    ApiStored,
    ApiUnavailable,
    GetDeviceBinding,
    ListDeviceBindings,
    PutDeviceBinding,
    RemoveDeviceBinding,
)
from simulator.core.api_refusals import DevicesNotBound
from simulator.core.calls import KeepingReply, StoreDecision
from simulator.core.devices import DeviceId
from simulator.core.instants import Duration
from simulator.core.persistence.api_only import ApiOnlyPersistence
from simulator.core.persistence.defaults import nothing_to_do
from simulator.core.persistence.orphans import (
    ATTEMPTS,
    CONFLICT,
    NOT_FOUND,
    TARGET,
    Content,
    Orphan,
    Orphans,
    content_of,
    misfit,
    objects_in,
)
from simulator.core.persistence.protocol import Gate, ManagerView, PodsListed, StartDelayed
from simulator.core.persistence.spec_devices import bound, identity_of, may_take
from simulator.core.pods import Pod, PodUid
from simulator.core.refusals import Refusal
from simulator.core.resources import ResourceName
from simulator.core.transitions import DeviceBinding, PodIdentity


@dataclass(frozen=True, slots=True)
class _Kept:
    """A pod's object as it is in the API."""

    pod: PodIdentity
    content: Content
    revision: int


@dataclass(frozen=True, slots=True)
class _Unanswered:
    """A pod's object of which nobody knows whether it was written."""

    pod: PodIdentity
    content: Content


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
        self._unanswered: dict[PodUid, _Unanswered] = {}
        self._orphans = Orphans()

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
        for each in objects_in(reply):
            content = content_of(each.bindings)
            if each.pod.uid in listed:
                self._kept[each.pod.uid] = _Kept(each.pod, content, each.revision)
                recorded = {
                    (one.container, one.resource) for one in view.pod_bindings(each.pod.uid)
                }
                found += [
                    one
                    for one in each.bindings
                    if (one.container, one.resource) not in recorded and may_take(view, one, taken)
                ]
            else:
                self._orphans.add(Orphan(each.pod, each.revision, (content,)))
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
        self.owe_nothing(pod.uid)
        return nothing_to_do()

    @override
    def owe_nothing(self, pod: PodUid) -> None:
        """Let no object follow the pod."""
        self._unwritten.pop(pod, None)

    @override
    def on_released(
        self, view: ManagerView, pods: Sequence[PodUid]
    ) -> StoreDecision[Refusal | None]:
        """Let the objects go, later: at a start they would count for nothing."""
        for pod in pods:
            self.owe_nothing(pod)
            self._let_go(pod)
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
        return (yield from self._orphans.remove(view))

    def _lacks(self, view: ManagerView, pod: Pod) -> bool:
        """Tell whether the API does not have what the pod has; nothing needs no object."""
        if pod.static:
            return False
        wanted = content_of(view.pod_bindings(pod.uid))
        kept = self._kept.get(pod.uid)
        return wanted != (kept.content if kept else ())

    def _write(self, view: ManagerView, pod: Pod) -> StoreDecision[Gate]:
        """Create or update the pod's object, whatever is found in its place."""
        identity = identity_of(pod)
        kept = self._kept.get(pod.uid)
        attempt = _Attempt(kept.revision if kept else None)
        for _ in range(ATTEMPTS):
            bindings = tuple(view.pod_bindings(pod.uid))
            if not bindings:
                # It was released meanwhile.
                self._let_go(pod.uid)
                return None
            reply = yield PutDeviceBinding(view.node, identity, bindings, attempt.replaces)
            if isinstance(reply, ApiUnavailable):
                self._not_answered(view, identity, bindings)
                return StartDelayed(reply.message)
            if isinstance(reply, ApiStored):
                self._written(view, identity, bindings, reply.revision)
                return None
            if not isinstance(reply, ApiRefused):
                raise TypeError(misfit(reply))
            is_missing = reply.code == NOT_FOUND and attempt.replaces is None
            if is_missing or reply.code not in {NOT_FOUND, CONFLICT}:
                view.note(bound(TARGET, pod.uid, bindings, reply.message))
                # The server may not know the kind, or the namespace, until it is installed.
                waits = is_missing or reply.is_forbidden
                return StartDelayed(reply.message) if waits else DevicesNotBound(reply.message)
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
        found = next(iter(objects_in(look)), None)
        if found is None:
            return _Attempt(None)
        if found.pod.uid != pod.uid:
            removed = yield RemoveDeviceBinding(found.pod, found.revision)
            if _is_out_of_reach(removed):
                return StartDelayed(removed.message)
            self._orphans.forget(found.pod.uid)
            return _Attempt(None)
        if content_of(found.bindings) != content_of(bindings):
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
        self._kept[pod.uid] = _Kept(pod, content_of(bindings), revision)
        self._unanswered.pop(pod.uid, None)
        self._orphans.forget(pod.uid)
        view.note(bound(TARGET, pod.uid, bindings))
        if not view.pod_bindings(pod.uid):
            self._let_go(pod.uid)

    def _not_answered(
        self, view: ManagerView, pod: PodIdentity, bindings: Sequence[DeviceBinding]
    ) -> None:
        """Know that there may be an object, also when the pod is released before it is known."""
        self._unanswered[pod.uid] = _Unanswered(pod, content_of(bindings))
        if not view.pod_bindings(pod.uid):
            self._let_go(pod.uid)

    def _let_go(self, pod: PodUid) -> None:
        """Have the object of a pod removed, if there is one or may be one."""
        kept, unanswered = self._kept.pop(pod, None), self._unanswered.pop(pod, None)
        contents = tuple(each.content for each in (kept, unanswered) if each is not None)
        if kept is not None:
            self._orphans.add(Orphan(kept.pod, kept.revision, contents))
        elif unanswered is not None:
            self._orphans.add(Orphan(unanswered.pod, None, contents))


def _is_out_of_reach(reply: KeepingReply) -> TypeGuard[ApiUnavailable | ApiRefused]:
    """Tell whether the server cannot be asked, or not by this kubelet."""
    if isinstance(reply, ApiRefused):
        return reply.is_forbidden
    return isinstance(reply, ApiUnavailable)
