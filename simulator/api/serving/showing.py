"""Objects in the forms in which clients want them; as objects they are bytes that are at hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from simulator.api.dialect import tables
from simulator.api.dialect.documents import Object
from simulator.api.dialect.kinds import Kind
from simulator.api.dialect.negotiation import Form, Shape
from simulator.api.dialect.tables import Page
from simulator.api.serving.events import DELETED
from simulator.api.serving.objects import Objects
from simulator.api.serving.stored import Stored, encoded_json, restamped, with_revision
from simulator.api.serving.watches import Told
from simulator.core.instants import Instant

_PLAIN_IN_PIECE: Final = 1_000
_SHOWN_IN_PIECE: Final = 100
"""Objects that are made something else before others have their turn: some milliseconds."""


class Showing:
    """What an answer shows its objects as.

    Args:
        objects: Where documents are to be had.
        form: The form.
        include: What the rows of a Table carry.
        now: For the ages in a Table.
    """

    def __init__(self, objects: Objects, form: Form, include: str, now: Instant) -> None:
        self._objects = objects
        self._form = form
        self._include = include
        self._now = now

    def one(self, stored: Stored) -> bytes:
        """Return an object."""
        if self._form.is_plain:
            return stored.body
        return encoded_json(self.document(stored.kind, self._objects.document_of(stored)))

    def document(self, kind: Kind, document: Object, *, columns: bool = True) -> Object:
        """Return an object whose document is at hand."""
        if self._form.is_plain:
            return document
        if self._form.shape is Shape.PARTIAL:
            return tables.partial(document, self._form)
        page = Page(tables.revision_of(document))
        return tables.table(
            kind,
            [document],
            self._now,
            page,
            form=self._form,
            include=self._include,
            columns=columns,
        )

    def all(self, kind: Kind, items: Sequence[Stored], page: Page) -> Iterator[bytes]:
        """Iterate over the pieces of a list."""
        head = self._listing(kind, page)
        last, _ = head.popitem()  # What the objects are put into.
        yield b'%b,"%b":[' % (encoded_json(head)[:-1], last.encode())
        step = _PLAIN_IN_PIECE if self._form.is_plain else _SHOWN_IN_PIECE
        for start in range(0, len(items), step):
            piece = b",".join([self._element(stored) for stored in items[start : start + step]])
            yield b"," + piece if start else piece
        yield b"]}"

    def line(self, kind: str, stored: Stored, revision: int, *, columns: bool) -> bytes:
        """Return a line of a watch.

        Args:
            kind: `ADDED`, `MODIFIED` or `DELETED`.
            stored: The object.
            revision: Of the event, which a deletion shows as the object's.
            columns: Whether a Table says its columns: once in a watch.
        """
        body = stored.body
        if kind == DELETED and stored.revision != revision:
            body = restamped(body, revision)
        if not self._form.is_plain:
            document = self._objects.document_of(stored)
            if kind == DELETED:
                document = with_revision(document, revision)
            body = encoded_json(self.document(stored.kind, document, columns=columns))
        return b'{"type":"%b","object":%b}\n' % (kind.encode(), body)

    def told(self, told: Told, *, columns: bool) -> bytes:
        """Return an event as a line of a watch, made once for all watches of this form."""
        event, form = told.event, self._form
        # Ages in a Table are those of the moment in which the first of its watchers is told.
        name = "" if form.is_plain else f"{form.shape}{form.version}{self._include}{columns}"
        return self._objects.shelf(told.state.kind).window.line(
            event,
            (told.type, name),
            lambda: self.line(told.type, told.state, event.revision, columns=columns),
        )

    def _listing(self, kind: Kind, page: Page) -> Object:
        """Return a list without its objects, for which there is room at its end."""
        if self._form.is_plain:
            return tables.listing(kind, [], page)
        if self._form.shape is Shape.PARTIAL:
            return tables.partial_list([], page, self._form)
        return tables.table(kind, [], self._now, page, form=self._form, include=self._include)

    def _element(self, stored: Stored) -> bytes:
        """Return an object as it stands in a list."""
        if self._form.is_plain:
            return stored.body
        document = self._objects.document_of(stored)
        if self._form.shape is Shape.PARTIAL:
            return encoded_json(tables.partial(document, self._form))
        row = tables.row(stored.kind, document, self._now, self._form, self._include)
        return encoded_json(row)
