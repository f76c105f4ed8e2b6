"""Device bindings that are kept in the API: what is learned from it, and what waits for it.

A kubelet whose strategy keeps no file knows its devices from the API: nothing is admitted before
the pods were listed, and no container starts before its devices are where the strategy wants them.
"""

from __future__ import annotations

from collections.abc import Sequence

from simulator.core.calls import StoreDecision
from simulator.core.instants import Duration
from simulator.core.manager_state import ManagerState
from simulator.core.persistence.protocol import StartDelayed
from simulator.core.pods import Pod, PodUid
from simulator.core.records import DevicesReleased
from simulator.core.refusals import ADMITTED, Admission, refused
from simulator.core.transitions import DeviceBinding


class ApiBacking:
    """What of a device manager has to do with the API server; nothing, under most strategies."""

    def __init__(self, state: ManagerState) -> None:
        self._state = state

    def pods_listed(self, pods: Sequence[Pod]) -> StoreDecision[str]:
        """Learn from the first LIST what the API says of the devices of the pods in it.

        Their resources have a stopped endpoint from here on, as if they were restored (S2.8),
        unless their plugins have come already.

        Args:
            pods: All that are about to be admitted; none is before this is through.

        Returns:
            Why the API could not be asked for all of it; asked again, it may be. Empty on success.
        """
        state = self._state
        listed = yield from state.persistence.on_pods_listed(state, pods)
        if listed.error:
            return listed.error
        outdated = tuple(pod for pod in listed.outdated if pod in state.pod_devices)
        for pod in outdated:
            state.pod_devices.remove_pod(pod)
        if outdated:
            state.note(DevicesReleased(outdated))
        for binding in listed.bindings:
            if binding.resource not in state.inventory.endpoints:
                state.inventory.restore(binding.resource, state.now)
            state.pod_devices.insert(binding, state.facts.active_pods)
        return ""

    def before_start(self, pod: Pod) -> StoreDecision[Admission]:
        """Have in the API what must be there before the first container of a pod starts.

        Several pods may be at it at once. A refused pod fails as a refused admission does; with
        `retry` it waits, holding its devices, and the same is asked again.
        """
        state = self._state
        gate = yield from state.persistence.before_start(state, pod)
        if gate is None:
            return ADMITTED
        if isinstance(gate, StartDelayed):
            return Admission(admitted=False, message=gate.message, retry=True)
        return refused(gate, state.behavior)

    def owe_nothing(self, pod: PodUid) -> None:
        """Tell the API nothing more of a pod that is refused although it was admitted here (S5.8).

        It has its records until it is released, but never used them.
        """
        self._state.persistence.owe_nothing(pod)

    @property
    def flush_period(self) -> Duration | None:
        """How often `flush` is due while something is owed; 0 for at once, None for never."""
        return self._state.persistence.flush_period

    @property
    def is_owed(self) -> bool:
        """Whether `flush` has something to write."""
        return self._state.persistence.owes_api

    def flush(self) -> StoreDecision[bool]:
        """Write to the API what is owed to it; one call of it at a time.

        Returns:
            Whether the API server answered; if not, the rest is still owed.
        """
        return self._state.persistence.on_tick(self._state)

    def status_devices(self, pod: PodUid) -> tuple[DeviceBinding, ...]:
        """Return what the pod's status is to say of its devices (`pod-status`)."""
        return tuple(self._state.persistence.status_devices(self._state, pod))
