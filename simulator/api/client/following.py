"""Follows a collection: a list, and from its revision on a watch (client-go's reflector).

The server's revisions make it whole: after a connection has broken off the watch goes on from the
last revision that was seen, and where the server does not know that any more (410), or says that
the watch has failed, there is a new list. While the server is away, or ends each watch as soon as
it has begun, it is asked again with a growing back-off.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Final, Protocol

from simulator.api.client.backing_off import BackOff
from simulator.api.client.http import Answer, HttpClient
from simulator.api.client.listing import list_whole
from simulator.api.dialect.documents import Json, Object, mapping, text, whole
from simulator.errors import ApiError, ApiUnreachableError

WATCH_SECONDS: Final = 300
"""How long one watch lasts; the next one goes on from where it ended."""
_DEAD_SECONDS: Final = 30.0
"""So long after its time a watch is taken for dead."""
BACK_OFF_S: Final = (0.05, 5.0)
"""The first and the longest pause between two tries; client-go's are 0.8 and 30 s."""
LASTING_S: Final = 1.0
"""A watch that ends sooner is a failed try: who asked again at once would do nothing else."""
ASKED_PAUSE_MAX_S: Final = 60.0
"""A server that wants to be left alone for longer is asked all the same."""
_GONE: Final = 410
_CHANGES: Final = frozenset({"ADDED", "MODIFIED", "DELETED"})


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


class _BrokenOffError(ApiUnreachableError):
    """A watch that was open has broken off; the server may be there all the same."""


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
        self._back_off = BackOff(*BACK_OFF_S)
        self._asked_pause_s = 0.0
        """What the server's last refusal has asked for."""

    async def run(self) -> None:
        """Follow until this is cancelled."""
        while True:
            self._asked_pause_s = 0.0
            try:
                if not self._revision:
                    await self._list()
                await self._watch()
            except _ExpiredError:
                self._revision = ""
            except _BrokenOffError:
                pass  # Connections do; whether the server is away shows at the next try.
            except ApiError as error:
                if not self._is_lost:
                    self._is_lost = True
                    self._back_off.reset()
                self._follower.lost(str(error))
            await asyncio.sleep(max(self._back_off.pause_s(), self._asked_pause_s))

    async def _list(self) -> None:
        """List all there is.

        Raises:
            ApiError: The server is away, or refuses.
        """
        listing = await list_whole(self._client, self._path, self._query)
        if listing.answer.is_refused:
            raise self._refusal(listing.answer)
        self._follower.listed(listing.objects)
        self._revision = listing.revision

    async def _watch(self) -> None:
        """Watch until the server ends it.

        Raises:
            ApiError: The server is away, refuses, has ended it with an error, or has forgotten what
                happened (`_ExpiredError`).
        """
        query = {
            **self._query,
            "watch": "true",
            "allowWatchBookmarks": "true",
            "resourceVersion": self._revision,
            "timeoutSeconds": str(WATCH_SECONDS),
        }
        now = asyncio.get_running_loop().time
        opened_at: float | None = None
        try:
            async with self._client.lines(
                self._path, query, seconds=WATCH_SECONDS + _DEAD_SECONDS
            ) as opened:
                if isinstance(opened, Answer):
                    if opened.code == _GONE:
                        raise _ExpiredError(opened.message)
                    raise self._refusal(opened)
                opened_at = now()
                if self._is_lost:
                    self._is_lost = False
                    self._follower.restored()
                await self._take(opened)
        except ApiUnreachableError as error:
            if opened_at is None:
                raise
            raise _BrokenOffError(str(error)) from error
        finally:
            if opened_at is not None and now() - opened_at >= LASTING_S:
                self._back_off.reset()

    async def _take(self, lines: AsyncIterator[bytes]) -> None:
        async for line in lines:
            try:
                event: Json = json.loads(line)
            except ValueError as error:
                reason = f"a watch of {self._path} says what is no JSON: {error}"
                raise ApiError(reason) from error
            found = event if isinstance(event, dict) else {}
            change, subject = text(found, "type"), mapping(found, "object")
            if change == "ERROR":
                if whole(subject, "code") == _GONE:
                    raise _ExpiredError(text(subject, "message"))
                # It may say so again and again of this revision.
                self._revision = ""
                raise ApiError(text(subject, "message") or "the watch has failed")
            revision = text(subject, "metadata", "resourceVersion")
            if change in _CHANGES:
                self._follower.happened(change, subject)
            self._revision = revision or self._revision

    def _refusal(self, answer: Answer) -> ApiError:
        self._asked_pause_s = min(answer.retry_after_s or 0.0, ASKED_PAUSE_MAX_S)
        return ApiError(
            f"the API server {self._client.endpoint.url} refuses {self._path}: {answer.message}"
        )
