"""Lists, Tables, metadata alone, and bookmarks: what stands around the objects of an answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from simulator.api.dialect.columns import COLUMNS, Column
from simulator.api.dialect.documents import Object, mapping, text
from simulator.api.dialect.kinds import Kind
from simulator.api.dialect.negotiation import Form
from simulator.core.instants import Instant

INITIAL_EVENTS_END: Final = "k8s.io/initial-events-end"
_TABLE_V1: Final = Form()


@dataclass(frozen=True, slots=True)
class Page:
    """What a list says of itself.

    Attributes:
        revision: Its resourceVersion.
        token: Where the next page begins; empty when this is the last.
        remaining: How many objects are on further pages, if that is known.
    """

    revision: int
    token: str = ""
    remaining: int | None = None


def revision_of(found: Object) -> int:
    """Return an object's resourceVersion; 0 when it has none."""
    digits = text(found, "metadata", "resourceVersion")
    return int(digits) if digits.isdecimal() else 0


def list_metadata(page: Page) -> Object:
    """Return the metadata of a list."""
    metadata: Object = {"resourceVersion": str(page.revision)}
    if page.token:
        metadata["continue"] = page.token
    if page.remaining:
        metadata["remainingItemCount"] = page.remaining
    return metadata


def listing(kind: Kind, objects: Sequence[Object], page: Page) -> Object:
    """Return objects as a list."""
    return {
        "kind": kind.list_kind,
        "apiVersion": kind.api_version,
        "metadata": list_metadata(page),
        "items": [*objects],
    }


def partial(found: Object, form: Form) -> Object:
    """Return an object's metadata alone."""
    return {
        "kind": "PartialObjectMetadata",
        "apiVersion": f"meta.k8s.io/{form.version}",
        "metadata": mapping(found, "metadata"),
    }


def partial_list(objects: Sequence[Object], page: Page, form: Form) -> Object:
    """Return the metadata of objects as a list."""
    return {
        "kind": "PartialObjectMetadataList",
        "apiVersion": f"meta.k8s.io/{form.version}",
        "metadata": list_metadata(page),
        "items": [partial(one, form) for one in objects],
    }


def table(  # noqa: PLR0913 - what a Table is made of; all but four are named
    kind: Kind,
    objects: Sequence[Object],
    now: Instant,
    page: Page,
    *,
    form: Form = _TABLE_V1,
    include: str = "Metadata",
    columns: bool = True,
) -> Object:
    """Return objects as a Table, as kubectl shows them.

    Args:
        kind: Which columns there are.
        objects: One row each.
        now: For ages.
        page: What the list says of itself.
        form: The version of Tables that is wanted.
        include: What each row carries: `None`, `Metadata` or `Object`.
        columns: Whether the columns are said; in a watch only the first Table does.
    """
    return {
        "kind": "Table",
        "apiVersion": f"meta.k8s.io/{form.version}",
        "metadata": list_metadata(page),
        "columnDefinitions": [_definition(one) for one in COLUMNS[kind]] if columns else None,
        "rows": [row(kind, one, now, form, include) for one in objects],
    }


def _definition(column: Column) -> Object:
    return {
        "name": column.name,
        "type": column.type,
        "format": column.format,
        "description": column.description,
        "priority": column.priority,
    }


def row(kind: Kind, found: Object, now: Instant, form: Form, include: str) -> Object:
    """Return an object as a row of a Table; see `table`."""
    made: Object = {"cells": [one.cell(found, now) for one in COLUMNS[kind]]}
    if include == "Object":
        made["object"] = found
    elif include == "Metadata":
        made["object"] = partial(found, form)
    return made


def bookmark(kind: Kind, revision: int, *, initial: bool = False) -> Object:
    """Return the object of a BOOKMARK event: how far a watch has come.

    Args:
        kind: What is watched.
        revision: Up to which all events were sent.
        initial: Whether it ends the state that a watch began with.
    """
    metadata: Object = {"resourceVersion": str(revision), "creationTimestamp": None}
    if initial:
        metadata["annotations"] = {INITIAL_EVENTS_END: "true"}
    return {"kind": kind.kind, "apiVersion": kind.api_version, "metadata": metadata}
