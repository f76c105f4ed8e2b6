"""What the API says of the devices of a node's pods, as a kubelet that starts would learn it."""

from __future__ import annotations

from collections.abc import Iterator

from simulator.core.persistence.choosing import Kept
from simulator.core.persistence.spec_devices import bindings_in_spec
from simulator.core.pods import Pod
from simulator.core.transitions import DeviceBinding, NodeName
from simulator.engine.api import ApiServer


class ApiBindings:
    """The device bindings of one node in the API.

    Args:
        api: The API's objects.
        node: The node.
        kept: Where in the API its strategy keeps them.
    """

    def __init__(self, api: ApiServer, node: NodeName, kept: Kept) -> None:
        self._api = api
        self._node = node
        self._kept = kept

    @property
    def revision(self) -> int:
        """A number that grows with each change in the API."""
        return self._api.revision

    def bindings(self) -> Iterator[DeviceBinding]:
        """Yield the bindings of the pods that are there and have not ended."""
        pods = {pod.uid: pod for pod in self._pods()}
        if self._kept.in_specs:
            for pod in pods.values():
                yield from bindings_in_spec(pod)
        if self._kept.in_objects:
            for each in self._api.devices.objects(self._node):
                if each.pod.uid in pods:
                    yield from each.bindings

    def _pods(self) -> Iterator[Pod]:
        for pod in self._api.pods(self._node):
            if not (pod.status.is_terminal or pod.spec.static):
                yield pod.pod
