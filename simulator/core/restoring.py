"""How a device manager begins: from what was kept, or from nothing (S2.8, S4.12)."""

from __future__ import annotations

from simulator.core.calls import StoreDecision
from simulator.core.manager_state import ManagerState
from simulator.core.persistence.protocol import Restored
from simulator.core.records import ManagerStarted


def restore(state: ManagerState) -> StoreDecision[Restored]:
    """Load what was kept and take the runtime's snapshot (S5.5).

    Every binding is in use from here on (S5.13); every registered resource has a stopped endpoint,
    so its plugin has the grace period to come back. With a fatal error nothing is restored and the
    kubelet must not go on.

    Kubelet: Start, readCheckpoint.
    """
    for instance in state.facts.instances:
        key = (instance.pod, instance.container)
        state.instances.setdefault(key, []).append((instance.container_id, instance.running))
    restored = yield from state.persistence.load(state)
    for binding in restored.bindings:
        state.pod_devices.insert(binding, state.facts.active_pods)
    for resource in restored.registered:
        state.inventory.restore(resource, state.now)
    state.note(
        ManagerStarted(
            source=restored.source,
            bindings=len(restored.bindings),
            skipped=restored.skipped,
            error=restored.error,
            held=tuple(state.pod_devices.held()),
            registered=restored.registered,
        )
    )
    return restored
