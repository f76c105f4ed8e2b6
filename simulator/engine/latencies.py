"""The periods and delays of a simulated cluster, in one place.

Those of the kubelet and its friends carry their source; the others are chosen small and round so
that transcripts are readable. Nothing here is random: two events whose order is a race in a real
cluster have a fixed order here, and a scenario chooses the other one by its own delays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from simulator.core.instants import MILLISECOND, SECOND, Duration

FIRST_BATCH_DELAY: Final = Duration(200 * MILLISECOND)
"""From the start of the device manager to the first batch of pods (S5.2, S5.3). A plugin that
registers again sooner wins the race against the batch, a later one loses it."""

STATIC_BATCH_DELAY: Final = Duration(100 * MILLISECOND)
"""From the start of the device manager to the static pods, which need no API server (S5.3)."""

REGISTER_LATENCY: Final = Duration(2 * MILLISECOND)
"""From a plugin's Register call to the answer: dial and GetDevicePluginOptions (S1.12)."""

LIST_LATENCY: Final = Duration(MILLISECOND)
"""From opening a ListAndWatch stream to its first message."""

NODE_STATUS_PERIOD: Final = Duration(10 * SECOND)
"""How often the kubelet computes the node status (S2.15; its jitter of 4 % is left out)."""

HOUSEKEEPING_PERIOD: Final = Duration(2 * SECOND)
"""How often the kubelet looks for orphans (S5.10)."""

ORPHAN_GRACE: Final = Duration(SECOND)
"""Grace period with which an orphan, or a pod deleted by force, is killed (S5.10)."""

RELIST_PERIOD: Final = Duration(SECOND)
"""How often the kubelet asks the runtime what has exited (PLEG)."""

SYNC_BACK_OFF: Final = Duration(10 * SECOND)
"""After a failed pod sync the kubelet waits so long before the next one (S3.25)."""

TERMINATION_SYNC: Final = Duration(100 * MILLISECOND)
"""How long the termination of a pod without containers takes a pod worker (S6.5a)."""

PANIC_RESTART_DELAY: Final = Duration(10 * SECOND)
"""After a crash the service manager starts the kubelet again (RestartSec of kubeadm's unit)."""

CONTAINER_START: Final = Duration(50 * MILLISECOND)
"""From the run options to the running process."""

INIT_CONTAINER_RUN: Final = Duration(100 * MILLISECOND)
"""How long a plain init container runs."""

WATCH_DELAY: Final = Duration(5 * MILLISECOND)
"""From a change in the API server to its arrival at a watcher."""

API_REQUEST: Final = Duration(5 * MILLISECOND)
"""One request of a kubelet to the API server, where a run says nothing else."""

GATE_BACK_OFF: Final = Duration(SECOND)
"""From a request that holds up the start of a pod and failed to the next attempt."""

LIST_RETRY: Final = Duration(SECOND)
"""From a LIST, or a write that is owed to the API, that failed to the next attempt (client-go backs
off from 800 ms)."""

STATUS_TICK: Final = Duration(10 * SECOND)
"""How often the status manager tries again what has failed (S12.3)."""

NODE_STATUS_REPORT: Final = Duration(300 * SECOND)
"""How often an unchanged node status is reported (S12.6)."""

SCHEDULING: Final = Duration(10 * MILLISECOND)
"""From a pod that wants a node to its binding."""

NODE_MONITOR_GRACE: Final = Duration(40 * SECOND)
"""Without a heartbeat for so long a node is not ready and gets no pods (S12.6)."""


@dataclass(frozen=True, slots=True)
class Delays:
    """The delays above that stand for others than the kubelet and its device manager.

    A benchmark on the real clock leaves them out, so that it measures how state is kept.
    """

    watch: Duration = WATCH_DELAY
    container_start: Duration = CONTAINER_START
    termination_sync: Duration = TERMINATION_SYNC


USUAL_DELAYS: Final = Delays()
NO_DELAYS: Final = Delays(Duration(0), Duration(0), Duration(0))
"""All of them left out."""
