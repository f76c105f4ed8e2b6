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

_METADATA: Final = '{"metadata":{'
_REVISION: Final = b'"resourceVersion":"'
_ENCODER: Final = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, check_circular=False)
_PARSED_MAX: Final = 256


def encoded(document: Object) -> Body:
    """Encode an object around its revision, which stands at the beginning of its metadata.

    A document that came from JSON may hold halves of surrogate pairs, which UTF-8 has no bytes
    for: they are written as JSON escapes.
    """
    rest: Object = {"metadata": {}, **document}
    metadata = mapping(rest, "metadata")
    if "resourceVersion" in metadata:
        rest["metadata"] = {k: v for k, v in metadata.items() if k != "resourceVersion"}
    del rest["apiVersion"], rest["kind"]
    before = _before(str(document["apiVersion"]), str(document["kind"]))
    line = _ENCODER.encode(rest)
    try:
        return Body(before, _after(line).encode())
    except UnicodeEncodeError:
        return Body(before, _after(_escaped(rest)).encode())


@lru_cache
def _before(api_version: str, kind: str) -> bytes:
    named = _ENCODER.encode({"apiVersion": api_version, "kind": kind})
    return named[:-1].encode() + b',"metadata":{' + _REVISION


def _after(line: str) -> str:
    """Return what stands behind the revision, from an object that begins with its metadata."""
    inner = line[len(_METADATA) :]
    return f'"{inner}' if inner.startswith("}") else f'",{inner}'


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
        node: Its `spec.nodeName`, by which many ask; empty where there is none.
        body: It as JSON, revision included.
        document: It parsed, while `Parsed` keeps it.
        is_revised: Whether the document has the revision.
    """

    kind: Kind
    namespace: str
    name: str
    node: str
    revision: int
    body: bytes
    document: Object | None = None
    is_revised: bool = True

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

    def keep(self, stored: Stored) -> None:
        """Let an object keep its document until enough others have come."""
        self._kept.append(stored)
        if len(self._kept) > self._most:
            self._kept.popleft().document = None

    def document_of(self, stored: Stored) -> Object:
        """Return an object's document, which nobody may change."""
        document = stored.document
        if document is None:
            document = stored.document = cast("Object", json.loads(stored.body))
            self.keep(stored)
        elif not stored.is_revised:
            # What was written has the revision of what it was made from.
            document = stored.document = with_revision(document, stored.revision)
            stored.is_revised = True
        return document


def with_revision(document: Object, revision: int) -> Object:
    """Return a document with a resourceVersion; the given one is not changed."""
    metadata = {**mapping(document, "metadata"), "resourceVersion": str(revision)}
    return {**document, "metadata": metadata}


def stored_object(kind: Kind, document: Object, *, revision: int, body: bytes) -> Stored:
    """Return an object of which document and body are at hand."""
    metadata = mapping(document, "metadata")
    return Stored(
        kind,
        text(metadata, "namespace"),
        text(metadata, "name"),
        text(document, "spec", "nodeName"),
        revision,
        body,
    )
