"""The objects of a server: read from memory, written through the committer, told to who watches.

At the start everything is loaded from the store, what happened lately included: a client that was
connected to the former server process goes on from its last revision, without loss or repetition.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Final, Protocol, TypeAlias, cast

from simulator.api.dialect.documents import Object, text
from simulator.api.dialect.kinds import STORED_KINDS, Kind
from simulator.api.serving.events import EVENT_BYTES_MAX, EVENTS_MAX, Event
from simulator.api.serving.shelves import Shelf
from simulator.api.serving.stored import Parsed, Stored, stored_object
from simulator.api.serving.turns import Turns
from simulator.api.serving.watches import WatchHub
from simulator.errors import StoreError
from simulator.object_ports import (
    ChangeType,
    DeleteObject,
    Expired,
    ObjectChange,
    ObjectKey,
    ObjectOutcome,
    ObjectReader,
    ObjectWrite,
    Written,
)

_PAGE: Final = 1_000

Done = Callable[[list[ObjectOutcome] | StoreError], None]
Proposal: TypeAlias = "tuple[ObjectWrite, Object | None]"
"""A write, and the document that it writes, without its revision; None for a deletion."""


class ObjectCommits(Protocol):
    """Who commits writes, many callers' together; `done` is called on the server's loop."""

    def submit_objects(self, writes: Sequence[ObjectWrite], done: Done) -> None:
        """Write in one commit.

        Raises:
            StoreUnavailableError: Too many writes wait already.
        """
        ...


class Objects:
    """The objects of all kinds.

    Args:
        commits: Who commits.
        events_max: Most events of a kind that are kept for watches.
        event_bytes_max: Most bytes that they keep alive.

    Attributes:
        commits: As given.
        hub: The watches.
        turns: Whose turn it is to write which object.
        parsed: The documents at hand.
        revision: Of the newest change that everybody may know.
        is_writable: Whether the last commit went well.
    """

    def __init__(
        self,
        commits: ObjectCommits,
        *,
        events_max: int = EVENTS_MAX,
        event_bytes_max: int = EVENT_BYTES_MAX,
    ) -> None:
        self.hub = WatchHub()
        self.turns = Turns()
        self.parsed = Parsed()
        self.revision = 0
        self.is_writable = True
        self.commits = commits
        self._events_max = events_max
        self._kinds = {kind.resource: kind for kind in STORED_KINDS}
        self._shelves = {
            resource: Shelf(kind, events_max=events_max, bytes_max=event_bytes_max)
            for resource, kind in self._kinds.items()
        }

    def load(self, store: ObjectReader) -> None:
        """Take over what a store has.

        Raises:
            StoreError: It cannot be read.
        """
        self.revision = store.revision()
        begin = max(0, self.revision - self._events_max)
        changes = store.since(begin)
        if isinstance(changes, Expired):
            begin = changes.oldest
            changes = store.since(begin)
        for resource, shelf in self._shelves.items():
            shelf.window.floor = begin
            page = store.page(resource, limit=_PAGE)
            while not isinstance(page, Expired):
                for item in page.items:
                    shelf.put(self._restored(item.key, item.revision, item.body))
                if page.after is None:
                    break
                page = store.page(resource, limit=_PAGE, after=page.after)
        if isinstance(changes, Expired):
            return
        for change in changes.changes:
            former = self._shelves.get(change.key.collection)
            if former is not None:
                former.window.append(self._former_event(change))

    def shelf(self, kind: Kind) -> Shelf:
        """Return the objects of a kind."""
        return self._shelves[kind.resource]

    def kind(self, key: ObjectKey) -> Kind:
        """Return the kind of an object."""
        return self._kinds[key.collection]

    def get(self, key: ObjectKey) -> Stored | None:
        """Return an object as it is now."""
        return self._shelves[key.collection].get((key.namespace, key.name))

    def document_of(self, stored: Stored) -> Object:
        """Return an object's document, which nobody may change."""
        return self.parsed.document_of(stored)

    async def commit(self, proposals: Sequence[Proposal]) -> list[Stored | ObjectOutcome | None]:
        """Write objects in one commit, and give the turns of all of them, whatever becomes of it.

        Returns:
            For each write the object as it is now, None for one that is gone, or the store's
            refusal, which only another writer of the same database can cause.

        Raises:
            StoreError: Nothing was written.
        """
        answered: asyncio.Future[list[Stored | ObjectOutcome | None]]
        answered = asyncio.get_running_loop().create_future()

        def done(answer: list[ObjectOutcome] | StoreError) -> None:
            self.is_writable = not isinstance(answer, StoreError)
            if isinstance(answer, StoreError):
                self._give(proposals)
                if not answered.done():  # Else whoever asked is gone.
                    answered.set_exception(answer)
                return
            results = self._published(proposals, answer)
            if not answered.done():
                answered.set_result(results)

        try:
            self.commits.submit_objects([write for write, _ in proposals], done)
        except BaseException:
            self._give(proposals)
            raise
        return await answered

    async def sweep(self, due: Sequence[DeleteObject]) -> None:
        """Delete objects whose time is over."""
        for write in due:
            if self.turns.take_now(write.key):
                await self.commit([(write, None)])

    def _give(self, proposals: Sequence[Proposal]) -> None:
        for write, _ in proposals:
            self.turns.give(write.key)

    def _published(
        self, proposals: Sequence[Proposal], outcomes: Sequence[ObjectOutcome]
    ) -> list[Stored | ObjectOutcome | None]:
        """Put what is committed where everybody sees it, and give the turns."""
        results: list[Stored | ObjectOutcome | None] = []
        for (write, document), outcome in zip(proposals, outcomes, strict=True):
            if isinstance(outcome, Written):
                results.append(self._put(outcome.change, document))
            else:
                results.append(outcome)
            self.turns.give(write.key)
        return results

    def _put(self, change: ObjectChange, document: Object | None) -> Stored | None:
        collection, namespace, name = change.key
        shelf = self._shelves[collection]
        revision = self.revision = change.revision
        new: Stored | None = None
        if document is None:
            old = shelf.remove((namespace, name))
        else:
            node = text(document, "spec", "nodeName")
            new = Stored(shelf.kind, namespace, name, node, revision, change.body, document)
            new.is_revised = False
            self.parsed.keep(new)
            old = shelf.put(new)
        event = Event(revision, old, new)
        self.hub.tell(shelf, event, shelf.window.append(event))
        return new

    def _restored(self, key: ObjectKey, revision: int, body: bytes) -> Stored:
        document = cast("Object", json.loads(body))
        return stored_object(self._kinds[key.collection], document, revision=revision, body=body)

    def _former_event(self, change: ObjectChange) -> Event:
        """Return a change that an earlier process made; unless it is old, its object is at hand."""
        shelf = self._shelves[change.key.collection]
        place = (change.key.namespace, change.key.name)
        old: Stored | None = None
        new: Stored | None = None
        if change.previous is not None:
            old = self._restored(change.key, change.previous_revision, change.previous)
        if change.type is not ChangeType.DELETED:
            present = shelf.get(place)
            if present is not None and present.revision == change.revision:
                new = present
            else:
                new = self._restored(change.key, change.revision, change.body)
        return Event(change.revision, old, new)
