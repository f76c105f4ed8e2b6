"""Events as `kubectl get events` shows them: the same one again is counted, not listed again.

Kubelet: EventCorrelator (client-go tools/record), as far as counting goes. Events are kept for an
hour, as the API server keeps them, and in bounded number.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, cast

from simulator.core.instants import HOUR, Instant
from simulator.core.pods import PodUid
from simulator.core.records import EventEmitted, Stamped
from simulator.core.transitions import NodeName, PodIdentity
from simulator.live.event_documents import event_document, event_name, event_namespace
from simulator.reports.documents import Json

KEPT_MAX: Final = 10_000
"""Most events that are kept; the oldest go first."""
KEPT_FOR: Final = HOUR


@dataclass(slots=True)
class LoggedEvent:
    """One event.

    Attributes:
        number: Names it, together with what it is about.
        count: How often it came.
        first, last: When it came first and last.
    """

    number: int
    node: NodeName
    pod: PodIdentity | None
    emitted: EventEmitted
    first: Instant
    last: Instant
    count: int = 1

    @property
    def name(self) -> str:
        """Its object's name."""
        return event_name(self.node, self.pod, self.number)

    @property
    def namespace(self) -> str:
        """Where it is listed; events about nodes are in `default`."""
        return event_namespace(self.pod)

    def document(self) -> dict[str, Json]:
        """Return it as a `v1` Event object."""
        document = event_document(
            self.emitted,
            name=self.name,
            node=self.node,
            pod=self.pod,
            first=self.first,
            last=self.last,
            count=self.count,
        )
        return cast("dict[str, Json]", document)


_Key = tuple[NodeName, PodUid | None, str, str, str]


class EventLog:
    """The events of a cluster.

    Args:
        identify: Returns a pod's namespace and name.
    """

    def __init__(self, identify: Callable[[PodUid], PodIdentity]) -> None:
        self._identify = identify
        self._numbers = 0
        self._events: OrderedDict[_Key, LoggedEvent] = OrderedDict()

    def note(self, stamped: Stamped) -> LoggedEvent | None:
        """Take up a record; return the event that it is, if it is one."""
        record = stamped.record
        if not isinstance(record, EventEmitted):
            return None
        key = (stamped.node, record.pod, record.severity, record.reason, record.message)
        event = self._events.get(key)
        if event is None or stamped.at - event.last > KEPT_FOR:
            self._numbers += 1
            pod = None if record.pod is None else self._identify(record.pod)
            number = (stamped.at << 16) + self._numbers & (1 << 64) - 1
            event = LoggedEvent(number, stamped.node, pod, record, stamped.at, stamped.at)
            self._events[key] = event
        else:
            event.count += 1
            event.last = stamped.at
        self._events.move_to_end(key)
        self._drop_old(stamped.at)
        return event

    def events(self) -> list[LoggedEvent]:
        """Return the events, the one that came last at the end."""
        return list(self._events.values())

    def _drop_old(self, now: Instant) -> None:
        while self._events:
            oldest = next(iter(self._events.values()))
            if len(self._events) <= KEPT_MAX and now - oldest.last <= KEPT_FOR:
                return
            self._events.popitem(last=False)
