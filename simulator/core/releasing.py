"""When pods that are no longer active give their devices back (S6).

Nothing else frees devices: not the end of a pod, not a plugin's message (S6.2).
"""

from __future__ import annotations

from simulator.core.behavior import Reservations
from simulator.core.calls import StoreDecision
from simulator.core.manager_state import ManagerState
from simulator.core.pods import PodUid
from simulator.core.records import DevicesReleased
from simulator.core.refusals import Refusal


def release_inactive(state: ManagerState) -> StoreDecision[tuple[PodUid, ...] | Refusal]:
    """Drop the records of pods that are not active, if all sources are ready (S6.1).

    Where releases are kept durably they are acknowledged before a device can be given again; when
    that fails the records stay.

    Returns:
        The pods, in order of leaving; or why their release could not be made durable.

    Kubelet: UpdateAllocatedDevices.
    """
    if not state.facts.sources_ready:
        return ()
    gone = state.pod_devices.inactive(state.facts.active_pods)
    if not gone:
        return ()
    refusal = yield from state.persistence.on_released(state, gone)
    if refusal is not None:
        return refusal
    released = tuple(pod for pod in gone if pod in state.pod_devices)
    for pod in released:
        state.pod_devices.remove_pod(pod)
    if state.reservations is Reservations.UPSTREAM:
        state.inventory.rebuild()
    if released:
        state.records.append(DevicesReleased(released))
    return released
