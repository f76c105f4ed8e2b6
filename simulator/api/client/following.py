"""Follows a collection: a list, and from its revision on a watch (client-go's reflector).

The server's revisions make it whole: after a connection has broken off the watch goes on from the
last revision that was seen, and where the server does not know that any more (410) there is a new
list. While the server is away it is asked again with a growing back-off.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Final, Protocol

from simulator.api.client.http import Answer, HttpClient
from simulator.api.dialect.documents import Json, Object, items, mapping, text, whole
from simulator.errors import ApiError, ApiUnreachableError

PAGE: Final = 500
"""Objects of one page of a list."""
WATCH_SECONDS: Final = 300
"""How long one watch lasts; the next one goes on from where it ended."""
_DEAD_SECONDS: Final = 30.0
"""So long after its time a watch is taken for dead."""
BACK_OFF_S: Final = (0.05, 5.0)
"""The first and the longest pause between two tries; client-go's are 0.8 and 30 s."""
_GONE: Final = 410


class Follower(Protocol):
    """Who is told of a collection."""

    def listed(self, objects: Sequence[Object]) -> None:
        """These are all objects there are now."""
        ...

    def happened(self, change: str, found: Object) -> None:
        """An object was `ADDED`, `MODIFIED` or `DELETED`."""
        ...

    def lost(self, why: str) -> None:
        """The server cannot be asked; told once until `restored`."""
        ...

    def restored(self) -> None:
        """All that happened is known again, or will be told as it happens."""
        ...


class _ExpiredError(ApiError):
    """The server does not know any more what happened after the last revision."""


class Following:
    """Follows one collection for one follower.

    Args:
        client: Of whose server.
        path: The collection.
        query: Which of it: selectors.
        follower: Who is told.
    """

    def __init__(
        self, client: HttpClient, path: str, query: Mapping[str, str], follower: Follower
    ) -> None:
        self._client = client
        self._path = path
        self._query = dict(query)
        self._follower = follower
        self._revision = ""
        self._is_lost = True

    async def run(self) -> None:
        """Follow until this is cancelled."""
        pause = BACK_OFF_S[0]
        while True:
            try:
                if not self._revision:
                    await self._list()
                await self._watch()
                pause = BACK_OFF_S[0]
                await asyncio.sleep(pause)
            except _ExpiredError:
                self._revision = ""
                await asyncio.sleep(BACK_OFF_S[0])
            except ApiError as error:
                if not self._is_lost:
                    pause = BACK_OFF_S[0]
                self._is_lost = True
                self._follower.lost(str(error))
                # Spread, so that many who lost the same server do not come back at once.
                spread = 1 + random.random()  # noqa: S311 - nothing is to be guessed
                await asyncio.sleep(pause * spread)
                pause = min(2 * pause, BACK_OFF_S[1])

    async def _list(self) -> None:
        """List all pages of one revision.

        Raises:
            ApiError: The server is away, or refuses.
        """
        objects: list[Object] = []
        query = {**self._query, "limit": str(PAGE)}
        while True:
            answer = await self._client.ask("GET", self._path, query=query)
            if answer.code == _GONE:  # The list took longer than the server remembers.
                reason = "the list has expired"
                raise _ExpiredError(reason)
            if answer.is_refused:
                raise ApiError(self._refusal(answer))
            objects += items(answer.document, "items")
            token = text(answer.document, "metadata", "continue")
            if not token:
                break
            query["continue"] = token
        self._follower.listed(objects)
        self._revision = text(answer.document, "metadata", "resourceVersion")

    async def _watch(self) -> None:
        """Watch until the server ends it.

        Raises:
            ApiError: The server is away, refuses, or has forgotten what happened (`_ExpiredError`).
        """
        query = {
            **self._query,
            "watch": "true",
            "allowWatchBookmarks": "true",
            "resourceVersion": self._revision,
            "timeoutSeconds": str(WATCH_SECONDS),
        }
        async with self._client.lines(
            self._path, query, seconds=WATCH_SECONDS + _DEAD_SECONDS
        ) as opened:
            if isinstance(opened, Answer):
                if opened.code == _GONE:
                    raise _ExpiredError(opened.message)
                raise ApiError(self._refusal(opened))
            if self._is_lost:
                self._is_lost = False
                self._follower.restored()
            await self._take(opened)

    async def _take(self, lines: AsyncIterator[bytes]) -> None:
        async for line in lines:
            try:
                event: Json = json.loads(line)
            except ValueError as error:
                reason = f"a watch of {self._path} says what is no JSON: {error}"
                raise ApiUnreachableError(reason) from error
            found = event if isinstance(event, dict) else {}
            change, subject = text(found, "type"), mapping(found, "object")
            if change == "ERROR":
                if whole(subject, "code") == _GONE:
                    raise _ExpiredError(text(subject, "message"))
                raise ApiError(text(subject, "message") or "the watch has failed")
            revision = text(subject, "metadata", "resourceVersion")
            if change != "BOOKMARK":
                self._follower.happened(change, subject)
            self._revision = revision or self._revision

    def _refusal(self, answer: Answer) -> str:
        return f"the API server {self._client.endpoint.url} refuses {self._path}: {answer.message}"
