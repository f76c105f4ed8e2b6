"""What a checkpoint file says about the pods that it names only by uid."""

from __future__ import annotations

from simulator.core.behavior import CheckpointFormat
from simulator.core.checkpoint.bindings import read_bindings
from simulator.core.checkpoint.parse import parse
from simulator.core.devices import device_ids
from simulator.core.pods import Container, ContainerName, PodUid
from simulator.core.resources import ResourceName


def pods_of_checkpoint(content: bytes) -> dict[PodUid, tuple[Container, ...]]:
    """Return the pods of a checkpoint in file order, with containers that ask for what they hold.

    Raises:
        CheckpointError: The file cannot be read in any format.
    """
    limits: dict[PodUid, dict[ContainerName, list[tuple[ResourceName, int]]]] = {}
    for binding in read_bindings(parse(content, tuple(CheckpointFormat)), lenient=True).bindings:
        containers = limits.setdefault(binding.pod, {})
        count = len(device_ids(binding.devices))
        containers.setdefault(binding.container, []).append((binding.resource, count))
    return {
        pod: tuple(Container(name, tuple(counts)) for name, counts in containers.items())
        for pod, containers in limits.items()
    }
