"""Built-in plugins in the thread of a rig, as if each were a process of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path

from plugins.conduct import Pace
from plugins.kinds import PluginGroup, Setting, build_plugin
from simulator.assembly.worlds import live_nodes
from simulator.conformance.bench import Deadlines
from simulator.conformance.findings import Finding
from simulator.conformance.running import Request, conform
from simulator.core.allocate_response import AllocateResponse
from simulator.core.devices import DeviceId
from simulator.core.instants import MILLISECOND, SECOND, Duration
from simulator.core.transitions import NodeName
from simulator.engine.spec import NodeSpec, SimulationSpec
from simulator.errors import PluginCallError
from simulator.live.settings import LiveSettings
from simulator.rig.kubelet import Kubelet
from simulator.rig.loop_thread import LoopThread
from simulator.rig.rig import Rig

DEADLINES = Deadlines(answer=3.0, alone=1.0, settle=0.1, quiet=0.4, absent=1.3)
"""Short ones; plugins in the same process answer within milliseconds."""


TWO_INSTANCES = "two-instances"
"""The mode in which an instance comes while another one is there."""
VANISHING_DEVICE = "vanishing-device"
"""The mode in which the kubelet is to have a list before an answer."""
LOOK_S = 0.01
PACE = Pace(
    look=Duration(20 * MILLISECOND),
    first_retry=Duration(50 * MILLISECOND),
    last_retry=Duration(400 * MILLISECOND),
)


class PluginInThread:
    """A plugin that can be ended like a process (`simulator.conformance.bench.Plugin`)."""

    def __init__(
        self, thread: LoopThread, kubelet: Kubelet, kind: str, options: Sequence[tuple[str, str]]
    ) -> None:
        self._thread = thread
        self._kubelet = kubelet
        self._kind = kind
        self._options = options
        mode = dict(options).get("mode")
        self._is_one_after_the_other = mode == TWO_INSTANCES
        self._is_answer_after_list = mode == VANISHING_DEVICE
        self._ending: Future[None] | None = None
        self.start()

    @property
    def code(self) -> int | None:
        """0 when it has ended."""
        return 0 if self._ending is not None and self._ending.done() else None

    def start(self) -> None:
        """Make it anew, and run it."""
        self._killed = asyncio.Event()
        self._ending = None
        setting = Setting(
            plugin_dir=self._kubelet.socket_dir,
            registry_dir=self._kubelet.directory / "plugins_registry",
            sleep=self._sleep,
            pace=PACE,
        )
        self.group: PluginGroup = build_plugin(self._kind, self._options, setting)
        self._thread.run(self.group.start())

    def wait(self, within_s: float) -> int | None:
        """Wait for its end."""
        if self._ending is None:
            self._thread.run(asyncio.sleep(within_s))
            return None
        with suppress(TimeoutError):
            self._ending.result(within_s)
        return self.code

    def terminate(self) -> None:
        """Ask it to end."""
        self._ending = self._thread.begin(self.group.stop())

    def vanish(self) -> None:
        """Stop to serve, while the process lives on; called on the loop."""
        self._vanishing = asyncio.ensure_future(self.group.stop())

    def refuse(self) -> None:
        """Answer Allocate with an error from now on."""

        async def allocate(devices: tuple[DeviceId, ...]) -> AllocateResponse | None:
            reason = f"{devices[0]} is busy"
            raise PluginCallError(reason)

        model = self.group.servers[0].model
        model.allocate = allocate  # type: ignore[method-assign]  # as if the driver were gone

    def kill(self) -> None:
        """End it without waiting for what it waits for."""
        self._thread.call(self._killed.set)
        if self._ending is None:
            self.terminate()
        assert self._ending is not None
        self._ending.result(10)

    def story(self) -> str:
        """Return how it is."""
        return f"{self._kind} {'runs' if self.code is None else 'has ended'}"

    async def _sleep(self, span: Duration) -> None:
        if span and self._is_one_after_the_other:
            await self._until_the_first_is_registered()
        if span and self._is_answer_after_list:
            await self._until_the_kubelet_has_the_list()
        with suppress(TimeoutError):
            async with asyncio.timeout(span / SECOND):
                await self._killed.wait()

    async def _until_the_kubelet_has_the_list(self) -> None:
        """The kubelet is to know what is listed, however late it is on a busy machine."""
        listed = tuple(self.group.servers[0].model.devices())

        def is_known() -> bool:
            return listed in [each.devices for each in self._kubelet.tap.current]

        while not (is_known() or self._killed.is_set()):  # noqa: ASYNC110 - the tap has no events
            await asyncio.sleep(LOOK_S)

    async def _until_the_first_is_registered(self) -> None:
        """The second is to come after the first, however late the kubelet of a busy machine is."""
        first = self.group.servers[0]
        waiting = [
            asyncio.ensure_future(first.until(lambda it: it.registrations > 0)),
            asyncio.ensure_future(self._killed.wait()),
        ]
        try:
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in waiting:
                each.cancel()


def conformance_of(  # noqa: PLR0913 - what the runs differ in
    thread: LoopThread,
    kind: str,
    *options: tuple[str, str],
    arrange: Callable[[PluginInThread, Kubelet], None] = lambda _, __: None,
    deadlines: Deadlines = DEADLINES,
    resource: str = "",
    break_device: Callable[[], None] | None = None,
    mend_device: Callable[[], None] | None = None,
) -> tuple[Finding, ...]:
    """Ask everything of a built-in plugin."""
    spec = SimulationSpec(nodes=(NodeSpec(NodeName("n0")),), persistence="checkpoint")
    plugins: list[PluginInThread] = []

    def launch(kubelet: Kubelet) -> PluginInThread:
        plugin = PluginInThread(thread, kubelet, kind, options)
        plugins.append(plugin)
        arrange(plugin, kubelet)
        return plugin

    def settings(root: Path) -> LiveSettings:
        answer = Duration(int(deadlines.answer * SECOND))
        return LiveSettings(root=root, dial_timeout=Duration(answer // 2), pre_start_timeout=answer)

    request = Request(
        launch=launch,
        resource=resource,
        deadlines=deadlines,
        break_device=break_device,
        mend_device=mend_device,
    )
    with Rig(spec, live_nodes, thread, settings, begun=False) as rig:
        try:
            return conform(rig, request)
        finally:
            for plugin in plugins:
                plugin.kill()
