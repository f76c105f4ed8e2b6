"""Objects as the server keeps them: encoded once, and parsed only while somebody looks inside.

Who holds a hundred thousand objects holds their bytes; documents, ten times that size, exist for
the latest few only.
"""

from __future__ import annotations

import json
from collections import deque
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, cast

from simulator.api.dialect.documents import Object, mapping, text
from simulator.api.dialect.kinds import Kind
from simulator.object_ports import Body

Place = tuple[str, str]
"""Where an object is among those of its kind: namespace, empty for kinds without, and name."""

_FIRST: Final = frozenset({"apiVersion", "kind", "metadata"})
_REVISION: Final = b'"resourceVersion":"'
_ENCODER: Final = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, check_circular=False)
_PARSED_MAX: Final = 2_048


def encoded(document: Object) -> Body:
    """Encode an object around its revision, which stands at the beginning of its metadata.

    A document that came from JSON may hold halves of surrogate pairs, which UTF-8 has no bytes
    for: they are written as JSON escapes.
    """
    metadata = {
        key: value
        for key, value in mapping(document, "metadata").items()
        if key != "resourceVersion"
    }
    rest = {key: value for key, value in document.items() if key not in _FIRST}
    before = _before(text(document, "apiVersion"), text(document, "kind"))
    inner, outer = _ENCODER.encode(metadata), _ENCODER.encode(rest)
    try:
        return Body(before, _after(inner, outer).encode())
    except UnicodeEncodeError:
        return Body(before, _after(_escaped(metadata), _escaped(rest)).encode())


@lru_cache
def _before(api_version: str, kind: str) -> bytes:
    named = _ENCODER.encode({"apiVersion": api_version, "kind": kind})
    return named[:-1].encode() + b',"metadata":{' + _REVISION


def _after(metadata: str, rest: str) -> str:
    """Return what stands behind the revision: the rest of the metadata, and of the object."""
    inner = f",{metadata[1:]}" if len(metadata) > len("{}") else "}"
    return f'"{inner},{rest[1:]}' if len(rest) > len("{}") else f'"{inner}}}'


def encoded_json(document: Object) -> bytes:
    """Encode a document that has no revision of the store in it, e.g. a Status."""
    line = _ENCODER.encode(document)
    try:
        return line.encode()
    except UnicodeEncodeError:
        return _escaped(document).encode()


def _escaped(document: Object) -> str:
    return json.dumps(document, separators=(",", ":"))


def restamped(body: bytes, revision: int) -> bytes:
    """Put another revision into the body of an object, in place of the one that it has."""
    start = body.index(_REVISION) + len(_REVISION)  # Nothing a client wrote stands before it.
    return b"%b%d%b" % (body[:start], revision, body[body.index(b'"', start) :])


@dataclass(slots=True, eq=False)
class Stored:
    """One object at one revision.

    Attributes:
        uid: Its `metadata.uid`.
        node: Its `spec.nodeName`, by which many ask; empty where there is none.
        body: It as JSON, revision included.
        document: It parsed, while `Parsed` keeps it.
    """

    kind: Kind
    namespace: str
    name: str
    uid: str
    node: str
    revision: int
    body: bytes
    document: Object | None = None

    @property
    def place(self) -> Place:
        """Where it is among those of its kind."""
        return self.namespace, self.name


class Parsed:
    """The objects whose documents are kept parsed: the latest, in bounded number.

    Args:
        most: How many.
    """

    def __init__(self, most: int = _PARSED_MAX) -> None:
        self._most = most
        self._kept: deque[Stored] = deque()

    def keep(self, stored: Stored, document: Object) -> None:
        """Keep a document with its object until enough others have come."""
        stored.document = document
        self._kept.append(stored)
        if len(self._kept) > self._most:
            self._kept.popleft().document = None

    def document_of(self, stored: Stored) -> Object:
        """Return an object's document, which nobody may change."""
        document = stored.document
        if document is None:
            document = cast("Object", json.loads(stored.body))
            self.keep(stored, document)
        return document


def stored_object(kind: Kind, document: Object, *, revision: int, body: bytes) -> Stored:
    """Return an object of which document and body are at hand."""
    metadata = mapping(document, "metadata")
    return Stored(
        kind,
        text(metadata, "namespace"),
        text(metadata, "name"),
        text(metadata, "uid"),
        text(document, "spec", "nodeName"),
        revision,
        body,
    )


def with_revision(document: Object, revision: int) -> Object:
    """Return a document with a resourceVersion; the given one is not changed."""
    metadata = dict(mapping(document, "metadata"))
    metadata["resourceVersion"] = str(revision)
    return {**document, "metadata": metadata}
