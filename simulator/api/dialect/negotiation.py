"""In which form an answer is written: the object, a Table of it, or its metadata alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Final

from simulator.api.dialect.statuses import not_acceptable

JSON_TYPE: Final = "application/json"
_ANY: Final = frozenset({JSON_TYPE, "application/*", "*/*"})
_META_GROUP: Final = "meta.k8s.io"
_META_VERSIONS: Final = frozenset({"v1", "v1beta1"})
_ACCEPTS_KEPT: Final = 256
_ACCEPT_KEPT_MAX: Final = 1_024
"""Characters of the longest header that is kept."""


class Shape(Enum):
    """What stands for an object."""

    OBJECT = ""
    TABLE = "Table"
    PARTIAL = "PartialObjectMetadata"


@dataclass(frozen=True, slots=True)
class Form:
    """How an answer is written.

    Attributes:
        version: Of `meta.k8s.io`, for Tables and metadata.
        content_type: For the answer's header.
    """

    shape: Shape = Shape.OBJECT
    version: str = "v1"
    content_type: str = JSON_TYPE

    @property
    def is_plain(self) -> bool:
        """Whether objects are shown as they are."""
        return self.shape is Shape.OBJECT


_SHAPES: Final = {
    "": Shape.OBJECT,
    "Table": Shape.TABLE,
    "PartialObjectMetadata": Shape.PARTIAL,
    "PartialObjectMetadataList": Shape.PARTIAL,
}


def answer_form(accept: str) -> Form:
    """Return the first form that a client takes and that there is.

    Args:
        accept: The header; an empty one takes everything.

    Raises:
        StatusError: 406, it takes nothing that there is.
    """
    return _kept(accept) if len(accept) <= _ACCEPT_KEPT_MAX else _first(accept)


def _first(accept: str) -> Form:
    for media, parameters in accepted(accept):
        if media not in _ANY:
            continue
        shape = _SHAPES.get(parameters.get("as", ""))
        version = parameters.get("v", "v1")
        if shape is Shape.OBJECT:
            return Form()
        if shape is None or version not in _META_VERSIONS:
            continue
        if parameters.get("g") == _META_GROUP:
            return Form(shape, version)
    raise not_acceptable([JSON_TYPE])


_kept = lru_cache(maxsize=_ACCEPTS_KEPT)(_first)


def accepted(header: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Iterate over the media types of an `Accept` header with their parameters, best first."""
    entries = []
    for entry in (header or "*/*").split(","):
        media, *rest = (part.strip() for part in entry.split(";"))
        pairs = (part.partition("=") for part in rest)
        parameters = {key.strip(): value.strip().strip('"') for key, _, value in pairs}
        entries.append((media.lower(), parameters))
    yield from sorted(entries, key=lambda entry: -_quality(entry[1].get("q", "1")))


def _quality(text: str) -> float:
    try:
        return min(1.0, max(0.0, float(text)))
    except ValueError:
        return 0.0
