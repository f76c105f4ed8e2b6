"""Events as `kubectl get events` shows them: the same one again is counted, not listed again.

Kubelet: EventCorrelator (client-go tools/record), as far as counting goes. Events are kept for an
hour, as the API server keeps them, and in bounded number.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from simulator.core.instants import HOUR, Instant
from simulator.core.pods import PodUid
from simulator.core.records import EventEmitted, Stamped
from simulator.core.transitions import NodeName, PodIdentity
from simulator.reports.documents import Json
from simulator.server.times import timestamp

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
        about = self.node if self.pod is None else self.pod.name or self.pod.uid
        return f"{about}.{self.number:016x}"

    @property
    def namespace(self) -> str:
        """Where it is listed; events about nodes are in `default`."""
        return (self.pod.namespace if self.pod is not None else "") or "default"

    def document(self) -> dict[str, Json]:
        """Return it as a `v1` Event object."""
        about: dict[str, Json] = {"kind": "Node", "name": self.node, "uid": self.node}
        if self.pod is not None:
            about = {
                "apiVersion": "v1",
                "kind": "Pod",
                "namespace": self.namespace,
                "name": self.pod.name,
                "uid": self.pod.uid,
            }
        component = "kubelet" if self.node else "default-scheduler"
        return {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": self.name, "namespace": self.namespace},
            "involvedObject": about,
            "type": self.emitted.severity,
            "reason": self.emitted.reason,
            "message": self.emitted.message,
            "source": {"component": component, "host": self.node},
            "count": self.count,
            "firstTimestamp": timestamp(self.first),
            "lastTimestamp": timestamp(self.last),
        }


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
