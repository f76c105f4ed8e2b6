"""A built-in plugin inside a live server, served over its socket like any other."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from plugins.conduct import Conduct, Pace, Place
from plugins.model import DevicePlugin
from plugins.serving import PluginServer
from simulator.core.calls import PluginCall
from simulator.core.devices import Device
from simulator.core.instants import HOUR, MILLISECOND, Duration
from simulator.engine.call_counts import CallCounts
from simulator.engine.spec import PluginSpec
from simulator.errors import RebindError
from simulator.live.kubelet_sockets import KubeletSockets
from simulator.live.remote_plugin import RemotePlugin
from simulator.live.spec_model import SpecModel
from simulator.live.tasks import Tasks
from simulator.live.timeline import LiveTimeline

_LOG = logging.getLogger(__name__)
_COUNTED_PODS_MAX: Final = 256
"""Of so many pods, the latest, a plugin's Allocate calls are counted apart."""
_ONCE: Final = Duration(1_000 * HOUR)
PACE: Final = Pace(look=Duration(10 * MILLISECOND), first_retry=_ONCE, last_retry=_ONCE)
"""Of a plugin out of a spec: it sees changes at once, and registers once for each kubelet."""


class LivePlugin:
    """A plugin that the server starts and stops (`simulator.engine.plugin_ports.InstalledPlugin`).

    Args:
        spec: Its name, node and resource, and how it behaves.
        model: What is served; None for a model of the spec.
        directory: The node's plugin directory.
        timeline: The node's time.
        kubelet: Returns the sockets of the kubelet that runs.

    Attributes:
        counts: The calls that it has received.
        failed: Whether its last Register request was refused or its ListAndWatch failed at once.
    """

    def __init__(
        self,
        spec: PluginSpec,
        directory: Path,
        timeline: LiveTimeline,
        kubelet: Callable[[], KubeletSockets | None],
        model: DevicePlugin | None = None,
    ) -> None:
        self.spec = spec
        self.counts = CallCounts(_COUNTED_PODS_MAX)
        self.failed = False
        self._place = Place(directory=directory, socket_name=f"{spec.name}.sock")
        self._timeline = timeline
        self._kubelet = kubelet
        self.model = SpecModel(spec, timeline.sleep) if model is None else model
        self._server: PluginServer | None = None
        self._tasks = Tasks()
        self._hangs = 0
        self._end: asyncio.Task[None] | None = None
        self._left: list[RemotePlugin] = []
        self._owed: list[tuple[RemotePlugin, int]] = []

    @property
    def runs(self) -> bool:
        """Whether it is started."""
        return self._server is not None

    @property
    def registered(self) -> bool:
        """Whether a kubelet reads its stream."""
        return any(peer.stream is not None for peer in self._present())

    @property
    def listed(self) -> bool:
        """Whether the kubelet has folded in a message of its present stream."""
        streams = (peer.stream for peer in self._present())
        return any(stream is not None and stream.listed for stream in streams)

    @property
    def settled(self) -> bool:
        """Whether the kubelet has seen the last list, and the end of streams that were ended."""
        present = self._present()
        left = any(peer in present and peer.stream is not None for peer in self._left)
        owed = any(
            peer in present and peer.stream is not None and peer.lists <= lists
            for peer, lists in self._owed
        )
        return not left and not owed

    @property
    def expects(self) -> bool:
        """Whether it and its kubelet are bound to hear of each other soon."""
        present = self._present()
        if not self.settled or any(peer.is_awaited for peer in present):
            return True
        if not isinstance(self.model, SpecModel):
            return False
        under_way = sum(peer.calls_under_way for peer in present)
        return under_way > self.model.waiting or self._is_to_register(self.model)

    def is_at(self, endpoint: str) -> bool:
        """Tell whether an endpoint of this name is this plugin's."""
        return endpoint == self._place.socket_name

    def note(self, call: PluginCall) -> None:
        """Count a call that the kubelet makes to it."""
        self.counts.note(call)

    def refused(self) -> None:
        """Take note that its registration, or its first list, has failed."""
        self.failed = True

    def start(self) -> None:
        """Start to serve, if it does not, and register, if it is not registered."""
        self._timeline.stir()
        self.failed = False
        kubelet = self._kubelet()
        if kubelet is not None and (self._server is None or not self.registered):
            kubelet.asked.discard(self._place.socket_name)
        if self._server is None:
            conduct = Conduct(
                serves=not self.spec.fail_dial,
                returns_after=self.spec.reregister_after,
                minds_stream_end=False,
            )
            pace = PACE if isinstance(self.model, SpecModel) else Pace()
            self._server = PluginServer(self.model, self._place, conduct=conduct, pace=pace)
            self._tasks.start(self._run(self._server), f"plugin {self.spec.name}")
        elif not self.registered:
            self._restart(self._server)

    def stop(self) -> None:
        """Stop to serve: its calls fail and its stream ends."""
        self._timeline.stir()
        self._leave()
        server, self._server = self._server, None
        if server is not None:
            self._hangs += 1
            if isinstance(self.model, SpecModel):
                self.model.begin_anew()
            self._end = self._tasks.start(server.stop(), f"end of plugin {self.spec.name}")

    def hang(self, duration: Duration | None) -> None:
        """Stop answering, for `duration` or for good."""
        if isinstance(self.model, SpecModel):
            self.model.hang()
            self._hangs += 1
            if duration is not None:
                self._timeline.call_after(duration, partial(self._recover, self._hangs))

    def report(self, devices: tuple[Device, ...]) -> None:
        """Send a ListAndWatch message with this list, and remember it for later ones."""
        if isinstance(self.model, SpecModel):
            self._timeline.stir()
            self._owed = [(peer, peer.lists) for peer in self._present()]
            self.model.listed = devices
            self.model.report()

    def break_stream(self) -> None:
        """Let the stream end while it is served on; it does not register by itself."""
        if isinstance(self.model, SpecModel):
            self._timeline.stir()
            self._leave()
            self.model.break_streams()

    def lose_power(self) -> None:
        """End together with the machine."""
        self.stop()

    def boot(self) -> None:
        """Find the hardware as it is after a reboot."""
        after_reboot = self.spec.devices_after_reboot
        if after_reboot is not None and isinstance(self.model, SpecModel):
            self.model.listed = after_reboot

    async def close(self) -> None:
        """Stop, and wait until that is done."""
        server, self._server = self._server, None
        if server is not None:
            await server.stop()
        await self._tasks.finish()

    async def _run(self, server: PluginServer) -> None:
        if self._end is not None:
            await asyncio.wait({self._end})
        try:
            await server.start()
        except (RebindError, OSError) as error:
            _LOG.error("plugin %s cannot be started: %s", self.spec.name, error)
            self._timeline.enter(self.refused)

    def _restart(self, server: PluginServer) -> None:
        """Register a running plugin that has lost its kubelet, by serving it anew."""

        async def run() -> None:
            await server.stop()
            if server is self._server:
                await self._run(server)

        self._tasks.start(run(), f"plugin {self.spec.name}")

    def _recover(self, hang: int) -> None:
        if hang == self._hangs and isinstance(self.model, SpecModel):
            self._timeline.stir()
            self.model.recover()

    def _leave(self) -> None:
        """Remember which streams are to end."""
        self._left = [peer for peer in self._present() if peer.stream is not None]

    def _present(self) -> Sequence[RemotePlugin]:
        kubelet = self._kubelet()
        return [] if kubelet is None else kubelet.peers_at(self._place.socket_name)

    def _is_to_register(self, model: SpecModel) -> bool:
        """Tell whether it is about to register: it runs, and so does a kubelet that it wants."""
        kubelet, server = self._kubelet(), self._server
        if kubelet is None or server is None or not kubelet.is_open or model.sleeping:
            return False
        returns = self.spec.reregister_after is not None or not server.registrations
        return returns and self._place.socket_name not in kubelet.asked
