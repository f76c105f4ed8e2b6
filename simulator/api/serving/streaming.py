"""One watch, from its first line to its last."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from simulator.api.dialect import tables
from simulator.api.dialect.negotiation import JSON_TYPE
from simulator.api.dialect.queries import ListQuery
from simulator.api.dialect.selectors import Selection
from simulator.api.dialect.statuses import too_old
from simulator.api.serving.calls import Call
from simulator.api.serving.events import ADDED
from simulator.api.serving.limits import Limits
from simulator.api.serving.objects import Objects
from simulator.api.serving.reads import check_present, in_turns, scope_of
from simulator.api.serving.showing import Showing
from simulator.api.serving.stored import Stored, encoded_json
from simulator.api.serving.watches import Watch


class Streaming:
    """A watch that is being answered.

    Args:
        objects: What is watched.
        call: Who watches, and which kind.
        query: What was asked for.
        showing: How objects are shown.
        limits: How long it may last.
    """

    def __init__(
        self,
        objects: Objects,
        call: Call,
        query: ListQuery,
        showing: Showing,
        limits: Limits,
    ) -> None:
        self._objects = objects
        self._exchange = call.exchange
        self._route = call.route
        self._query = query
        self._showing = showing
        self._limits = limits
        self._has_columns = False

    async def run(self, selection: Selection) -> None:
        """Tell what happens until the time is over, the client is gone or the server stops.

        Raises:
            StatusError: 410, what happened after the revision is not known any more.
            ClientGoneError: The client takes nothing.
        """
        query, shelf = self._query, self._objects.shelf(self._route.kind)
        scope = scope_of(self._objects, self._route, selection)
        from_state = query.initial_events or not query.revision
        state: list[Stored] = []
        if from_state:
            check_present(self._objects, query.revision)
            state = [each for each in shelf.all_in(scope.namespace) if scope.may_contain(each)]
        begun = self._objects.revision
        watch = self._objects.hub.watch(
            shelf, scope, revision=None if from_state else query.revision
        )
        if watch is None:
            raise too_old(query.revision or 0, shelf.window.floor)
        gone = asyncio.create_task(self._exchange.gone())
        gone.add_done_callback(lambda _: watch.wake())
        try:
            await self._exchange.begin_stream(JSON_TYPE)
            await self._tell_state(state, scope.matches)
            if query.initial_events:
                await self._bookmark(begun, initial=True)
            await self._follow(watch, gone.done)
        finally:
            gone.cancel()
            watch.close()

    async def _tell_state(self, state: Sequence[Stored], matches: Callable[[Stored], bool]) -> None:
        for some in in_turns(state, matches):
            lines = [
                self._showing.line(ADDED, stored, stored.revision, columns=self._columns())
                for stored in some
            ]
            if lines:
                await self._exchange.send_piece(b"".join(lines))
            await asyncio.sleep(0)

    async def _follow(self, watch: Watch, is_gone: Callable[[], bool]) -> None:
        now = asyncio.get_running_loop().time
        lasts = self._limits.watch_seconds
        if self._query.timeout_seconds:
            lasts = min(lasts, self._query.timeout_seconds)
        end = now() + lasts
        bookmark_at = now() + self._limits.bookmark_seconds
        while not is_gone():
            told = watch.take()
            if told is None:
                await self._say_expired(watch)
                break
            if told:
                lines = [self._showing.told(each, columns=self._columns()) for each in told]
                await self._exchange.send_piece(b"".join(lines))
                continue
            if self._objects.hub.is_over or now() >= end:
                break
            if self._query.bookmarks and now() >= bookmark_at and not watch.is_behind:
                await self._bookmark(max(self._objects.revision, self._query.revision or 0))
                bookmark_at = now() + self._limits.bookmark_seconds
                continue
            due = min(end, bookmark_at) if self._query.bookmarks else end
            await watch.wait(max(0.0, due - now()))
        if not is_gone():
            await self._exchange.end_stream()

    async def _bookmark(self, revision: int, *, initial: bool = False) -> None:
        """Tell a revision from which a watch could go on: all before it has been told."""
        document = tables.bookmark(self._route.kind, revision, initial=initial)
        shown = self._showing.document(self._route.kind, document, columns=self._columns())
        await self._exchange.send_piece(b'{"type":"BOOKMARK","object":%b}\n' % encoded_json(shown))

    async def _say_expired(self, watch: Watch) -> None:
        """Tell a watcher that was too slow to begin anew."""
        status = too_old(self._query.revision or 0, watch.shelf.window.floor).status()
        await self._exchange.send_piece(b'{"type":"ERROR","object":%b}\n' % encoded_json(status))

    def _columns(self) -> bool:
        """Tell whether the next object is to say its columns: the first one of the watch."""
        first, self._has_columns = not self._has_columns, True
        return first
