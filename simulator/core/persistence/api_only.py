"""What strategies without a file have in common: the node keeps nothing, so a start finds nothing.

Devices are known again when the pods are listed, and only their ids: the plugin is asked once more
before a container starts with them. A static pod, whose object in the API is a mirror, is admitted
before that and leaves no record at all (persistence-designs 3.3).
"""

from __future__ import annotations

from collections.abc import Sequence

from typing_extensions import override

from simulator.core.calls import StoreDecision
from simulator.core.devices import Device
from simulator.core.persistence.protocol import (
    LocalPersistence,
    ManagerView,
    Restored,
    nothing_to_do,
)
from simulator.core.pods import Pod
from simulator.core.refusals import Refusal
from simulator.core.resources import ResourceName
from simulator.core.transitions import DeviceBinding


class ApiOnlyPersistence(LocalPersistence):
    """Keeps nothing on the node: no step of a decision waits for a write."""

    @property
    @override
    def recalls_ids_only(self) -> bool:
        return True

    @override
    def load(self, view: ManagerView) -> StoreDecision[Restored]:
        """Find nothing; what the API has comes with the first LIST."""
        yield from ()
        return Restored(source="nothing")

    @override
    def record(self, binding: DeviceBinding) -> None:
        """Have nothing to do: the device manager holds it."""

    @override
    def on_devices_changed(
        self, view: ManagerView, resource: ResourceName, devices: Sequence[Device]
    ) -> StoreDecision[Refusal | None]:
        """Have nothing to do: the API does not know what devices a node has."""
        return nothing_to_do()

    @override
    def on_container_allocated(
        self, view: ManagerView, pod: Pod, added: Sequence[DeviceBinding]
    ) -> StoreDecision[Refusal | None]:
        """Wait for the pod."""
        return nothing_to_do()

    @override
    def on_pod_admitted(
        self, view: ManagerView, pod: Pod, added: Sequence[DeviceBinding]
    ) -> StoreDecision[Refusal | None]:
        """Keep the API out of the admission, in which pods are served one after the other."""
        return nothing_to_do()

    @override
    def on_pod_rejected(
        self, view: ManagerView, pod: Pod, reason: str, message: str
    ) -> StoreDecision[Refusal | None]:
        """Have nothing to do: the pod's status says it."""
        return nothing_to_do()

    @override
    def on_taken_back(
        self, view: ManagerView, pod: Pod, added: Sequence[DeviceBinding]
    ) -> StoreDecision[Refusal | None]:
        """Have nothing to do: nothing was written."""
        return nothing_to_do()

    @override
    def on_resources_removed(
        self, view: ManagerView, resources: Sequence[ResourceName]
    ) -> StoreDecision[Refusal | None]:
        """Have nothing to do."""
        return nothing_to_do()
