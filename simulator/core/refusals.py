"""Why a container or pod is not admitted, as values, and the one place where they become words.

The texts are the kubelet's own, since users and operators match on them (S3, S13).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

UNEXPECTED_ADMISSION_ERROR: Final = "UnexpectedAdmissionError"
TOPOLOGY_AFFINITY_ERROR: Final = "TopologyAffinityError"


@dataclass(frozen=True, slots=True)
class Admission:
    """The answer to a pod (PodAdmitResult).

    Attributes:
        admitted: Whether the pod may start.
        reason: The kubelet's reason, e.g. `UnexpectedAdmissionError`; empty when admitted.
        message: The kubelet's message without the status prefix; empty when admitted.
        retry: Whether the driver asks again when the plugin reports devices; only under
            `readmission: wait`, which no kubelet does (S13.5).
    """

    admitted: bool
    reason: str = ""
    message: str = ""
    retry: bool = False


ADMITTED: Final = Admission(admitted=True)
