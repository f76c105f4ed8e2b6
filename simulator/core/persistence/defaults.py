"""What a persistence strategy does at the steps of which it says nothing itself."""

from __future__ import annotations

from collections.abc import Sequence

from typing_extensions import override

from simulator.core.calls import StoreDecision
from simulator.core.devices import Device, DeviceId
from simulator.core.instants import Duration
from simulator.core.persistence.protocol import Gate, ManagerView, Persistence, PodsListed
from simulator.core.pods import Container, Pod, PodUid
from simulator.core.refusals import Refusal
from simulator.core.resources import ResourceName
from simulator.core.transitions import DeviceBinding


def nothing_to_do() -> StoreDecision[None]:
    """Be a step that writes nothing."""
    yield from ()


class PersistenceDefaults(Persistence):
    """What a strategy does unless it says otherwise: no step writes, and the API is left alone.

    A strategy says itself what it loads, and what it does when devices are released.
    """

    @override
    def record(self, binding: DeviceBinding) -> None:
        """Have nothing to do: the device manager holds it."""

    @override
    def on_devices_changed(
        self, view: ManagerView, resource: ResourceName, devices: Sequence[Device]
    ) -> StoreDecision[Refusal | None]:
        return nothing_to_do()

    @override
    def on_container_allocated(
        self, view: ManagerView, pod: Pod, added: Sequence[DeviceBinding]
    ) -> StoreDecision[Refusal | None]:
        return nothing_to_do()

    @override
    def on_pod_admitted(
        self, view: ManagerView, pod: Pod, added: Sequence[DeviceBinding]
    ) -> StoreDecision[Refusal | None]:
        return nothing_to_do()

    @override
    def on_pod_rejected(
        self, view: ManagerView, pod: Pod, reason: str, message: str
    ) -> StoreDecision[Refusal | None]:
        return nothing_to_do()

    @override
    def on_taken_back(
        self, view: ManagerView, pod: Pod, added: Sequence[DeviceBinding]
    ) -> StoreDecision[Refusal | None]:
        return nothing_to_do()

    @override
    def on_resources_removed(
        self, view: ManagerView, resources: Sequence[ResourceName]
    ) -> StoreDecision[Refusal | None]:
        return nothing_to_do()

    # The API

    @property
    @override
    def recalls_ids_only(self) -> bool:
        return False

    @property
    @override
    def flush_period(self) -> Duration | None:
        return None

    @property
    @override
    def owes_api(self) -> bool:
        return False

    @override
    def assigned(
        self, pod: Pod, container: Container, resource: ResourceName
    ) -> Sequence[DeviceId] | None:
        return None

    @override
    def status_devices(self, view: ManagerView, pod: PodUid) -> Sequence[DeviceBinding]:
        return ()

    @override
    def on_pods_listed(self, view: ManagerView, pods: Sequence[Pod]) -> StoreDecision[PodsListed]:
        yield from ()
        return PodsListed()

    @override
    def before_start(self, view: ManagerView, pod: Pod) -> StoreDecision[Gate]:
        return nothing_to_do()

    @override
    def owe_nothing(self, pod: PodUid) -> None:
        """Have nothing to do: nothing is owed."""

    @override
    def on_tick(self, view: ManagerView) -> StoreDecision[bool]:
        yield from ()
        return True
