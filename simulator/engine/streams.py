"""Named streams of chance, all from one seed, and the choices that draw from them.

A stream depends on the seed and its name alone: adding a draw in one place does not change what is
drawn in another, and hash randomization has no part in it.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from typing import Final

from simulator.core.devices import DeviceId, NumaNode
from simulator.core.pods import ContainerName, PodUid
from simulator.core.resources import ResourceName

_SEED_SIZE: Final = 16


class RandomStreams:
    """The streams of one run."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._streams: dict[str, random.Random] = {}

    def stream(self, name: str) -> random.Random:
        """Return the stream of this name; the same one each time."""
        stream = self._streams.get(name)
        if stream is None:
            stream = random.Random(self.number(name))  # noqa: S311 - repeatable chance is the point
            self._streams[name] = stream
        return stream

    def number(self, name: str) -> int:
        """Return a 128-bit number that depends on the seed and `name` alone."""
        digest = hashlib.sha256(f"{self._seed}/{name}".encode()).digest()
        return int.from_bytes(digest[:_SEED_SIZE])


class RandomChoices:
    """Choices as the real kubelet makes them, by chance, from one stream (`choice: random`)."""

    def __init__(self, stream: random.Random) -> None:
        self._stream = stream

    def order_resources(
        self, pod: PodUid, container: ContainerName, resources: Sequence[ResourceName]
    ) -> Sequence[ResourceName]:
        """Return the resources in random order."""
        del pod, container
        return self._stream.sample(sorted(resources), len(resources))

    def take(
        self,
        tier: Sequence[DeviceId],
        count: int,
        *,
        pod: PodUid,
        container: ContainerName,
        resource: ResourceName,
    ) -> Sequence[DeviceId]:
        """Return `count` random ids."""
        del pod, container, resource
        return self._stream.sample(tier, count)

    def order_nodes(
        self,
        nodes: Sequence[NumaNode],
        *,
        pod: PodUid,
        container: ContainerName,
        resource: ResourceName,
    ) -> Sequence[NumaNode]:
        """Return the nodes in random order."""
        del pod, container, resource
        return self._stream.sample(nodes, len(nodes))

    def pick_instance(
        self,
        pod: PodUid,
        container: ContainerName,
        resource: ResourceName,
        instances: Sequence[tuple[str, bool]],
    ) -> int:
        """Return a random index."""
        del pod, container, resource
        return self._stream.randrange(len(instances))
