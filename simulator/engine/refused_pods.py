"""What becomes of a pod that its kubelet refuses (S5.9, S13.1)."""

from __future__ import annotations

from dataclasses import replace

from simulator.core.records import EventEmitted
from simulator.core.refusals import Admission
from simulator.engine.api_objects import FAILED
from simulator.engine.kubelet_parts import KubeletParts
from simulator.engine.local_pods import LocalPod, Stage


def fail_refused(parts: KubeletParts, local: LocalPod, admission: Admission) -> None:
    """Fail a pod for good: an event with the reason, and the same in its status."""
    parts.pods.move(local, Stage.REJECTED)
    parts.manager.api.owe_nothing(local.uid)
    parts.host.emit(EventEmitted("Warning", admission.reason, admission.message, local.uid))
    parts.statuses.set(
        local,
        replace(
            local.status,
            phase=FAILED,
            reason=admission.reason,
            message=f"{parts.behavior.rejected_status_prefix}{admission.message}",
            waiting="",
        ),
    )
