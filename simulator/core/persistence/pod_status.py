"""The strategy `pod-status`: device ids ride in the pod's status, beside the checkpoint file (P4).

The file is what counts; the ids in the status are for readers, and no call is made for them: the
status is patched anyhow when a pod is admitted. No kubelet reads them back.

`containerStatuses[].allocatedResourcesStatus` is what became of it (persistence-designs 1.4, 5.2).
"""

from __future__ import annotations

from collections.abc import Sequence

from typing_extensions import override

from simulator.core.persistence.checkpoint import CheckpointPersistence
from simulator.core.persistence.protocol import ManagerView
from simulator.core.pods import PodUid
from simulator.core.transitions import DeviceBinding


class PodStatusPersistence(CheckpointPersistence):
    """Writes the file, and says in the status of a pod what it has."""

    @property
    @override
    def name(self) -> str:
        return "pod-status"

    @override
    def status_devices(self, view: ManagerView, pod: PodUid) -> Sequence[DeviceBinding]:
        """Say all that the pod holds now."""
        return view.pod_bindings(pod)
