"""Answers to get and list, from memory.

A selector of labels, or of a field that is in no index, has to look into documents, and that takes
about 8 µs for each: a second for a hundred thousand. So what a list is of is taken down at once,
and then looked at in many turns of the loop, in between which everything else goes on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from simulator.api.dialect.queries import EXACT, Continue, ListQuery
from simulator.api.dialect.routes import Route
from simulator.api.dialect.selectors import Selection
from simulator.api.dialect.statuses import StatusError, bad_request, not_found, too_old
from simulator.api.dialect.tables import Page
from simulator.api.serving.objects import Objects
from simulator.api.serving.shelves import Asked, Part
from simulator.api.serving.stored import Place, Stored
from simulator.api.serving.watches import Scope
from simulator.object_ports import ObjectKey

LOOKED_AT_BYTES: Final = 256 * 1024
"""Bytes of objects that are looked into before others have their turn: a few milliseconds."""


def key_of(route: Route) -> ObjectKey:
    """Return where the object of a path is."""
    return ObjectKey(route.kind.resource, route.namespace, route.name)


def scope_of(objects: Objects, route: Route, selection: Selection) -> Scope:
    """Return which objects a list or watch is about."""
    return Scope(
        route.namespace or selection.namespace or "",
        route.name or selection.name or "",
        selection.node or "",
        everything if selection.is_exact else matching(objects, selection),
    )


def everything(stored: Stored) -> bool:
    """Want every object."""
    del stored
    return True


def matching(objects: Objects, selection: Selection) -> Callable[[Stored], bool]:
    """Want the objects of a selection."""

    def matches(stored: Stored) -> bool:
        return selection.matches(objects.document_of(stored))

    return matches


def found(objects: Objects, route: Route) -> Stored:
    """Return the object of a path.

    Raises:
        StatusError: 404, there is none.
    """
    stored = objects.get(key_of(route))
    if stored is None:
        raise not_found(route.kind, route.name)
    return stored


def in_turns(
    items: Sequence[Stored], matches: Callable[[Stored], bool]
) -> Iterator[Sequence[Stored]]:
    """Iterate over the objects that match, those of one turn of the loop at a time.

    Whoever iterates lets others have their turn in between.
    """
    chosen: list[Stored] = []
    size = 0
    for stored in items:
        if matches(stored):
            chosen.append(stored)
        size += len(stored.body)
        if size > LOOKED_AT_BYTES:
            yield chosen
            chosen, size = [], 0
    yield chosen


async def listed(
    objects: Objects, route: Route, query: ListQuery, selection: Selection
) -> tuple[Sequence[Stored], Page]:
    """Return what a list shows, or the next part of it, as it is when this is called.

    Raises:
        StatusError: 410, what was then cannot be told any more; 504, it is yet to come.
    """
    shelf = objects.shelf(route.kind)
    scope = scope_of(objects, route, selection)
    if query.start is not None:
        revision: int | None = query.start.revision
        begin: Place | None = _place(query.start.after)
    else:
        check_present(objects, query.revision)
        exact = query.match == EXACT or (not query.match and query.limit and query.revision)
        revision, begin = (query.revision if exact else None), None
    part: Part | None = None
    if revision is None or revision <= objects.revision:
        limit = query.limit if selection.is_exact else 0
        counted = selection.is_all and not scope.name
        asked = Asked(scope.namespace, revision, begin, limit, counted, scope.node)
        part = shelf.part(scope.may_contain, asked)
    if part is None:
        raise too_old(revision or 0, shelf.window.floor)
    revision = objects.revision if revision is None else revision
    if not selection.is_exact:
        part = await _chosen(part.items, scope.matches, query.limit)
    token = ""
    if part.after is not None:
        token = Continue(revision, "/".join(part.after)).encode()
    return part.items, Page(revision, token, part.remaining)


async def _chosen(items: Sequence[Stored], matches: Callable[[Stored], bool], limit: int) -> Part:
    """Return those of the objects that match, at most so many unless `limit` is 0."""
    chosen: list[Stored] = []
    for some in in_turns(items, matches):
        chosen += some
        if limit and len(chosen) > limit:
            return Part(chosen[:limit], chosen[limit - 1].place, None)
        await asyncio.sleep(0)
    return Part(chosen, None, None)


def check_present(objects: Objects, revision: int | None) -> None:
    """Make sure that a revision is not one of the future.

    Raises:
        StatusError: 504, it is.

    Kubernetes: NewTooLargeResourceVersionError.
    """
    if revision is None or revision <= objects.revision:
        return
    message = f"Too large resource version: {revision}, current: {objects.revision}"
    raise StatusError(
        504,
        "Timeout",
        f"Timeout: {message}",
        {
            "causes": [
                {"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}
            ],
            "retryAfterSeconds": 1,
        },
        headers={"Retry-After": "1"},
    )


def _place(after: str) -> Place:
    namespace, slash, name = after.partition("/")
    if not slash:
        reason = "continue key is not valid: it names no object"
        raise bad_request(reason)
    return namespace, name
