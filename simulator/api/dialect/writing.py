"""What a create, update or patch makes of an object, or why it does not.

A new object is what was sent, without what its kind does not have, with what its kind fills in and
with the server's metadata. An update takes everything but the status from what was sent, or the
status alone where it is written under `/status`. What comes out equal to what is stored is no
change: it is answered and not written, and the revision stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Final, NamedTuple

from simulator.api.dialect.documents import Object, mapping, text, texts, whole
from simulator.api.dialect.kind_rules import rules_of
from simulator.api.dialect.kinds import NAMESPACES, PODS, Kind
from simulator.api.dialect.metadata import (
    Fresh,
    finalizer_faults,
    metadata_faults,
    new_metadata,
    next_metadata,
    raise_generation,
)
from simulator.api.dialect.patches import Patch, PatchType, applied
from simulator.api.dialect.queries import Validation
from simulator.api.dialect.routes import Route
from simulator.api.dialect.schemas.checking import MistypedError, decoded
from simulator.api.dialect.statuses import (
    Cause,
    StatusError,
    bad_request,
    invalid,
    invalid_patch,
    not_found,
    shown,
)

__all__ = ["Fresh", "Written", "created", "is_finished", "patched", "updated"]

_BAD_REQUEST: Final = 400
_ORDER: Final = ("apiVersion", "kind", "metadata", "spec", "status")
_WARNINGS_COUNT_MAX: Final = 50
"""Most of them: each is a header, of which Python's client reads a hundred."""
_WARNINGS_MAX: Final = 4 * 1024
"""Most characters of all warnings together, as in Kubernetes."""
_WARNING_MAX: Final = 256
"""Most characters of one."""
_CAUSES_MAX: Final = 100
"""Most faults of an object that are told: each takes far more bytes than what is faulty."""


class Written(NamedTuple):
    """What a request makes of an object.

    Attributes:
        object: As it is to be stored and answered; its `metadata.resourceVersion` is that of what
            it was made from, or absent.
        changed: Whether there is anything to store.
        created: Whether it is new.
        removed: Whether it goes away: `object` is its last state.
        warnings: For `Warning` headers.
    """

    object: Object
    changed: bool = True
    created: bool = False
    removed: bool = False
    warnings: tuple[str, ...] = ()


def created(
    route: Route, body: Object, fresh: Fresh, validation: Validation = Validation.WARN
) -> Written:
    """Make a new object.

    Args:
        route: The collection, or the object's own path when it is created by an apply.
        body: What was sent.
        fresh: The time, the object's uid, and letters for a generated name.
        validation: What is done about unknown fields.

    Raises:
        StatusError: 400 or 422.
    """
    kind = route.kind
    given, warnings = _decoded(route, body, validation)
    rules = rules_of(kind)
    if not rules.keeps_status:
        given.pop("status", None)
    given["metadata"] = new_metadata(route, given, fresh)
    rules.fill_in(given)
    rules.begin(given)
    result = _laid_out(given)
    metadata = mapping(result, "metadata")
    _refuse(route, metadata, chain(metadata_faults(kind, metadata), rules.faults(result)))
    return Written(result, created=True, warnings=warnings)


def updated(
    route: Route,
    current: Object,
    body: Object,
    validation: Validation = Validation.WARN,
) -> Written:
    """Replace an object, or its status.

    Args:
        route: The object, or its `status` or `finalize`.
        current: As it is stored.
        body: As it is to be.
        validation: What is done about unknown fields.

    Raises:
        StatusError: 400, 409 or 422.
    """
    given, warnings = _decoded(route, body, validation)
    return _put(route, current, given, warnings)


def patched(
    route: Route,
    current: Object | None,
    patch: Patch,
    fresh: Fresh,
    validation: Validation = Validation.WARN,
) -> Written:
    """Patch an object, or its status; a server-side apply creates what is not there.

    Args:
        route: The object, or its `status`.
        current: As it is stored; None when there is none.
        patch: What is to change.
        fresh: The time, and a uid for an object that is created.
        validation: What is done about unknown fields.

    Raises:
        StatusError: 400, 404, 409 or 422.
    """
    kind = route.kind
    if current is None:
        content = patch.content
        if patch.type is not PatchType.APPLY or route.subresource or not isinstance(content, dict):
            raise not_found(kind, route.name)
        named = {**content, "metadata": {"name": route.name, **mapping(content, "metadata")}}
        return created(route, named, fresh, validation)
    result = applied(current, patch, kind.kind)
    try:
        given, warnings = _decoded(route, result, validation)
    except StatusError as cause:
        if patch.type is PatchType.APPLY or cause.code != _BAD_REQUEST:
            raise
        why = cause.message.partition(" cannot be handled as a ")[2].partition(": ")[2]
        raise invalid_patch(shown(patch.content)[:400], why or cause.message) from cause
    return _put(route, current, given, warnings)


