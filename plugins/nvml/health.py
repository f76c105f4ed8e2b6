"""Which devices are unhealthy, after which errors.

The driver reports an error of a GPU as an XID. Many are the fault of an application: the GPU is as
good as before, and the next container may have it. All others make the device unhealthy until the
plugin is started anew, since NVML does not tell when a GPU is well again. A GPU that is lost is
unhealthy as long as NVML says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from plugins.nvml.gpus import MigDevice
from plugins.nvml.resources import Unit
from simulator.core.devices import HEALTHY, UNHEALTHY, Device

APPLICATION_XIDS: Final[Mapping[int, str]] = MappingProxyType(
    {
        13: "graphics engine exception",
        31: "GPU memory page fault: an application touched what it may not",
        43: "GPU stopped processing, by an application's own fault",
        45: "preemptive cleanup, after an application ended or an earlier error",
        68: "video processor exception",
        109: "context switch timeout",
    }
)
"""XIDs that leave a GPU usable, and what they say; which ones do is an option of the plugin."""


@dataclass(frozen=True, slots=True)
class XidEvent:
    """A critical error that NVML told of.

    Attributes:
        gpu: The index of the GPU; None where NVML does not say which, so that it may be any.
        gpu_instance: The GPU instance it happened in; None when it concerns the whole GPU.
        compute_instance: Likewise.
    """

    xid: int
    gpu: int | None
    gpu_instance: int | None = None
    compute_instance: int | None = None


@dataclass(slots=True)
class HealthLedger:
    """What is known of the health of a machine's GPUs and MIG devices.

    Attributes:
        ignored_xids: XIDs that change nothing.
        failed: UUIDs of the units with a fatal XID, and the first such XID.
        lost: UUIDs of the GPUs that are lost now.
    """

    ignored_xids: frozenset[int] = frozenset(APPLICATION_XIDS)
    failed: dict[str, int] = field(default_factory=dict)
    lost: set[str] = field(default_factory=set)

    def note(self, event: XidEvent, units: Iterable[Unit]) -> tuple[str, ...]:
        """Take in an event; return the UUIDs of the units that it made unhealthy."""
        if event.xid in self.ignored_xids:
            return ()
        struck = tuple(
            unit.uuid
            for unit in units
            if event.gpu in {None, unit.gpu.index}
            and unit.uuid not in self.failed
            and _strikes(event, unit)
        )
        self.failed.update(dict.fromkeys(struck, event.xid))
        return struck

    def note_lost(self, uuids: Iterable[str]) -> bool:
        """Take in which GPUs are lost now; tell whether that is news."""
        lost = set(uuids)
        changed = lost != self.lost
        self.lost = lost
        return changed

    def health_of(self, unit: Unit) -> str:
        """Return the health of one unit as the kubelet is told (S1.5)."""
        unhealthy = unit.gpu.uuid in self.lost or unit.uuid in self.failed
        return UNHEALTHY if unhealthy else HEALTHY

    def devices(self, units: Iterable[Unit]) -> tuple[Device, ...]:
        """Return the list that the kubelet is sent for some units."""
        return tuple(
            Device(id_, health=self.health_of(unit), topology=unit.topology)
            for unit in units
            for id_ in unit.ids
        )


def _strikes(event: XidEvent, unit: Unit) -> bool:
    """Tell whether an event of this unit's GPU concerns the unit.

    A whole GPU is struck by what happens in any of its instances. An event in an instance that is
    none of the MIG devices is taken for one of the whole GPU.
    """
    if unit.mig is None or event.gpu_instance is None:
        return True
    inside = [mig for mig in unit.gpu.mig_devices if _is_in(mig, event)]
    return not inside or unit.mig in inside


def _is_in(mig: MigDevice, event: XidEvent) -> bool:
    return event.gpu_instance == mig.gpu_instance and event.compute_instance in {
        None,
        mig.compute_instance,
    }
