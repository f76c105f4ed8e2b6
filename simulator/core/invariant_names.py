"""The invariants that runs are checked for, by name (persistence-designs 3.4, and Rebind's own)."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

INVARIANTS: Final = MappingProxyType(
    {
        "I1": "no device is in running containers of two pods",
        "I2": "the devices of a running container never change",
        "I3": "every running container with devices is in the durable state",
        "I4": "nobody is shown a device for a pod that never had it",
        "I5": "devices are freed only after their container has ended",
        "acknowledged": "an acknowledged binding is not lost",
        "failed write": "after a failed write, nothing is held that is not in the durable state",
        "held equals bindings": "the devices that count as held are those of the bindings",
        "held equals rows": "the device manager and its database hold the same",
        "nothing reserved at rest": "no reservation outlives its admission (transactional)",
        "refused holds nothing": "a refused pod holds no device (transactional)",
        "slots agree": "the fast count of devices in use is the slow one",
    }
)
"""What must always hold, by name (persistence-designs 3.4, and Rebind's own promises)."""
