"""A resource's endpoint: is its plugin there, which calls does it want, when is it given up.

State only; calls to the plugin are the driver's. Kubelet: endpointInfo (devicemanager/endpoint.go).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from simulator.core.instants import SECOND, Duration, Instant

DIAL_TIMEOUT: Final = Duration(10 * SECOND)
"""How long a kubelet waits for a plugin to take its connection (S1.12.5, S1.33)."""

PRE_START_TIMEOUT: Final = Duration(30 * SECOND)
"""How long PreStartContainer may take, the one call with a limit (S1.5, S1.26)."""


@dataclass(frozen=True, slots=True)
class PluginOptions:
    """What a plugin answered to GetDevicePluginOptions (S1.4).

    Attributes:
        pre_start_required: PreStartContainer is called before every container start (S1.26).
        preferred_allocation: GetPreferredAllocation is called before a choice (S1.25).
    """

    pre_start_required: bool = False
    preferred_allocation: bool = False


@dataclass(slots=True)
class Endpoint:
    """One resource's endpoint.

    Attributes:
        registration: Tells this endpoint from earlier ones of the same resource; 0 for one that
            was restored.
        options: None when restored from the durable state; such a plugin gets no optional calls
            until it registers again (S3.26).
        stopped_at: When the plugin went away, or when a restored endpoint was restored (S2.8).
    """

    registration: int
    options: PluginOptions | None
    stopped_at: Instant | None = None

    @property
    def is_stopped(self) -> bool:
        """Whether calls fail without being sent (S1.27)."""
        return self.stopped_at is not None

    def is_expired(self, now: Instant, grace_period: Duration) -> bool:
        """Tell whether the plugin was away for strictly longer than the grace period (S2.5)."""
        return self.stopped_at is not None and now - self.stopped_at > grace_period
