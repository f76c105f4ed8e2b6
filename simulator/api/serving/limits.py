"""How much one server takes: every size, number and time has a bound."""

from __future__ import annotations

from dataclasses import dataclass

from simulator.api.serving.events import EVENT_BYTES_MAX, EVENTS_MAX

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """The bounds of one server.

    Attributes:
        header_bytes: Of a request's line and headers together, as of Go's servers.
        body_bytes: Of one request (the API server's own limit is the same).
        bodies_bytes: Of all requests that are being read together.
        connections: Open at a time; further ones are closed at once.
        requests: Being answered at a time, watches apart; further ones are told 429.
        watches: At a time; further ones are told 429.
        request_seconds: Until a request must have come in whole.
        idle_seconds: After which a connection without a request is closed.
        stalled_seconds: How long somebody may take nothing of an answer that is being sent.
        watch_seconds: The longest that a watch lasts; the client begins a new one.
        bookmark_seconds: How often a watch that wants it is told its place.
        events: Changes of one kind that are remembered for watches and lists in parts.
        event_bytes: The bytes that they keep alive.
    """

    header_bytes: int = 64 * 1024
    body_bytes: int = 3 * MIB
    bodies_bytes: int = 96 * MIB
    connections: int = 8_192
    requests: int = 1_024
    watches: int = 8_192
    request_seconds: float = 30.0
    idle_seconds: float = 90.0
    stalled_seconds: float = 60.0
    watch_seconds: float = 3_600.0
    bookmark_seconds: float = 60.0
    events: int = EVENTS_MAX
    event_bytes: int = EVENT_BYTES_MAX