def _put(route: Route, current: Object, given: Object, warnings: tuple[str, ...]) -> Written:
    kind, rules = route.kind, rules_of(route.kind)
    needs_revision = not rules.unconditional
    metadata = next_metadata(route, current, given, needs_revision=needs_revision)
    if route.subresource == "status":
        kept = {key: value for key, value in current.items() if key != "status"}
        status = given.get("status")
        result = _laid_out(kept | ({} if status is None else {"status": status}))
        return Written(result, changed=result != current, warnings=warnings)
    rules.fill_in(given)
    result = {key: value for key, value in given.items() if key not in {"metadata", "status"}}
    result["metadata"] = metadata
    if "status" in current:
        result["status"] = current["status"]
    if kind is NAMESPACES and route.subresource != "finalize" and "spec" in current:
        result["spec"] = current["spec"]
    result = _laid_out(result)
    raise_generation(kind, current, result)
    changed = result != current
    if changed:
        _refuse(route, metadata, _update_causes(route, current, result))
    return Written(
        result,
        changed=changed,
        removed=changed and is_finished(route, result),
        warnings=warnings,
    )


def _update_causes(route: Route, current: Object, result: Object) -> Iterator[Cause]:
    metadata, rules = mapping(result, "metadata"), rules_of(route.kind)
    yield from finalizer_faults(current, metadata)
    if metadata != mapping(current, "metadata"):
        yield from metadata_faults(route.kind, metadata)
    first = next(changes := rules.update_faults(current, result), None)
    if first is not None:
        yield first
        yield from changes
    else:
        yield from rules.faults(result)


def is_finished(route: Route, found: Object) -> bool:
    """Tell whether an object that is being deleted waits for nothing any more."""
    metadata = mapping(found, "metadata")
    if not text(metadata, "deletionTimestamp") or texts(metadata, "finalizers"):
        return False
    if route.kind is NAMESPACES:
        return not texts(found, "spec", "finalizers")
    return route.kind is not PODS or not whole(metadata, "deletionGracePeriodSeconds")


def _decoded(route: Route, body: Object, validation: Validation) -> tuple[Object, tuple[str, ...]]:
    """Read a body as an object of the route's kind; say what it has that the kind has not."""
    kind = route.kind
    try:
        result = decoded(body, kind.kind)
    except MistypedError as cause:
        if kind.native:
            raise bad_request(f"{_unfit(kind)}: {cause}") from cause
        why = f'{cause.path} in body must be of type {cause.wanted}: "{cause.found}"'
        fault = Cause(cause.path, "FieldValueTypeInvalid", f'Invalid value: "{cause.found}": {why}')
        raise invalid(kind, text(body, "metadata", "name") or route.name, [fault]) from cause
    result.object["kind"], result.object["apiVersion"] = kind.kind, kind.api_version
    if not result.unknown:
        return result.object, ()
    faults = [f'unknown field "{path}"' for path in result.unknown]
    if validation is Validation.STRICT:
        raise bad_request(f"{_unfit(kind)}: strict decoding error: {', '.join(faults)}")
    return result.object, tuple(_first(faults)) if validation is Validation.WARN else ()


def _unfit(kind: Kind) -> str:
    return f'{kind.kind} in version "{kind.version}" cannot be handled as a {kind.kind}'


def _first(warnings: Iterable[str]) -> Iterator[str]:
    """Iterate over warnings as far as their headers have room in an answer."""
    left = _WARNINGS_MAX
    for each in islice(warnings, _WARNINGS_COUNT_MAX):
        shown = each[:_WARNING_MAX]
        left -= len(shown)
        if left < 0:
            return
        yield shown


def _laid_out(found: Object) -> Object:
    """Return an object with its parts in the order in which people read them."""
    if tuple(found) == _ORDER[: len(found)]:
        return found
    first: Object = {key: found[key] for key in _ORDER if key in found}
    rest = {key: value for key, value in found.items() if key not in first}
    return {**first, **rest}


def _refuse(route: Route, metadata: Object, causes: Iterator[Cause]) -> None:
    found = list(islice(causes, _CAUSES_MAX))
    if found:
        raise invalid(route.kind, text(metadata, "name") or route.name, found)
