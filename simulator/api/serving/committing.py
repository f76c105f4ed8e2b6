"""From what the dialect decides to a commit, in the turn of each object."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from simulator.api.dialect import kinds
from simulator.api.dialect.bodies import BODY_MAX
from simulator.api.dialect.deleting import check_namespace, namespace_emptied
from simulator.api.dialect.documents import Object, text
from simulator.api.dialect.kinds import NAMESPACED_KINDS
from simulator.api.dialect.routes import Route
from simulator.api.dialect.statuses import already_exists, conflict, too_large, unavailable
from simulator.api.dialect.writing import Fresh, Written
from simulator.api.serving.chance import Chance
from simulator.api.serving.objects import Objects, Proposal
from simulator.api.serving.stored import Stored, encoded
from simulator.core.instants import HOUR, Instant
from simulator.errors import StoreError
from simulator.object_ports import (
    AlreadyExists,
    Body,
    CreateObject,
    DeleteObject,
    ObjectKey,
    UpdateObject,
)

CREATED: Final = 201
OK: Final = 200
_EVENTS_KEPT_FOR: Final = HOUR
"""As `--event-ttl` of the API server has it by default."""
_NAMESPACES: Final = kinds.NAMESPACES.resource
_EVENTS: Final = kinds.EVENTS.resource

Decide: TypeAlias = "Callable[[Object | None, Fresh], Written]"


@dataclass(slots=True)
class Change:
    """What a write has done.

    Attributes:
        written: As it was decided.
        stored: The object as it is now; None when it is gone, or was not to be stored.
    """

    written: Written
    stored: Stored | None

    @property
    def content(self) -> Stored | Object:
        """The object as it is answered."""
        return self.written.object if self.stored is None else self.stored


class Committing:
    """Commits what is decided.

    Args:
        objects: The objects.

    Attributes:
        chance: Where what is new about an object comes from.
    """

    def __init__(self, objects: Objects) -> None:
        self.objects = objects
        self.chance = Chance()
        self._namespaces = objects.shelf(kinds.NAMESPACES)
        self._open: Stored | None = None

    def check_namespace(self, route: Route) -> None:
        """Make sure that something may be made in the namespace of a request.

        Raises:
            StatusError: 404 or 403, it is not there, or soon not any more.
        """
        if route.namespace:
            stored = self._namespaces.get(("", route.namespace))
            if stored is None:
                check_namespace(route, None)
            elif stored is not self._open:  # Else it was looked into, as it is.
                check_namespace(route, self.objects.document_of(stored))
                self._open = stored

    async def create(
        self, route: Route, now: Instant, written: Written, *, dry_run: bool
    ) -> Change:
        """Make an object, whose name is taken from this moment on.

        Raises:
            StatusError: 409, there is one; 503, it cannot be stored.
        """
        document = written.object
        name = text(document, "metadata", "name")
        key = ObjectKey(route.kind.resource, route.namespace, name)
        turns = self.objects.turns
        if self.objects.get(key) is not None or turns.is_taken(key):
            raise already_exists(route.kind, name)
        write = creation(now, key, document)
        if dry_run:
            return Change(written, None)
        turns.take_now(key)
        [stored] = await self.commit([(write, document)])
        return Change(written, stored)

    async def change(
        self, key: ObjectKey, now: Instant, decide: Decide, *, dry_run: bool
    ) -> Change:
        """Let a write be decided in the turn of its object, and commit it.

        Args:
            key: The object.
            now: When it is written.
            decide: What the write makes of the object's document, None when there is none.
            dry_run: Whether to decide only.

        Raises:
            StatusError: What was decided; 503, it cannot be stored.
        """
        turns = self.objects.turns
        await turns.take(key)
        try:
            stored = self.objects.get(key)
            current = None if stored is None else self.objects.document_of(stored)
            written = decide(current, self.chance.fresh(now))
            if dry_run or not (written.changed or written.removed):
                turns.give(key)
                return Change(written, None if written.changed or written.removed else stored)
            proposal = proposed(now, key, stored, written)
        except BaseException:
            turns.give(key)
            raise
        [result] = await self.commit([proposal])
        if written.removed:
            await self.empty_ending(key.namespace, now)
        return Change(written, result)

    async def together(
        self, keys: Iterable[ObjectKey], decide: Callable[[], Sequence[Proposal]]
    ) -> list[Stored | None]:
        """Let writes of several objects be decided in the turns of all of them, and commit them.

        Raises:
            StatusError: What was decided; 503, they cannot be stored.
        """
        turns = self.objects.turns
        taken: list[ObjectKey] = []
        try:
            for key in sorted(set(keys)):  # In one order, so that two of these never block.
                await turns.take(key)
                taken.append(key)
            proposals = decide()
        except BaseException:
            for key in taken:
                turns.give(key)
            raise
        written = {write.key for write, _ in proposals}
        for key in taken:
            if key not in written:
                turns.give(key)
        return await self.commit(proposals) if proposals else []

    async def empty_ending(self, namespace: str, now: Instant) -> None:
        """Delete what is in a namespace that is being deleted, and it with the last of it.

        Raises:
            StatusError: 503, it cannot be stored; it goes on with the next object that goes.
        """
        key = ObjectKey(_NAMESPACES, "", namespace)
        if self._ending(key) is not None:
            # What is on its way already is waited for; nothing new is let in.
            keys = [*self._in_namespace(namespace), key]
            await self.together(keys, lambda: self._emptied(key, now))

    async def commit(self, proposals: Sequence[Proposal]) -> list[Stored | None]:
        """Commit writes together, whose turns end with it.

        Raises:
            StatusError: 409, somebody else writes the same objects; 503, they cannot be stored.
        """
        try:
            results = await self.objects.commit(proposals)
        except StoreError as error:
            reason = f"the database cannot be written: {error}"
            raise unavailable(reason) from error
        answers: list[Stored | None] = []
        for result in results:
            if result is None or isinstance(result, Stored):
                answers.append(result)
                continue
            key = proposals[len(answers)][0].key
            if isinstance(result, AlreadyExists):
                raise already_exists(self.objects.kind(key), key.name)
            raise conflict(self.objects.kind(key), key.name)
        return answers

    def _ending(self, key: ObjectKey) -> Object | None:
        """Return a namespace that is being deleted."""
        stored = self.objects.get(key) if key.name else None
        document = self.objects.document_of(stored) if stored is not None else {}
        return document if text(document, "metadata", "deletionTimestamp") else None

    def _emptied(self, key: ObjectKey, now: Instant) -> list[Proposal]:
        """Return the writes that delete what is in a namespace, in the turns of all of it."""
        namespace = self._ending(key)
        if namespace is None:
            return []
        contents = [
            stored
            for kind in NAMESPACED_KINDS
            for stored in self.objects.shelf(kind).all_in(key.name)
        ]
        routed = [
            (Route(each.kind, each.namespace, each.name), self.objects.document_of(each))
            for each in contents
        ]
        emptied = namespace_emptied(namespace, routed, self.chance.fresh(now))
        proposals = [
            proposed(now, ObjectKey(each.kind.resource, each.namespace, each.name), each, written)
            for each, (_, written) in zip(contents, emptied.objects, strict=True)
            if written.changed or written.removed
        ]
        if emptied.namespace.changed or emptied.namespace.removed:
            stored = self.objects.get(key)
            proposals.append(proposed(now, key, stored, emptied.namespace))
        return proposals

    def _in_namespace(self, namespace: str) -> list[ObjectKey]:
        """Return what is in a namespace, and what is about to be."""
        keys = [key for key in self.objects.turns.taken() if key.namespace == namespace]
        for kind in NAMESPACED_KINDS:
            keys += [
                ObjectKey(kind.resource, namespace, stored.name)
                for stored in self.objects.shelf(kind).all_in(namespace)
            ]
        return keys


def proposed(now: Instant, key: ObjectKey, stored: Stored | None, written: Written) -> Proposal:
    """Return the write that stores what was decided of an object as it is.

    Raises:
        StatusError: 413, it is too large.
    """
    document = written.object
    if stored is None:
        return creation(now, key, document), document
    if written.removed:
        return DeleteObject(now, key, stored.revision), None
    body, expires = encoded(document), _expires(key, now)
    if not text(document, "metadata", "deletionTimestamp"):  # Whatever there is can be deleted.
        _check_size(body)
    return UpdateObject(now, key, body, stored.revision, expires=expires), document


def creation(now: Instant, key: ObjectKey, document: Object) -> CreateObject:
    """Return the write that makes an object.

    Raises:
        StatusError: 413, it is too large.
    """
    uid, body = text(document, "metadata", "uid"), encoded(document)
    _check_size(body)
    return CreateObject(now, key, uid, body, _expires(key, now))


def _check_size(body: Body) -> None:
    """Refuse what patches have made larger than any body may be."""
    if len(body.before) + len(body.after) > BODY_MAX:
        raise too_large(BODY_MAX)


def _expires(key: ObjectKey, now: Instant) -> Instant | None:
    return Instant(now + _EVENTS_KEPT_FOR) if key.collection == _EVENTS else None
