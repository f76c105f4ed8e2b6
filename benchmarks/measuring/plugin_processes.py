"""Plugins in processes of their own, which register and answer over sockets as real ones do."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager

from benchmarks.measuring.clocks import Driver
from benchmarks.measuring.making import READY_WITHIN, Making, begin
from benchmarks.plugin_process import Order
from simulator.core.instants import SECOND
from simulator.core.resources import ResourceName
from simulator.engine.api import ApiServer
from simulator.engine.node import Node
from simulator.engine.ports import Adapters, ApiTransport
from simulator.engine.spec import PluginSpec
from simulator.errors import ServerError
from simulator.live.parts import LiveParts
from simulator.live.settings import LiveSettings


class WatchedParts:
    """A live driver's own parts, with a watched way to the API (`Adapters`)."""

    def __init__(self, making: Making, inner: LiveParts) -> None:
        self._making = making
        self._inner = inner
        self.storage = inner.storage
        self.sockets = inner.sockets
        self.plugin = inner.plugin

    def transport(self, api: ApiServer) -> ApiTransport:
        """Return how kubelets reach the API server, watched."""
        return self._making.carried(self._inner.transport(api))


def watched(making: Making, inner: LiveParts) -> Adapters:
    """Return a live driver's own parts, with a watched way to the API."""
    return WatchedParts(making, inner)


@contextmanager
def _process(order: Order) -> Iterator[None]:
    """Run a process with the plugins of all nodes for one resource."""
    command = order.command()
    with subprocess.Popen(command, start_new_session=True) as process:  # noqa: S603 - our own module
        try:
            yield
        finally:
            process.kill()


async def begin_with_processes(
    driver: Driver, specs: Sequence[PluginSpec], settings: LiveSettings, stack: AsyncExitStack
) -> None:
    """Wait until the nodes are ready, and their plugins, which are processes, have registered.

    Raises:
        ServerError: They are not in time.
    """
    await begin(driver)
    by_resource: dict[ResourceName, list[PluginSpec]] = {}
    for spec in specs:
        by_resource.setdefault(spec.resource, []).append(spec)
    for resource, alike in by_resource.items():
        folders = tuple(str(settings.folder(each.node).device_plugins) for each in alike)
        latency = alike[0].latency.allocate
        order = Order(folders, resource, len(alike[0].devices), allocate_s=latency / SECOND)
        stack.enter_context(_process(order))
    nodes = driver.world.nodes

    def are_listed() -> bool:
        return all(_allocatable(nodes[spec.node], spec.resource) for spec in specs)

    if not await driver.until(are_listed, READY_WITHIN):
        reason = f"the plugins of {len(nodes)} nodes have not registered in time"
        raise ServerError(reason)


def _allocatable(node: Node, resource: ResourceName) -> int:
    kubelet = node.kubelet
    return 0 if kubelet is None else kubelet.manager.capacity().allocatable.get(resource, 0)
