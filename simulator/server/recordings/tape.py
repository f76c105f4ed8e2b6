"""Who listens to a live run: the recording, and those who watch records."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Final

from simulator.core.instants import Instant
from simulator.core.records import Stamped
from simulator.core.transitions import NodeName
from simulator.engine.ports import Adapters
from simulator.server.feed import Feed
from simulator.server.recordings.inputs import Input
from simulator.server.recordings.recorded_parts import RecordedParts
from simulator.server.recordings.recording import Beginning, Recorder, line_of


class Tape:
    """Hands on what happens in a live run (`simulator.server.recordings.seats.Listener`).

    Args:
        recorder: Writes the recording, if there is one.

    Attributes:
        lines: Records as lines of a Trace, for those who watch them.
        now: Returns the present instant of the world.
    """

    def __init__(self, recorder: Recorder | None) -> None:
        self.lines: Feed[bytes] = Feed()
        self.now: Callable[[], Instant] = _beginning
        self._recorder: Final = recorder
        self._started = Instant(0)

    def around(self, parts: Adapters) -> Adapters:
        """Put watched parts around those of a driver, if there is a recording to be made."""
        return parts if self._recorder is None else RecordedParts(parts, self)

    def begin(self, beginning: Beginning) -> None:
        """Write how the run begins."""
        self._started = beginning.started
        if self._recorder is not None:
            self._recorder.begin(beginning)

    def told(self, node: NodeName, content: Input) -> None:
        """Something has reached a node."""
        if self._recorder is not None:
            self._recorder.line(self.now(), node, content)

    def recorded(self, stamped: Stamped) -> None:
        """Something has happened."""
        if self._recorder is not None:
            self._recorder.line(stamped.at, stamped.node, stamped.record)
        if self.lines.is_watched:
            line = line_of(stamped.at, self._started, stamped.node, stamped.record)
            self.lines.publish(json.dumps(line, ensure_ascii=False).encode())

    def close(self) -> None:
        """Write no more."""
        self.lines.close()
        if self._recorder is not None:
            self._recorder.close()


def _beginning() -> Instant:
    return Instant(0)
