"""Which states a pod is in, apart from what its messages say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from simulator.core.diagnosis import state_entries as entries
from simulator.core.diagnosis.known import Known
from simulator.core.diagnosis.observed import ObservedPod
from simulator.core.diagnosis.pod_facts import requests_text
from simulator.core.pods import ContainerKind, ContainerName
from simulator.core.resources import ResourceName

Held = Mapping[tuple[ContainerName, ResourceName], int]
"""How many devices a pod holds, by container and resource."""

State = tuple[Known, tuple[str, ...]]
"""An entry, and what this pod adds to its reason."""


def states(pod: ObservedPod, held: Held | None, *, explained: bool) -> Iterator[State]:
    """Return the states of a pod that are worth telling.

    Args:
        pod: The pod.
        held: What the checkpoint file says that it holds; None without a file.
        explained: Whether a message was found; then what merely follows from it is left out.
    """
    if pod.deleting:
        yield entries.TERMINATING, ()
    if pod.resize_pending:
        yield entries.RESIZE_PENDING, ()
    if pod.phase == "Running":
        yield from _running(pod, held)
    elif pod.phase == "Succeeded":
        yield entries.COMPLETED, _wanted(pod)
    elif explained:
        return
    elif not pod.wants_devices():
        yield entries.NO_DEVICES_WANTED, ()
    elif pod.phase == "Pending":
        yield _pending(pod)
    elif pod.phase == "Failed":
        yield entries.ENDED_BY_ITSELF, _exits(pod)
    else:
        yield entries.PHASE_UNKNOWN, _wanted(pod)


def _wanted(pod: ObservedPod) -> tuple[str, ...]:
    text = requests_text(pod)
    return (f"In this pod {text}.",) if text else ()


def _pending(pod: ObservedPod) -> State:
    if not pod.node:
        return entries.UNSCHEDULED, _wanted(pod)
    prepared = any(container.state for container in pod.containers)
    return (entries.STARTING if prepared else entries.NOT_ADMITTED_YET), _wanted(pod)


def _exits(pod: ObservedPod) -> tuple[str, ...]:
    return tuple(
        f"Container {container.name} ended with exit code {container.exit_code}"
        f"{f' ({container.reason})' if container.reason else ''}."
        for container in pod.containers
        if container.exit_code
    )


def _running(pod: ObservedPod, held: Held | None) -> Iterator[State]:
    if not pod.wants_devices():
        yield entries.NO_DEVICES_WANTED, ()
        return
    shown = _shown(pod)
    counts = held if held is not None else shown
    lacking = () if counts is None else tuple(_lacking(pod, counts))
    if counts is None:
        yield entries.RUNS_UNPROVEN, _wanted(pod)
    elif lacking:
        yield entries.RUNS_WITHOUT_DEVICES, lacking
    else:
        yield entries.RUNS_WITH_DEVICES, _wanted(pod)
    sick = tuple(
        f"Container {container.name} holds {device.device} of {device.resource}: {device.health}."
        for container in pod.containers
        for device in container.devices
        if device.health != "Healthy"
    )
    if sick:
        yield entries.DEVICE_UNHEALTHY, sick
    yield from _risks(pod)


def _shown(pod: ObservedPod) -> Held | None:
    """Count the devices in the status; None when it names none, as before 1.36 (S9.1)."""
    counts: dict[tuple[ContainerName, ResourceName], int] = {}
    for container in pod.containers:
        for device in container.devices:
            key = (container.name, device.resource)
            counts[key] = counts.get(key, 0) + 1
    return counts or None


def _lacking(pod: ObservedPod, counts: Held) -> Iterator[str]:
    for container, resource, wanted in pod.requests():
        if container.kind is not ContainerKind.REGULAR:
            # Init containers stand in no status, and hand their devices on.
            continue
        held = counts.get((container.name, resource), 0)
        if held < wanted:
            yield f"Container {container.name} wants {wanted} {resource} and holds {held}."


def _risks(pod: ObservedPod) -> Iterator[State]:
    finished = tuple(
        f"Init container {container.name} wants {count} {resource}."
        for container, resource, count in pod.requests()
        if container.kind is ContainerKind.INIT and count
    )
    if finished:
        yield entries.FINISHED_INIT_HOLDS, finished
    restarted = {
        container.name: f"Container {container.name} was restarted {container.restarts} times."
        for container, _, count in pod.requests()
        if count and container.restarts and container.kind is not ContainerKind.INIT
    }
    if restarted:
        yield entries.RESTARTED_BEFORE, tuple(restarted.values())
