"""What kubelets have asked of a plugin, counted."""

from __future__ import annotations

from simulator.core.calls import AllocateCall, PluginCall
from simulator.core.pods import PodUid


class CallCounts:
    """The calls that a plugin has received since the last `forget`.

    Args:
        pods_max: Of so many pods, the latest, Allocate calls are counted apart; None for all.

    Attributes:
        by_rpc: All of them, by RPC name.
        by_pod: Allocate calls among them.
    """

    def __init__(self, pods_max: int | None = None) -> None:
        self.by_rpc: dict[str, int] = {}
        self.by_pod: dict[PodUid, int] = {}
        self._pods_max = pods_max

    def note(self, call: PluginCall) -> None:
        """Count a call."""
        self.by_rpc[call.rpc] = self.by_rpc.get(call.rpc, 0) + 1
        if isinstance(call, AllocateCall):
            self.by_pod[call.pod] = self.by_pod.get(call.pod, 0) + 1
            if self._pods_max is not None and len(self.by_pod) > self._pods_max:
                del self.by_pod[next(iter(self.by_pod))]

    def forget(self) -> None:
        """Count calls from now on."""
        self.by_rpc.clear()
        self.by_pod.clear()

    def forget_pod(self, pod: PodUid) -> None:
        """Know nothing of a pod any more."""
        self.by_pod.pop(pod, None)
