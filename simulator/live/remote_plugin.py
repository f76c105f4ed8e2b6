"""A plugin at the other end of a real socket (`simulator.engine.plugin_ports.PluginPeer`).

One for each registration: dialed, asked for its options, its list read, its calls made. Whatever
comes back enters the timeline.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from simulator.core.calls import CallFailed, PluginCall, PluginReply
from simulator.core.devices import Device
from simulator.core.endpoints import PluginOptions
from simulator.core.instants import Duration
from simulator.engine.plugin_ports import KubeletSocket, PluginStream
from simulator.errors import PluginCallError
from simulator.live.tasks import Tasks
from simulator.live.timeline import LiveTimeline
from simulator.wire.plugin_client import PluginClient, PluginClientSettings, StreamEnd
from simulator.wire.status import CONTEXT_DEADLINE_EXCEEDED

_LOG = logging.getLogger(__name__)
_LOST: Final = "rpc error: code = Unavailable"
"""How the end of a stream is told when the plugin is gone, and with it every call to it."""


@dataclass(frozen=True, slots=True)
class PeerOwner:
    """What a peer needs of its node.

    Attributes:
        timeline: The node's time.
        dial_timeout: How long it is dialed, by the node's time (S1.12.5).
        tasks: Those that outlive a connection.
        kubelet: The kubelet process that it has registered with.
        settings: How it is treated.
        called: Told of every call that is made to an endpoint.
        answered: Told how long each call took, whatever came of it.
        ended: Told when its stream has ended, and how.
        closed: Told when its connection is closed.
    """

    timeline: LiveTimeline
    dial_timeout: Duration
    tasks: Tasks
    kubelet: KubeletSocket
    settings: PluginClientSettings
    called: Callable[[str, PluginCall], None]
    answered: Callable[[PluginCall, Duration], None]
    ended: Callable[[PluginStream, StreamEnd], None]
    closed: Callable[[RemotePlugin], None]


class RemotePlugin:
    """One registered plugin.

    Args:
        endpoint: Its endpoint as it was registered.
        path: The socket that this means.
        owner: What it needs of its node.

    Attributes:
        lists: How many lists it has sent.
    """

    def __init__(self, endpoint: str, path: Path, owner: PeerOwner) -> None:
        self.endpoint = endpoint
        self.path = path
        self.lists = 0
        self._is_dialing = False
        self._owner = owner
        self._client: PluginClient | None = None
        self._tasks = Tasks()
        self._calls = Tasks()
        self._stream: PluginStream | None = None
        self._replies: dict[int, Callable[[PluginReply], None]] = {}
        self._called = 0

    @property
    def name(self) -> str:
        """What faults and messages call it: its socket, without the ending."""
        return self.path.stem

    @property
    def stream(self) -> PluginStream | None:
        """Its stream, while the kubelet reads it."""
        stream = self._stream
        return stream if stream is not None and stream.is_open else None

    @property
    def is_used(self) -> bool:
        """Whether its connection is of use: it is made or read, or calls would be made on it."""
        stream = self._stream
        if stream is None or stream.is_open:
            return True
        return self._owner.kubelet.stream_of(stream.resource) is stream

    @property
    def calls_under_way(self) -> int:
        """How many calls have not been answered."""
        return len(self._replies)

    @property
    def is_awaited(self) -> bool:
        """Whether it is bound to answer soon: it is dialed, and serves, or has not listed yet."""
        is_first_list_due = self.stream is not None and not self.lists
        return is_first_list_due or (self._is_dialing and self.path.is_socket())

    def dial(self, answered: Callable[[PluginOptions | str], None], *, ask: bool) -> None:
        """Connect and, if `ask`, get the options (S1.12.5, S1.12.6)."""

        async def run() -> None:
            found: PluginOptions | str = PluginOptions()
            try:
                async with self._owner.timeline.limit(self._owner.dial_timeout):
                    self._client = await PluginClient.dial(self.path, self._owner.settings)
                if ask:
                    found = await self._client.options()
            except TimeoutError:
                found = f"failed to dial device plugin: {CONTEXT_DEADLINE_EXCEEDED}"
            except PluginCallError as error:
                found = str(error)
            self._is_dialing = False
            self._owner.timeline.enter(lambda: answered(found))
            if isinstance(found, str):
                await self.close()

        self._is_dialing = True
        self._owner.timeline.stir()
        self._tasks.start(run(), f"dial {self.path.name}")

    def connected(self, stream: PluginStream) -> None:
        """Read its lists until the stream ends (S1.12.8)."""
        self._stream = stream
        client = self._client
        if client is not None:
            self._owner.timeline.stir()
            self._tasks.start(self._watch(client, stream), f"ListAndWatch {self.path.name}")

    def call(self, call: PluginCall, reply: Callable[[PluginReply], None]) -> None:
        """Make a call."""
        client = self._client
        if client is None:
            reply(CallFailed("the plugin is not connected"))
            return
        self._owner.timeline.stir()
        self._owner.called(self.endpoint, call)
        self._called += 1
        number = self._called
        timeline, begun = self._owner.timeline, self._owner.timeline.now()

        def take(answer: PluginReply) -> None:
            self._owner.answered(call, Duration(timeline.now() - begun))
            reply(answer)

        self._replies[number] = take

        async def run() -> None:
            answer = await client.call(call)
            self._owner.timeline.enter(lambda: self._answered(number, answer))

        self._calls.start(run(), f"{type(call).__name__} {self.path.name}")

    def lose_calls(self, error: str) -> None:
        """The kubelet closes the connection: the calls under way fail with `error`."""
        replies = list(self._replies.values())
        self._replies.clear()
        self.drop()
        for reply in replies:
            reply(CallFailed(error))

    def lose_options(self, error: str) -> None:
        """The kubelet closes the connection while it asks for the options."""
        del error  # A closed connection says it by itself.
        if self._client is not None:
            self._owner.tasks.start(self._client.close(), f"close {self.path.name}")

    def break_stream(self) -> None:
        """End the stream from here, as its loss would."""
        self._end(StreamEnd("EOF"))

    def drop(self) -> None:
        """Close the connection soon; calls under way are of no interest any more."""
        self._replies.clear()
        self._owner.tasks.start(self.close(), f"close {self.path.name}")

    async def close(self) -> None:
        """Close the connection and wait until that is done."""
        self._tasks.cancel()
        self._calls.cancel()
        client, self._client = self._client, None
        if client is not None:
            await client.close()
        self._owner.closed(self)

    async def _watch(self, client: PluginClient, stream: PluginStream) -> None:
        timeline, kubelet = self._owner.timeline, self._owner.kubelet

        async def listed(devices: tuple[Device, ...]) -> None:
            folded = asyncio.Event()

            def take() -> None:
                self.lists += 1
                kubelet.receive_devices(stream, devices, folded.set)

            timeline.enter(take)
            await folded.wait()

        end = await client.watch(listed)
        if end.cause.startswith(_LOST):
            await self._calls.finish()  # They fail by themselves, before the kubelet cuts them.
        _LOG.info("ListAndWatch of %s ended: %s", stream.resource, end.cause)
        timeline.enter(lambda: self._end(end))

    def _answered(self, number: int, answer: PluginReply) -> None:
        reply = self._replies.pop(number, None)
        if reply is not None:
            reply(answer)

    def _end(self, end: StreamEnd) -> None:
        """Tell the kubelet that the stream has ended, unless it has cut it itself."""
        stream = self._stream
        if stream is not None and stream.is_open:
            stream.is_open = False
            self._owner.ended(stream, end)
            self._owner.kubelet.end_stream(stream)
