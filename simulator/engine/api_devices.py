"""Device bindings as the API server has them: in the pods' specs, and as objects of their own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final, Protocol

from simulator.core.api_calls import (
    ApiAnsweredEach,
    ApiRefused,
    ApiReply,
    ApiStored,
    BindDevices,
    BindingObject,
    BindManyDevices,
    DeviceBindingsListed,
    GetDeviceBinding,
    ListDeviceBindings,
    PutDeviceBinding,
    RemoveDeviceBinding,
    SentCall,
)
from simulator.core.devices import device_ids
from simulator.core.pods import Pod, PodUid
from simulator.core.preconditions import (
    already_exists_text,
    conflict_text,
    not_found_text,
    precondition_text,
    unmet_by,
)
from simulator.core.resource_bindings import OthersBound, bind, bound_devices, told
from simulator.core.transitions import NodeName, PodIdentity

_OBJECTS: Final = "devicebindings.rebind.internal"


class BoundPod(Protocol):
    """A pod, as far as its devices are concerned.

    Attributes:
        pod: Its identity, limits and the devices that its spec binds.
        revision: Grows with each change.
    """

    pod: Pod
    revision: int


class DeviceObjects:
    """What the API server knows of devices.

    Args:
        named: Returns the present pod of a namespace and name.
        changed: Told of a pod whose spec was changed.
        next_revision: Returns the revision of a change.
    """

    def __init__(
        self,
        named: Callable[[PodIdentity], BoundPod | None],
        changed: Callable[[PodUid], None],
        next_revision: Callable[[], int],
    ) -> None:
        self._named = named
        self._changed = changed
        self._next_revision = next_revision
        self._objects: dict[tuple[str, str], BindingObject] = {}

    def objects(self, node: NodeName | None = None) -> list[BindingObject]:
        """Return the DeviceBinding objects, all or of one node, in order of creation."""
        return [each for each in self._objects.values() if node is None or each.node == node]

    def answer(self, call: SentCall) -> ApiReply:
        """Carry out a request now."""
        match call:
            case BindDevices():
                return self._bind(call)
            case BindManyDevices():
                return ApiAnsweredEach(tuple(self._bind(each) for each in call.requests))
            case PutDeviceBinding():
                return self._put(call)
            case GetDeviceBinding():
                found = self._objects.get(_key(call.pod))
                return DeviceBindingsListed(() if found is None else (found,))
            case RemoveDeviceBinding():
                return self._remove(call)
            case ListDeviceBindings():
                return DeviceBindingsListed(tuple(self.objects(call.node)))

    def know(self, found: BindingObject) -> None:
        """Have an object here as a real server has it."""
        self._objects[_key(found.pod)] = found

    def forget(self, pod: PodIdentity) -> None:
        """Have a pod's object here no more."""
        self._objects.pop(_key(pod), None)

    def _bind(self, call: BindDevices) -> ApiStored | ApiRefused:
        pod = self._named(call.pod)
        if pod is None:
            return not_found("pods", call.pod.name, gone=True)
        if pod.pod.uid != call.pod.uid:
            why = precondition_text("UID", required=call.pod.uid, found=pod.pod.uid)
            message = conflict_text("pods", call.pod.name, f"Precondition failed: {why}")
            return ApiRefused(409, "Conflict", message, gone=True)
        asked = bound_devices(
            ((each.container, each.resource), device_ids(each.devices)) for each in call.bindings
        )
        outcome = bind(pod.pod, asked)
        if isinstance(outcome, OthersBound):
            return ApiRefused(409, "Conflict", told(pod.pod, outcome))
        if not isinstance(outcome, Pod):
            return ApiRefused(422, "Invalid", told(pod.pod, outcome))
        if outcome is not pod.pod:
            pod.pod = outcome
            self._changed(pod.pod.uid)
        return ApiStored(pod.revision)

    def _put(self, call: PutDeviceBinding) -> ApiStored | ApiRefused:
        key = _key(call.pod)
        if call.replaces is not None:
            refused = self._refused_at(call.pod, call.replaces)
            if refused is not None:
                return refused
        elif key in self._objects:
            message = already_exists_text(_OBJECTS, call.pod.name)
            return ApiRefused(409, "AlreadyExists", message)
        bindings = tuple(replace(each, response=None) for each in call.bindings)
        revision = self._next_revision()
        self._objects[key] = BindingObject(call.pod, call.node, bindings, revision)
        return ApiStored(revision)

    def _remove(self, call: RemoveDeviceBinding) -> ApiStored | ApiRefused:
        refused = self._refused_at(call.pod, call.revision)
        if refused is not None:
            return refused
        del self._objects[_key(call.pod)]
        return ApiStored(self._next_revision())

    def _refused_at(self, pod: PodIdentity, revision: int) -> ApiRefused | None:
        """Return why the object of a pod's name cannot be written if it must have a revision."""
        found = self._objects.get(_key(pod))
        if found is None:
            return not_found(_OBJECTS, pod.name)
        if unmet_by((found.revision, found.pod.uid), revision=revision) is None:
            return None
        return ApiRefused(409, "Conflict", conflict_text(_OBJECTS, pod.name))


def not_found(kind: str, name: str, *, gone: bool = False) -> ApiRefused:
    """Return Kubernetes' answer for an object that is not there."""
    return ApiRefused(404, "NotFound", not_found_text(kind, name), gone=gone)


def _key(pod: PodIdentity) -> tuple[str, str]:
    return pod.namespace, pod.name
