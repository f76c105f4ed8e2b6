"""What an API server needs of a store: objects as JSON, and every change of them to be watched.

The store knows nothing of kinds, only where an object is, its uid, and its JSON. What it decides is
the order of writes: each gets a revision, which is the object's resourceVersion and strictly
increases over the whole database, transitions of nodes included. Kubernetes: etcd, as the API
server uses it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, Protocol

from simulator.core.instants import Instant


class ObjectKey(NamedTuple):
    """Where an object is.

    Attributes:
        collection: The plural, with its group if any: `pods`, `devicebindings.rebind.internal`.
        namespace: Empty for an object without one, e.g. a node.
    """

    collection: str
    namespace: str
    name: str


class Body(NamedTuple):
    """An object's JSON, cut where the digits of its resourceVersion belong.

    The quotation marks around them belong to the halves: `{"metadata":{"resourceVersion":"` and
    `","uid":...`. So the JSON is written once, before the revision is known.
    """

    before: bytes
    after: bytes

    def at(self, revision: int) -> bytes:
        """Return the JSON with a resourceVersion."""
        return b"%b%d%b" % (self.before, revision, self.after)


@dataclass(frozen=True, slots=True)
class CreateObject:
    """Make an object where there is none.

    Attributes:
        uid: The object's, as in its body; it keeps it for life.
        expires: From when on `ObjectReader.expired` names it; None for never.
    """

    at: Instant
    key: ObjectKey
    uid: str
    body: Body
    expires: Instant | None = None


@dataclass(frozen=True, slots=True)
class UpdateObject:
    """Put a body in place of an object's present one.

    Attributes:
        revision, uid: What the object must have; None for whatever it has.
        expires: As of `CreateObject`; the former one does not count any more.
    """

    at: Instant
    key: ObjectKey
    body: Body
    revision: int | None = None
    uid: str | None = None
    expires: Instant | None = None


@dataclass(frozen=True, slots=True)
class DeleteObject:
    """Remove an object.

    Attributes:
        revision, uid: What the object must have; None for whatever it has.
    """

    at: Instant
    key: ObjectKey
    revision: int | None = None
    uid: str | None = None


ObjectWrite = CreateObject | UpdateObject | DeleteObject


class ChangeType(Enum):
    """What happened to an object, as a watch event says it."""

    ADDED = "ADDED"
    MODIFIED = "MODIFIED"
    DELETED = "DELETED"


class ObjectChange(NamedTuple):
    """One change of one object.

    Attributes:
        revision: Of the write.
        body: The object's JSON at this revision; of a deletion, the last one with the revision of
            the deletion as its resourceVersion.
        previous: The object's JSON before, with its resourceVersion then; None for a new one.
        previous_revision: That resourceVersion; 0 for a new one.
    """

    revision: int
    type: ChangeType
    key: ObjectKey
    body: bytes
    previous: bytes | None = None
    previous_revision: int = 0


@dataclass(frozen=True, slots=True)
class Written:
    """A write is durable, and this is what it did."""

    change: ObjectChange


@dataclass(frozen=True, slots=True)
class AlreadyExists:
    """There is an object where one was to be made; nothing was changed."""


@dataclass(frozen=True, slots=True)
class NotFound:
    """There is no such object; nothing was changed."""


@dataclass(frozen=True, slots=True)
class Conflicted:
    """The object is not as the write requires; nothing was changed.

    Attributes:
        revision, uid: What it has.
        is_another: Whether its uid differs; the revision is looked at after that.
    """

    revision: int
    uid: str
    is_another: bool


ObjectOutcome = Written | AlreadyExists | NotFound | Conflicted


@dataclass(frozen=True, slots=True)
class StoredObject:
    """An object at one revision.

    Attributes:
        revision: Of its last change.
        body: Its JSON, with that resourceVersion.
    """

    key: ObjectKey
    revision: int
    body: bytes


@dataclass(frozen=True, slots=True)
class Position:
    """How far a list was read: what comes after this key, as it was at this revision.

    With an empty namespace and name it is the beginning of the list at that revision.
    """

    revision: int
    namespace: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class ObjectPage:
    """Objects by namespace and name, in the order of their UTF-8 bytes.

    Attributes:
        revision: Of the list: a watch from here misses nothing and repeats nothing.
        after: Where the next page begins; None when this one is the last.
        remaining: How many objects come after it.
    """

    items: tuple[StoredObject, ...]
    revision: int
    after: Position | None = None
    remaining: int = 0


@dataclass(frozen=True, slots=True)
class ObjectChanges:
    """Changes in order of revision.

    Attributes:
        revision: Up to here they are complete; where the next question begins.
        more: Whether there are more, which the limit kept back.
    """

    changes: tuple[ObjectChange, ...]
    revision: int
    more: bool = False


@dataclass(frozen=True, slots=True)
class Expired:
    """What happened since that revision is not known any more (HTTP: 410).

    Attributes:
        oldest: The oldest revision from which on everything is known.
    """

    oldest: int


class ObjectReader(Protocol):
    """What can be asked of objects; every answer is of one instant."""

    def revision(self) -> int:
        """Return the revision of the newest change in the database, 0 for an empty one."""
        ...

    def get(self, key: ObjectKey) -> StoredObject | None:
        """Return an object, None when there is none."""
        ...

    def page(
        self,
        collection: str,
        *,
        namespace: str | None = None,
        limit: int | None = None,
        after: Position | None = None,
    ) -> ObjectPage | Expired:
        """Return a page of the objects of a collection.

        Args:
            collection: As in `ObjectKey`.
            namespace: Only of this one; None for all.
            limit: How many at most, 1 or more; None for all.
            after: Where the last page ended; all pages of one list are of one revision.
        """
        ...

    def since(
        self,
        revision: int,
        *,
        collection: str | None = None,
        namespace: str | None = None,
        limit: int | None = None,
    ) -> ObjectChanges | Expired:
        """Return the changes after a revision.

        Args:
            revision: The first change is newer than it; one that is yet to come is no error.
            collection: Only of this one; None for all.
            namespace: Only of this one; None for all.
            limit: How many at most, 1 or more; None for all.
        """
        ...

    def expired(self, at: Instant, *, limit: int) -> list[DeleteObject]:
        """Return deletions of objects whose `expires` has come, for the caller to apply."""
        ...


class ObjectStore(ObjectReader, Protocol):
    """Where the objects of an API server live."""

    def apply(self, writes: Sequence[ObjectWrite]) -> list[ObjectOutcome]:
        """Apply a batch with one commit, in order; outcomes in order, each of its own write.

        When it returns, every `Written` one is durable, in the durability class of the store. A
        `StoreError` means that none of the batch was applied.
        """
        ...
