"""The strategy `database`: SQL in place of the checkpoint file (P0 of the persistence designs).

One commit for each admitted pod, with the bindings of all its containers; releases are committed
before a device can be given again. What could not be committed and cannot be refused, a device list
or the end of a grace period, goes along with the next commit.
"""

from __future__ import annotations

from collections.abc import Sequence

from typing_extensions import override

from simulator.core.calls import (
    Commit,
    Conflict,
    LoadState,
    StateLoaded,
    Stored,
    StoreDecision,
    StoreFailed,
    StoreReply,
)
from simulator.core.devices import Device
from simulator.core.persistence.protocol import (
    ManagerView,
    Persistence,
    Restored,
    nothing_to_do,
)
from simulator.core.pods import Pod, PodUid
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


class DatabasePersistence(Persistence):
    """Keeps device bindings in the store and nothing of its own but what is still to be told."""

    def __init__(self) -> None:
        self._reported: dict[ResourceName, tuple[Device, ...]] = {}
        self._untold: dict[ResourceName, DevicesReported | ResourceRemoved] = {}

    @property
    @override
    def name(self) -> str:
        return "database"

    @override
    def load(self, view: ManagerView) -> StoreDecision[Restored]:
        """Load the node's state; a database that cannot be read is never taken for an empty one."""
        reply = yield LoadState()
        if not isinstance(reply, StateLoaded):
            return Restored(source=self.name, error=_cause(reply), fatal=True)
        state = reply.state
        return Restored(source=self.name, bindings=state.bindings, registered=state.registered)

    @override
    def record(self, binding: DeviceBinding) -> None:
        """Have no use for it before the commit."""

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
        refusal = yield from self._commit(view, "devices")
        if refusal is None:
            self._reported[resource] = listed
        return refusal

    @override
    def on_container_allocated(
        self, view: ManagerView, pod: Pod, added: Sequence[DeviceBinding]
    ) -> StoreDecision[Refusal | None]:
        """Wait for the whole pod."""
        return nothing_to_do()

    @override
    def on_pod_admitted(
        self, view: ManagerView, pod: Pod, added: Sequence[DeviceBinding]
    ) -> StoreDecision[Refusal | None]:
        """Commit the pod's bindings as one unit; a pod without new ones costs nothing."""
        if not added:
            return None
        identity = PodIdentity(pod.uid, pod.namespace, pod.name)
        admitted = PodAdmitted(view.node, view.now, identity, tuple(added))
        return (yield from self._commit(view, "admission", admitted))

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
        """Have nothing to do: what was not admitted was not committed."""
        return nothing_to_do()

    @override
    def on_released(
        self, view: ManagerView, pods: Sequence[PodUid]
    ) -> StoreDecision[Refusal | None]:
        """Commit the release before the devices are free."""
        return (
            yield from self._commit(view, "release", PodsReleased(view.node, view.now, tuple(pods)))
        )

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
            return None
        return HeldByOtherPod(error) if isinstance(reply, Conflict) else StateNotCommitted(error)


def _cause(reply: StoreReply) -> str:
    """Return why the store did not do what it was asked.

    Raises:
        TypeError: The driver answered with a reply of another kind of call.
    """
    if isinstance(reply, Conflict | StoreFailed):
        return reply.message
    message = f"a store call cannot be answered with {reply}"
    raise TypeError(message)
