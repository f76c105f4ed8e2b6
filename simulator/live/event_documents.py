"""Events as the API has them."""

from __future__ import annotations

from simulator.api.dialect.documents import Object, timestamp
from simulator.core.instants import Instant
from simulator.core.records import EventEmitted
from simulator.core.transitions import NodeName, PodIdentity


def event_name(node: NodeName, pod: PodIdentity | None, number: int) -> str:
    """Return the name of an event: what it is about, and a number."""
    about = node if pod is None else pod.name or pod.uid
    return f"{about}.{number:016x}"


def event_namespace(pod: PodIdentity | None) -> str:
    """Return where an event is listed; those about nodes are in `default`."""
    return (pod.namespace if pod is not None else "") or "default"


def event_document(  # noqa: PLR0913 - the parts of an event, by keyword
    emitted: EventEmitted,
    *,
    name: str,
    node: NodeName,
    pod: PodIdentity | None,
    first: Instant,
    last: Instant,
    count: int = 1,
) -> Object:
    """Return a `v1` Event.

    Args:
        emitted: What it says.
        name: Its name.
        node: Whose kubelet says it; empty for the scheduler.
        pod: What it is about; None for the node.
        first: When it came first.
        last: When it came last.
        count: How often it came.
    """
    namespace = event_namespace(pod)
    about: Object = {"kind": "Node", "name": node, "uid": node}
    if pod is not None:
        about = {
            "apiVersion": "v1",
            "kind": "Pod",
            "namespace": namespace,
            "name": pod.name,
            "uid": pod.uid,
        }
    component = "kubelet" if node else "default-scheduler"
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": name, "namespace": namespace},
        "involvedObject": about,
        "type": emitted.severity,
        "reason": emitted.reason,
        "message": emitted.message,
        "source": {"component": component, "host": node},
        "count": count,
        "firstTimestamp": timestamp(first),
        "lastTimestamp": timestamp(last),
    }
