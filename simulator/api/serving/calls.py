"""A request whose path and caller are known, and what it is answered with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from simulator.api.dialect.authorization import Identity
from simulator.api.dialect.documents import Object
from simulator.api.dialect.routes import Route
from simulator.api.serving.exchange import Exchange
from simulator.api.serving.stored import Stored
from simulator.core.instants import Instant


@dataclass(slots=True)
class Call:
    """A request.

    Attributes:
        exchange: Over which it came.
        route, verb: What is to be done with which resource.
        identity: Who asks.
        pairs: The parameters of the query.
        now: When it came.
    """

    exchange: Exchange
    route: Route
    verb: str
    identity: Identity
    pairs: Mapping[str, str]
    now: Instant

    @property
    def content_type(self) -> str:
        """What the body is said to be."""
        return self.exchange.header(b"content-type")


@dataclass(slots=True)
class Reply:
    """What a write is answered with.

    Attributes:
        code: The HTTP status.
        content: An object that is stored, or a document.
        warnings: For the headers.
    """

    code: int
    content: Stored | Object
    warnings: Sequence[str] = ()


Clock = Callable[[], Instant]
