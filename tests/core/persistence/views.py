"""What a strategy sees of a device manager that holds nothing."""

from simulator.core.devices import DeviceId
from simulator.core.instants import Instant
from simulator.core.pods import PodUid
from simulator.core.records import Record
from simulator.core.resources import ResourceName
from simulator.core.transitions import DeviceBinding, NodeName


class View:
    """A view for steps that are driven by hand."""

    node = NodeName("n0")
    now = Instant(0)

    def pod_bindings(self, pod: PodUid) -> list[DeviceBinding]:
        del pod
        return []

    def registered(self) -> list[tuple[ResourceName, tuple[DeviceId, ...]]]:
        return []

    def holder(self, resource: ResourceName, device: DeviceId) -> PodUid | None:
        del resource, device
        return None

    def is_active(self, pod: PodUid) -> bool:
        del pod
        return False

    def note(self, record: Record) -> None:
        del record
