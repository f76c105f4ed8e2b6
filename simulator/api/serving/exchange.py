"""One request as it came in over HTTP, and how it is answered."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, MutableMapping, Sequence
from typing import Any, Final, Protocol
from urllib.parse import parse_qsl

from simulator.api.dialect.statuses import StatusError, bad_request, too_large
from simulator.api.serving.limits import Limits
from simulator.api.serving.stored import encoded_json

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

JSON: Final = "application/json"
CONNECTION: Final = "rebind"
_PARAMETERS_MAX: Final = 100
_PIECE: Final = 256 * 1024
"""Bytes of an answer that are sent at once; the next piece waits until they are taken."""


class ClientGoneError(Exception):
    """Nobody is there any more to be answered."""


class Connection(Protocol):
    """What a scope's extension `rebind` tells of the connection."""

    @property
    def is_full(self) -> bool:
        """Whether the client has to take something before more is sent."""
        ...

    def cut_off(self) -> None:
        """End the connection at once, whatever is still to be sent."""
        ...


class BodyBudget(Protocol):
    """The bytes of bodies that are being read together."""

    def take(self, size: int) -> None:
        """Take some of them; a `StatusError` says that there are not enough."""
        ...

    def give(self, size: int) -> None:
        """Give them back."""
        ...


class Exchange:
    """A request and its answer.

    Attributes:
        method: E.g. `GET`.
        path: Percent-encoded, as it came.
        headers: By names in lower case; of several of one name the last.
        verb, resource: What is asked for, once that is known; for the metrics.
        code: Of the answer; 0 as long as there is none.
    """

    def __init__(self, scope: Scope, receive: Receive, send: Send, limits: Limits) -> None:
        self.method: str = scope["method"]
        self.path: str = scope["raw_path"].decode("ascii")
        self.verb = ""
        self.resource = ""
        self.code = 0
        self._scope = scope
        self._receive = receive
        self._send = send
        self._limits = limits
        self._connection: Connection = scope["extensions"][CONNECTION]
        self.headers: Mapping[bytes, bytes] = dict(scope["headers"])

    def header(self, name: bytes) -> str:
        """Return a header, or an empty text."""
        value = self.headers.get(name)
        return "" if value is None else value.decode("latin-1")

    def parameters(self) -> Mapping[str, str]:
        """Return what the query says; of several of one name the last.

        Raises:
            StatusError: There are far too many.
        """
        query = self._scope["query_string"]
        if not query:
            return {}
        try:
            return dict(
                parse_qsl(
                    query.decode("ascii"), keep_blank_values=True, max_num_fields=_PARAMETERS_MAX
                )
            )
        except ValueError as error:
            reason = f"the query cannot be read: {error}"
            raise bad_request(reason) from error

    async def body(self, budget: BodyBudget) -> bytes:
        """Return the body.

        Args:
            budget: What all bodies share; what is taken of it is given back at once, since a body
                that has been read is soon an object or refused.

        Raises:
            StatusError: It is too large, or comes too slowly.
            ClientGoneError: It does not come to its end.
        """
        message = await self._receive()
        if message["type"] != "http.request":
            raise ClientGoneError
        data: bytes = message["body"]
        if not message["more_body"]:
            if len(data) > self._limits.body_bytes:
                raise too_large(self._limits.body_bytes)
            return data
        parts = [data]
        size = taken = len(data)
        budget.take(taken)
        try:
            while message["more_body"]:
                message = await self._receive()
                if message["type"] != "http.request":
                    raise ClientGoneError
                part: bytes = message["body"]
                size += len(part)
                if size > self._limits.body_bytes:
                    raise too_large(self._limits.body_bytes)
                budget.take(len(part))
                taken += len(part)
                parts.append(part)
            return b"".join(parts)
        finally:
            budget.give(taken)

    async def answer(
        self,
        code: int,
        content: bytes,
        content_type: str = JSON,
        headers: Sequence[tuple[bytes, bytes]] = (),
    ) -> None:
        """Answer with bytes that are at hand."""
        self.code = code
        await self._put(
            {
                "type": "http.response.start",
                "status": code,
                "headers": [
                    (b"content-type", content_type.encode("latin-1")),
                    (b"content-length", b"%d" % len(content)),
                    *headers,
                ],
            }
        )
        for start in range(0, len(content), _PIECE):
            piece = content if len(content) <= _PIECE else content[start : start + _PIECE]
            await self._sent(piece, more=start + _PIECE < len(content))
        if not content:
            await self._sent(b"", more=False)

    async def refuse(self, error: StatusError) -> None:
        """Answer with a Status."""
        headers = [
            (name.lower().encode("latin-1"), value.encode("latin-1"))
            for name, value in error.headers.items()
        ]
        await self.answer(error.code, encoded_json(error.status()), headers=headers)

    async def answer_pieces(self, pieces: Iterator[bytes]) -> None:
        """Answer with JSON whose pieces are made one after the other; a short one goes as one.

        In between, others have their turn.
        """
        first = b""
        for piece in pieces:
            first += piece
            if len(first) > _PIECE:
                break
            await asyncio.sleep(0)
        else:
            await self.answer(200, first)
            return
        await self.begin_stream(JSON)
        await self.send_piece(first)
        for piece in pieces:
            await self.send_piece(piece)
            await asyncio.sleep(0)  # A client that takes everything at once is waited for never.
        await self.end_stream()

    async def begin_stream(self, content_type: str) -> None:
        """Begin an answer that is sent piece by piece."""
        self.code = 200
        await self._put(
            {
                "type": "http.response.start",
                "status": 200,
                "headers": [
                    (b"content-type", content_type.encode("latin-1")),
                    (b"cache-control", b"no-cache, private"),
                ],
            }
        )

    async def send_piece(self, content: bytes) -> None:
        """Send a piece.

        Raises:
            ClientGoneError: The client takes nothing any more, and is cut off.
        """
        await self._sent(content, more=True)

    async def end_stream(self) -> None:
        """End the answer."""
        await self._sent(b"", more=False)

    async def gone(self) -> None:
        """Return when the client is gone; what it still sends is ignored."""
        while (await self._receive())["type"] != "http.disconnect":
            pass

    async def _sent(self, content: bytes, *, more: bool) -> None:
        await self._put({"type": "http.response.body", "body": content, "more_body": more})

    async def _put(self, message: Message) -> None:
        if not self._connection.is_full:
            await self._send(message)
            return
        try:
            async with asyncio.timeout(self._limits.stalled_seconds):
                await self._send(message)
        except TimeoutError as error:
            self._connection.cut_off()
            raise ClientGoneError from error
