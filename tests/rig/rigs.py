"""Rigs for tests: live nodes in a thread, and plugins served in the same thread."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from plugins.conduct import Place
from plugins.serving import PluginServer
from simulator.assembly.worlds import live_nodes
from simulator.core.devices import HEALTHY, Device, DeviceId
from simulator.core.instants import SECOND, Duration
from simulator.core.resources import ResourceName
from simulator.core.transitions import NodeName
from simulator.engine.spec import NodeSpec, PluginSpec, SimulationSpec
from simulator.live.spec_model import SpecModel
from simulator.rig.kubelet import Kubelet
from simulator.rig.loop_thread import LoopThread
from simulator.rig.rig import Rig

GPU = ResourceName("example.com/gpu")
NODE = NodeName("n0")
PLUGIN = PluginSpec(
    "gpu", NODE, GPU, tuple(Device(DeviceId(f"gpu-{number}"), HEALTHY, None) for number in range(4))
)


class RunningPlugin:
    """A plugin beside a kubelet, until `stop`."""

    def __init__(self, thread: LoopThread, kubelet: Kubelet, spec: PluginSpec) -> None:
        self._thread = thread
        self.model = SpecModel(spec, _sleep)
        place = Place(directory=kubelet.socket_dir, socket_name=f"{spec.name}.sock")
        self._server = PluginServer(self.model, place)
        thread.run(self._server.start())

    def report(self, *devices: Device) -> None:
        """Send another list."""

        def send() -> None:
            self.model.listed = devices
            self.model.report()

        self._thread.call(send)

    def stop(self) -> None:
        """Stop to serve."""
        self._thread.run(self._server.stop())


@contextmanager
def a_kubelet(
    version: str = "1.36.2", persistence: str = "checkpoint"
) -> Iterator[tuple[Kubelet, LoopThread]]:
    """Yield a kubelet without plugins, and the thread in which it lives."""
    spec = SimulationSpec(nodes=(NodeSpec(NODE),), kubelet_version=version, persistence=persistence)
    thread = LoopThread()
    try:
        with Rig(spec, live_nodes, thread) as rig:
            yield rig.kubelets[NODE], thread
    finally:
        thread.close()


@contextmanager
def a_plugin(**changes: object) -> Iterator[tuple[Kubelet, RunningPlugin]]:
    """Yield a kubelet with a plugin of 4 devices, which is registered."""
    with a_kubelet() as (kubelet, thread):
        spec = replace(PLUGIN, **changes)  # type: ignore[arg-type]  # keywords of the spec
        plugin = RunningPlugin(thread, kubelet, spec)
        try:
            kubelet.wait_registered(GPU)
            yield kubelet, plugin
        finally:
            plugin.stop()


async def _sleep(span: Duration) -> None:
    await asyncio.sleep(span / SECOND)
