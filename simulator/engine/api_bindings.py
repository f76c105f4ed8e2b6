"""What the API says of the devices of a node's pods, as a kubelet that starts would learn it."""

from __future__ import annotations

from collections.abc import Iterator

from simulator.core.persistence.choosing import Kept
from simulator.core.persistence.spec_devices import bindings_in_spec
from simulator.core.pods import Pod
from simulator.core.transitions import DeviceBinding, NodeName
from simulator.engine.api import ApiServer
from simulator.engine.runtime import Runtime


def living_pods(api: ApiServer, node: NodeName, runtime: Runtime) -> Iterator[Pod]:
    """Yield the pods of a node that the API has and that have not ended.

    A pod whose containers run has its devices, whatever its phase says (S6.5).
    """
    for pod in api.pods(node):
        has_ended = pod.status.is_terminal and not any(runtime.running(pod.uid))
        if not (has_ended or pod.spec.static):
            yield pod.pod


class ApiBindings:
    """The device bindings of one node in the API.

    Args:
        api: The API's objects.
        node: The node.
        runtime: Its containers.
        kept: Where in the API its strategy keeps them.
    """

    def __init__(self, api: ApiServer, node: NodeName, runtime: Runtime, kept: Kept) -> None:
        self._api = api
        self._node = node
        self._runtime = runtime
        self._kept = kept

    @property
    def revision(self) -> tuple[int, int]:
        """What is another one after each change in the API, or of what runs."""
        return self._api.revision, self._runtime.changes

    def bindings(self) -> Iterator[DeviceBinding]:
        """Yield the bindings of the pods that are there and have not ended."""
        living = living_pods(self._api, self._node, self._runtime)
        pods = {pod.uid: pod for pod in living}
        if self._kept.in_specs:
            for pod in pods.values():
                yield from bindings_in_spec(pod)
        if self._kept.in_objects:
            for each in self._api.devices.objects(self._node):
                if each.pod.uid in pods:
                    yield from each.bindings
