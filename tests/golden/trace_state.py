"""The device manager's state in the words of the recordings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from simulator.core.behavior import CheckpointFormat
from simulator.core.checkpoint.bindings import read_bindings
from simulator.core.checkpoint.parse import parse
from simulator.core.devices import NumaNode
from simulator.core.records import HealthUpdated, Record, TopologyMerged
from simulator.core.resources import ResourceName
from simulator.core.run_options import DeviceRunContainerOptions
from simulator.core.snapshot import IdsByResource, ManagerSnapshot
from simulator.core.topology import Hints, TopologyHint
from simulator.core.transitions import DeviceBinding
from tests.golden.trace_reading import Json

_ENDPOINT_DUMP = re.compile(r"endpoint &\{([^}]*)\} has been stopped")


def state(seen: ManagerSnapshot) -> dict[str, object]:
    """Describe what the device manager knows."""
    return {
        "healthy": _lists(seen.healthy),
        "unhealthy": _lists(seen.unhealthy),
        "allocated": _lists(seen.allocated),
        "pod_devices": bindings(seen.bindings),
        "endpoints": dict(seen.endpoints),
        "devices_to_reuse": {}
        if seen.reusable is None
        else {seen.reusable[0]: _lists(seen.reusable[1])},
        "all_devices": {resource: sorted(listed) for resource, listed in seen.listed.items()},
    }


def checkpoint(content: bytes | None, formats: Iterable[CheckpointFormat]) -> dict[str, object]:
    """Describe the file on disk."""
    if content is None:
        return {
            "checkpoint_exists": False,
            "checkpoint_pod_devices": None,
            "checkpoint_registered": None,
        }
    read = parse(content, frozenset(formats))
    return {
        "checkpoint_exists": True,
        "checkpoint_pod_devices": bindings(read_bindings(read, lenient=True).bindings),
        "checkpoint_registered": {
            resource: sorted(ids or ()) for resource, ids in (read.registered or {}).items()
        },
    }


def bindings(held: Iterable[DeviceBinding]) -> dict[str, dict[str, dict[str, object]]]:
    """Describe bindings as pod, container, resource, NUMA node and ids."""
    described: dict[str, dict[str, dict[str, object]]] = {}
    for binding in held:
        described.setdefault(binding.pod, {}).setdefault(binding.container, {})[
            binding.resource
        ] = {str(node): sorted(ids) for node, ids in binding.devices.items()}
    return described


def hint(given: TopologyHint | None) -> Json:
    """Describe a hint; none is Go's zero value."""
    if given is None:
        return {"numa_mask": None, "preferred": False}
    return {"numa_mask": _nodes(given.affinity), "preferred": given.preferred}


def hints(given: Mapping[ResourceName, Hints]) -> Json:
    """Describe the hints of one container or pod."""
    return {
        resource: None if found is None else [hint(each) for each in found]
        for resource, found in given.items()
    }


def merged_hints(records: Iterable[Record]) -> Json:
    """Describe the hints that were merged in a step."""
    return {
        record.container or "<pod>": {
            resource: None
            if found is None
            else [
                {"numa_mask": _nodes(affinity), "preferred": preferred}
                for affinity, preferred in found
            ]
            for resource, found in record.hints
        }
        for record in records
        if isinstance(record, TopologyMerged)
    }


def health_updates(records: Iterable[Record]) -> list[list[str]]:
    """Describe the messages on the update channel."""
    return [sorted(record.pods) for record in records if isinstance(record, HealthUpdated)]


def run_options(options: DeviceRunContainerOptions | None) -> Json | None:
    """Describe what a container is started with."""
    if options is None:
        return None
    return {
        "envs": dict(options.envs),
        "annotations": dict(options.annotations),
        "cdi_devices": sorted(options.cdi_devices),
        "devices": sorted(
            f"{each.host_path}|{each.container_path}|{each.permissions}" for each in options.devices
        ),
        "mounts": sorted(
            f"{each.container_path}|{each.host_path}|{each.container_path}"
            f"|ro={str(each.read_only).lower()}"
            for each in options.mounts
        ),
    }


def text(error: str) -> str | None:
    """Return an error text as recordings have it; None for none."""
    return _ENDPOINT_DUMP.sub("endpoint <E> has been stopped", error) or None


def stopped_resource(error: str) -> str | None:
    """Return the resource whose endpoint has been stopped, if the error is about that."""
    found = _ENDPOINT_DUMP.search(error)
    return None if found is None else found[1]


def _nodes(nodes: tuple[NumaNode, ...] | None) -> list[int] | None:
    return None if nodes is None else list(nodes)


def _lists(ids: IdsByResource) -> dict[str, list[str]]:
    return {resource: sorted(found) for resource, found in ids.items()}
