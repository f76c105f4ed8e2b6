"""Device bindings as the API server has them: in the pods' specs, and as objects of their own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

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
from simulator.core.resource_bindings import OthersBound, bind, bound_devices, told
from simulator.core.transitions import NodeName, PodIdentity


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
            message = (
                f'Operation cannot be fulfilled on pods "{call.pod.name}": Precondition failed: '
                f"UID in precondition: {call.pod.uid}, UID in object meta: {pod.pod.uid}"
            )
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
        found = self._objects.get(key)
        name = call.pod.name
        if call.replaces is None and found is not None:
            message = f'devicebindings.rebind.internal "{name}" already exists'
            return ApiRefused(409, "AlreadyExists", message)
        if call.replaces is not None:
            if found is None:
                return not_found("devicebindings.rebind.internal", name)
            if found.revision != call.replaces:
                return _modified(name)
        bindings = tuple(replace(each, response=None) for each in call.bindings)
        revision = self._next_revision()
        self._objects[key] = BindingObject(call.pod, call.node, bindings, revision)
        return ApiStored(revision)

    def _remove(self, call: RemoveDeviceBinding) -> ApiStored | ApiRefused:
        found = self._objects.get(_key(call.pod))
        if found is None:
            return not_found("devicebindings.rebind.internal", call.pod.name)
        if found.revision != call.revision:
            return _modified(call.pod.name)
        del self._objects[_key(call.pod)]
        return ApiStored(self._next_revision())


def not_found(kind: str, name: str, *, gone: bool = False) -> ApiRefused:
    """Return Kubernetes' answer for an object that is not there."""
    return ApiRefused(404, "NotFound", f'{kind} "{name}" not found', gone=gone)


def _modified(name: str) -> ApiRefused:
    message = (
        f'Operation cannot be fulfilled on devicebindings.rebind.internal "{name}": the object has '
        "been modified; please apply your changes to the latest version and try again"
    )
    return ApiRefused(409, "Conflict", message)


def _key(pod: PodIdentity) -> tuple[str, str]:
    return pod.namespace, pod.name
