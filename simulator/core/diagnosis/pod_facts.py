"""What a pod's own status adds to the reason of its refusal."""

from __future__ import annotations

from collections.abc import Iterator

from simulator.core.diagnosis.observed import ObservedPod
from simulator.core.pods import ContainerKind


def about(pod: ObservedPod, resource: str, source: str) -> tuple[str, ...]:
    """Return sentences about the pod.

    Args:
        pod: The pod.
        resource: The resource that the message names; empty for none.
        source: Where the message stands.
    """
    refused = source == "status" and pod.phase == "Failed"
    return (
        *_requests(pod, resource),
        *((_history(pod),) if refused else ()),
        *((_aftermath(pod),) if refused else ()),
    )


def requests_text(pod: ObservedPod, resource: str = "") -> str:
    """Return e.g. `container app wants 2 example.com/gpu`; empty when nothing is wanted."""
    return ", ".join(
        f"{_kind(container.kind)} {container.name} wants {count} {name}"
        for container, name, count in pod.requests()
        if resource in {"", name}
    )


def _requests(pod: ObservedPod, resource: str) -> Iterator[str]:
    text = requests_text(pod, resource)
    if text:
        yield f"In this pod {text}."
    elif resource:
        yield f"In this pod no container wants {resource}."


def _kind(kind: ContainerKind) -> str:
    return {
        ContainerKind.INIT: "init container",
        ContainerKind.SIDECAR: "sidecar",
        ContainerKind.REGULAR: "container",
    }[kind]


def _history(pod: ObservedPod) -> str:
    """Tell the two occasions apart, where the status can: a refusal may empty it (S13.1)."""
    if pod.has_begun():
        return (
            "Its containers had run before: it was refused when the kubelet admitted it again, "
            "after a kubelet restart or a reboot."
        )
    since = f", {pod.started}," if pod.started else ""
    return (
        "Its status shows no container that ran, but a refusal takes these out of the status: "
        "either it was refused at its first admission, or it had run and was refused after a "
        f"kubelet restart or a reboot. The latter if its startTime{since} is long before the "
        "refusal."
    )


def _aftermath(pod: ObservedPod) -> str:
    """Say what becomes of it (S5.11, S13.5, R12)."""
    if pod.owner:
        return (
            f"The refusal is final for this pod; its {pod.owner} makes another one, and this "
            "object stays until somebody deletes it."
        )
    return (
        "The refusal is final, and it is a bare pod: nothing makes another one. Keep its manifest "
        "before you delete it."
    )
