"""The sockets of one live node over all its kubelet processes (`simulator.engine.plugin_ports`)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from simulator.core.behavior import Behavior
from simulator.engine.plugin_ports import KubeletSocket
from simulator.errors import RebindError
from simulator.live.kubelet_sockets import KubeletSockets, Surroundings
from simulator.live.tasks import Tasks


class LiveSockets:
    """Opens the sockets of a kubelet process that starts, and closes those of one that has ended.

    Args:
        around: What the sockets find; asked for when the first kubelet starts.
    """

    def __init__(self, around: Callable[[], Surroundings]) -> None:
        self._around = around
        self._tasks = Tasks()
        self._turn: asyncio.Task[None] | None = None
        self._present: KubeletSockets | None = None

    @property
    def present(self) -> KubeletSockets | None:
        """Those of the kubelet process that runs."""
        return self._present

    def open(
        self, behavior: Behavior, kubelet: KubeletSocket, opened: Callable[[str], None]
    ) -> None:
        """Clean the plugin directory and listen, when the last process' sockets are closed."""
        around = self._around()
        sockets = self._present = KubeletSockets(around, behavior, kubelet)
        earlier = self._turn

        async def run() -> None:
            if earlier is not None:
                await asyncio.wait({earlier})
            error = ""
            if self._present is sockets:
                try:
                    with around.timeline.held():
                        await sockets.open()
                except (RebindError, OSError) as failure:
                    error = str(failure)
            around.timeline.enter(lambda: opened(error))

        self._turn = self._tasks.start(run(), f"sockets of {around.node.name}")

    def close(self) -> None:
        """The kubelet process has ended: its connections and sockets are gone with it."""
        sockets, self._present = self._present, None
        earlier = self._turn
        if sockets is None:
            return
        sockets.hang_up()
        timeline = self._around().timeline

        async def run() -> None:
            if earlier is not None:
                await asyncio.wait({earlier})
            with timeline.held():
                await sockets.close()

        self._turn = self._tasks.start(run(), "closed sockets")

    async def wait_closed(self) -> None:
        """Wait until what was to be closed is closed."""
        if self._turn is not None:
            await asyncio.wait({self._turn})
