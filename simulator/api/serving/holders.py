"""Which pod has which device, where no two pods of a node may have the same: an option.

Kubernetes has nothing of the kind; the review of 2018 asked for it. Devices that a binding on its
way to the disk names count as held, so that of two bindings at once the second is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, TypeAlias

from simulator.api.dialect.binding import Holder
from simulator.api.dialect.compute_devices import named_devices
from simulator.api.dialect.documents import Object, text
from simulator.api.dialect.kinds import PODS
from simulator.api.serving.objects import Objects

_ENDED: Final = frozenset({"Succeeded", "Failed"})

Device = tuple[str, str, str]
"""Node, resource and id."""
Reserve: TypeAlias = "Callable[[Object], None]"


class Holders:
    """Who holds what.

    Args:
        objects: The pods are among them.
    """

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._reserved: dict[Device, str] = {}

    def on(self, node: str) -> Holder:
        """Return who holds the devices of a node now."""
        held: dict[tuple[str, str], str] = {}
        for stored in self._objects.shelf(PODS).on_node(node) if node else ():
            pod = self._objects.document_of(stored)
            if text(pod, "status", "phase") not in _ENDED:
                for device in named_devices(pod):
                    held.setdefault(device, f"{stored.namespace}/{stored.name}")

        def holder(of_node: str, resource: str, device: str) -> str | None:
            return self._reserved.get((of_node, resource, device)) or held.get((resource, device))

        return holder

    @contextmanager
    def reserving(self) -> Iterator[Reserve]:
        """Give what counts a pod's devices as held, as long as their binding is on its way."""
        own: list[Device] = []

        def reserve(pod: Object) -> None:
            name = f"{text(pod, 'metadata', 'namespace')}/{text(pod, 'metadata', 'name')}"
            for resource, each in named_devices(pod):
                device = (text(pod, "spec", "nodeName"), resource, each)
                if device not in self._reserved:
                    self._reserved[device] = name
                    own.append(device)

        try:
            yield reserve
        finally:
            for device in own:
                del self._reserved[device]
