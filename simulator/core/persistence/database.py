"""The strategy `database`: SQL in place of the checkpoint file (P0 of the persistence designs).

One commit for each admitted pod, with the bindings of all its containers; releases are committed
before a device can be given again. What could not be committed and cannot be refused, a device list
or the end of a grace period, goes along with the next commit.

A commit has at most one transition that a store can refuse, the pod's admission; a refusal does not
undo the others, and they are told again, which changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from typing_extensions import override

from simulator.core.calls import (
    Commit,
    Conflict,
    KeepingReply,
    LoadState,
    StateLoaded,
    Stored,
    StoreDecision,
    StoreFailed,
)
from simulator.core.devices import Device
from simulator.core.persistence.defaults import PersistenceDefaults, nothing_to_do
from simulator.core.persistence.protocol import ManagerView, Restored
from simulator.core.pods import ContainerName, Pod, PodUid
from simulator.core.records import StateWritten
from simulator.core.refusals import HeldByOtherPod, Refusal, StateNotCommitted
from simulator.core.resources import ResourceName
from simulator.core.transitions import (
    DeviceBinding,
    DevicesReported,
    PodAdmitted,
    PodIdentity,
    PodRejected,
    PodsReleased,
    ResourceRemoved,
    Transition,
)

BindingKey = tuple[ContainerName, ResourceName]
"""What a pod has one binding for."""


class DatabasePersistence(PersistenceDefaults):
    """Keeps device bindings in the store and nothing of its own but what is still owed to it."""

    def __init__(self) -> None:
        self._reported: dict[ResourceName, tuple[Device, ...]] = {}
        self._untold: dict[ResourceName, DevicesReported | ResourceRemoved] = {}
        self._unkept: dict[PodUid, dict[BindingKey, DeviceBinding]] = {}

    @property
    @override
    def name(self) -> str:
        return "database"

    @override
    def load(self, view: ManagerView) -> StoreDecision[Restored]:
        """Load the node's state; a database that cannot be read is never taken for an empty one."""
        return self.understood((yield LoadState()))

    def understood(self, reply: KeepingReply) -> Restored:
        """Return what a kubelet restores from the answer to `LoadState`."""
        if not isinstance(reply, StateLoaded):
            return Restored(source=self.name, error=_cause(reply), fatal=True)
        state = reply.state
        return Restored(source=self.name, bindings=state.bindings, registered=state.registered)

    @property
    def owed(self) -> frozenset[tuple[PodUid, ContainerName, ResourceName]]:
        """Keys of the bindings that memory has and the database has not yet."""
        return frozenset((pod, *key) for pod, owed in self._unkept.items() for key in owed)

    @override
    def record(self, binding: DeviceBinding) -> None:
        """Owe the binding to the database until it is committed, released or taken back."""
        self._unkept.setdefault(binding.pod, {})[binding.container, binding.resource] = binding

    @override
    def on_devices_changed(
        self, view: ManagerView, resource: ResourceName, devices: Sequence[Device]
    ) -> StoreDecision[Refusal | None]:
        """Commit a list that is not the one committed last."""
        listed = tuple(devices)
        if self._reported.get(resource) == listed:
            return None
        self._reported.pop(resource, None)
        self._untold[resource] = DevicesReported(view.node, view.now, resource, listed)
        return (yield from self._commit(view, "devices"))

    @override
    def on_pod_admitted(
        self, view: ManagerView, pod: Pod, added: Sequence[DeviceBinding]
    ) -> StoreDecision[Refusal | None]:
        """Commit the pod's bindings as one unit; a pod without new ones costs nothing.

        New is also what an earlier attempt added before it was refused (S3.16).
        """
        unkept = tuple(self._unkept.get(pod.uid, {}).items())
        if not unkept:
            return None
        identity = PodIdentity(pod.uid, pod.namespace, pod.name)
        bindings = tuple(binding for _, binding in unkept)
        admitted = PodAdmitted(view.node, view.now, identity, bindings)
        refusal = yield from self._commit(view, "admission", admitted)
        if refusal is None:
            self._forget(pod.uid, unkept)
        return refusal

    @override
    def on_pod_rejected(
        self, view: ManagerView, pod: Pod, reason: str, message: str
    ) -> StoreDecision[Refusal | None]:
        """Keep the refusal for the history."""
        identity = PodIdentity(pod.uid, pod.namespace, pod.name)
        rejected = PodRejected(view.node, view.now, identity, reason, message)
        return (yield from self._commit(view, "rejection", rejected))

    @override
    def on_taken_back(
        self, view: ManagerView, pod: Pod, added: Sequence[DeviceBinding]
    ) -> StoreDecision[Refusal | None]:
        """Owe nothing any more: what was not admitted was not committed."""
        self._forget(
            pod.uid, [((binding.container, binding.resource), binding) for binding in added]
        )
        return nothing_to_do()

    @override
    def on_released(
        self, view: ManagerView, pods: Sequence[PodUid]
    ) -> StoreDecision[Refusal | None]:
        """Commit the release before the devices are free."""
        released = PodsReleased(view.node, view.now, tuple(pods))
        refusal = yield from self._commit(view, "release", released)
        if refusal is None:
            for pod in pods:
                self._unkept.pop(pod, None)
        return refusal

    @override
    def on_resources_removed(
        self, view: ManagerView, resources: Sequence[ResourceName]
    ) -> StoreDecision[Refusal | None]:
        """Commit that the resources are gone."""
        for resource in resources:
            self._reported.pop(resource, None)
            self._untold[resource] = ResourceRemoved(view.node, view.now, resource)
        return (yield from self._commit(view, "removal"))

    def _commit(
        self, view: ManagerView, cause: str, *transitions: Transition
    ) -> StoreDecision[Refusal | None]:
        """Commit what is still to be told and `transitions`, all or nothing."""
        untold = dict(self._untold)
        batch = (*untold.values(), *transitions)
        reply = yield Commit(batch)
        error = "" if isinstance(reply, Stored) else _cause(reply)
        view.note(StateWritten(target=self.name, cause=cause, size=len(batch), error=error))
        if isinstance(reply, Stored):
            for resource, told in untold.items():
                if self._untold.get(resource) is told:
                    del self._untold[resource]
                    if isinstance(told, DevicesReported):
                        self._reported[resource] = told.devices
            return None
        return HeldByOtherPod(error) if isinstance(reply, Conflict) else StateNotCommitted(error)

    def _forget(self, pod: PodUid, bindings: Iterable[tuple[BindingKey, DeviceBinding]]) -> None:
        owed = self._unkept.get(pod, {})
        for key, binding in bindings:
            if owed.get(key) is binding:
                del owed[key]
        if not owed:
            self._unkept.pop(pod, None)


def _cause(reply: KeepingReply) -> str:
    """Return why the store did not do what it was asked.

    Raises:
        TypeError: The driver answered with a reply of another kind of call.
    """
    if isinstance(reply, Conflict | StoreFailed):
        return reply.message
    message = f"a store call cannot be answered with {reply}"
    raise TypeError(message)
