"""Making the rows say what the file says, pod by pod; the rest of the node's rows stays."""

from __future__ import annotations

from simulator.core.calls import Commit, Conflict, KeepingReply, StoreDecision, StoreFailed
from simulator.core.instants import Instant
from simulator.core.migration.agreement import Agreement, pods_of
from simulator.core.transitions import (
    DevicesReported,
    NodeName,
    PodAdmitted,
    PodIdentity,
    PodsReleased,
    ResourceRemoved,
    Transition,
)


def repair_rows(node: NodeName, now: Instant, found: Agreement) -> StoreDecision[str]:
    """End what only the rows have and add what only the file has; return an error, or nothing.

    Each pod that differs is released and admitted again with all that the file says. Broken off,
    the next comparison finds the rest.
    """
    apart = dict.fromkeys(pod for pod, _, _ in found.differing)
    ends: list[Transition] = [PodsReleased(node, now, tuple(apart))] if apart else []
    ends += [ResourceRemoved(node, now, resource) for resource in found.only_in_rows]
    ends += [DevicesReported(node, now, resource, ()) for resource in found.only_in_file]
    error = _error((yield Commit(tuple(ends)))) if ends else ""
    for pod in pods_of(found.bindings):
        if pod in apart and not error:
            bindings = tuple(binding for binding in found.bindings if binding.pod == pod)
            admitted = PodAdmitted(node, now, PodIdentity(pod), bindings)
            error = _error((yield Commit((admitted,))))
    return error


def _error(reply: KeepingReply) -> str:
    return reply.message if isinstance(reply, StoreFailed | Conflict) else ""
