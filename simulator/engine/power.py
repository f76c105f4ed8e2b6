"""The power of one machine: what ends when it goes down, and which boot it is in."""

from __future__ import annotations

from collections.abc import Callable

from simulator.core.instants import Duration
from simulator.core.transitions import NodeName
from simulator.engine.pod_factory import uuid_text
from simulator.engine.streams import RandomStreams
from simulator.engine.timeline import Process, Timeline


class Power:
    """Whether a machine runs.

    Attributes:
        is_on: Whether it does.
        process: What ends when it goes down.
        boots: How often it went down.
        boot_id: The id of the present boot.
    """

    def __init__(self, node: NodeName, timeline: Timeline, streams: RandomStreams) -> None:
        self._node = node
        self._timeline = timeline
        self._streams = streams
        self.boots = 0
        self.turn_on()

    def turn_on(self) -> None:
        """Boot."""
        self.is_on = True
        self.process = Process(self._timeline)
        self.boot_id = uuid_text(self._streams.number(f"boot/{self._node}/{self.boots}"))

    def turn_off(self) -> None:
        """Go down, and all that was planned with it."""
        self.is_on = False
        self.process.kill()
        self.boots += 1

    def after_downtime(self, downtime: Duration, boot: Callable[[], None]) -> None:
        """Do `boot` after a time, unless the machine goes down once more before."""
        number = self.boots

        def begin() -> None:
            if number == self.boots:
                boot()

        self._timeline.call_after(downtime, begin)
