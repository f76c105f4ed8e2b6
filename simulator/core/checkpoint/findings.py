"""What is odd about a checkpoint that a kubelet nevertheless accepts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from simulator.core import allocate_response
from simulator.core.checkpoint.bindings import read_bindings
from simulator.core.checkpoint.render import render
from simulator.core.checkpoint.values import Checkpoint, CheckpointEntry
from simulator.core.devices import DeviceId, device_ids
from simulator.core.pods import PodUid
from simulator.core.resources import ResourceName


class Oddity(Enum):
    """Kinds of findings."""

    HELD_BY_TWO_PODS = "heldByTwoPods"
    RESOURCE_NOT_REGISTERED = "resourceNotRegistered"
    DEVICE_NOT_HEALTHY = "deviceNotHealthy"
    ENTRY_SKIPPED = "entrySkipped"
    ENTRY_REPEATED = "entryRepeated"
    BYTES_DIFFER = "bytesDiffer"


@dataclass(frozen=True, slots=True)
class Finding:
    """One odd thing.

    Attributes:
        message: One line: what was found and what a kubelet makes of it.
    """

    oddity: Oddity
    message: str


def findings(checkpoint: Checkpoint, content: bytes) -> tuple[Finding, ...]:
    """Return all that is odd about a checkpoint, in a fixed order.

    Args:
        checkpoint: What the file says.
        content: Its bytes.
    """
    return (
        *_skipped(checkpoint),
        *_repeated(checkpoint),
        *_held_twice(checkpoint),
        *_not_registered(checkpoint),
        *_written_differently(checkpoint, content),
    )


def _skipped(checkpoint: Checkpoint) -> Iterator[Finding]:
    for entry in checkpoint.entries or ():
        response = entry.response or b""
        newer = allocate_response.is_decodable(response, lenient=True)
        older = allocate_response.is_decodable(response, lenient=False)
        if not (newer and older):
            who = {
                (False, False): "every kubelet skips",
                (False, True): "kubelets of the time of 1.36 skip",
                (True, False): "kubelets up to the time of 1.32 skip",
            }[newer, older]
            yield Finding(
                Oddity.ENTRY_SKIPPED,
                f"the response of {_named(entry)} cannot be decoded: {who} the entry",
            )


def _repeated(checkpoint: Checkpoint) -> Iterator[Finding]:
    for entry in read_bindings(checkpoint, lenient=True).repeated:
        yield Finding(
            Oddity.ENTRY_REPEATED, f"{_named(entry)} stands more than once: the last entry counts"
        )


def _held_twice(checkpoint: Checkpoint) -> Iterator[Finding]:
    holders: dict[tuple[ResourceName, DeviceId], dict[PodUid, None]] = {}
    for binding in read_bindings(checkpoint, lenient=True).bindings:
        for device in device_ids(binding.devices):
            holders.setdefault((binding.resource, device), {})[binding.pod] = None
    for (resource, device), pods in holders.items():
        if len(pods) > 1:
            yield Finding(
                Oddity.HELD_BY_TWO_PODS,
                f"device {device} of {resource} is held by {len(pods)} pods: {', '.join(pods)}",
            )


def _not_registered(checkpoint: Checkpoint) -> Iterator[Finding]:
    registered = checkpoint.registered or {}
    absent: dict[ResourceName, dict[DeviceId, None]] = {}
    for binding in read_bindings(checkpoint, lenient=True).bindings:
        ids = device_ids(binding.devices)
        known = frozenset(registered.get(binding.resource) or ())
        absent.setdefault(binding.resource, {}).update(
            dict.fromkeys(device for device in ids if device not in known)
        )
    for resource, devices in absent.items():
        named = ", ".join(devices)
        if resource not in registered:
            yield Finding(
                Oddity.RESOURCE_NOT_REGISTERED,
                f"devices of {resource} are held, but the resource is not registered: "
                f"{named or 'none'}",
            )
        elif devices:
            yield Finding(
                Oddity.DEVICE_NOT_HEALTHY,
                f"held, but not among the healthy devices of {resource}: {named}",
            )


def _written_differently(checkpoint: Checkpoint, content: bytes) -> Iterator[Finding]:
    if all(render(checkpoint, legacy_escapes=legacy) != content for legacy in (False, True)):
        yield Finding(
            Oddity.BYTES_DIFFER,
            "not byte for byte what a kubelet writes (spaces, order of keys, or unknown fields)",
        )


def _named(entry: CheckpointEntry) -> str:
    return f"pod {entry.pod}, container {entry.container}, resource {entry.resource}"
