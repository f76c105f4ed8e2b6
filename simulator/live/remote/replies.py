"""What answers of a real API server mean for a kubelet."""

from __future__ import annotations

from typing import Final

from simulator.api.client.http import Answer, causes_name_uid, revision_of
from simulator.core.api_calls import ApiRefused, ApiStored, ApiUnavailable

NOT_FOUND: Final = 404


def told(answer: Answer, *, of_pod: bool = True) -> ApiStored | ApiRefused | ApiUnavailable:
    """Return what an answer means for a kubelet.

    Args:
        answer: The answer.
        of_pod: Whether it is about a pod, so that 404 means that the pod has gone.
    """
    if answer.is_unavailable:
        return ApiUnavailable(answer.message)
    if answer.is_refused:
        gone = of_pod and (answer.code == NOT_FOUND or causes_name_uid(answer.document))
        return ApiRefused(answer.code, answer.reason, answer.message, gone=gone)
    return ApiStored(revision_of(answer.document))
