"""Patches of the four kinds, and what each makes of an object.

A server-side apply is a merge that overrides what others wrote: fields of the applied configuration
are set, elements of lists are matched by their key, nothing is taken away. Kubernetes also removes
what the same manager applied before and leaves out now, and refuses to override other managers
without `force`; both need records of who owns which field (`managedFields`), which are not kept.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final, cast

import jsonpatch
import jsonpointer

from simulator.api.dialect.documents import Json, Object, is_too_deep, text
from simulator.api.dialect.kinds import Kind
from simulator.api.dialect.schemas.notation import Field, Type, type_named
from simulator.api.dialect.statuses import StatusError, bad_request
from simulator.api.dialect.strategic import mark, strategic_merge

OPERATIONS_MAX: Final = 10_000
"""Most operations of a JSON patch, as in Kubernetes."""
COPIED_MAX: Final = 3 * 1024 * 1024
"""Most bytes that the copies of a JSON patch add, as in Kubernetes."""
_SHOWN_MAX: Final = 200
"""Most characters of why a JSON patch does not apply."""
_REJECTED: Final = "the server rejected our request due to an error in our request"


class PatchType(Enum):
    """How a patch is meant; the value is its media type."""

    JSON = "application/json-patch+json"
    MERGE = "application/merge-patch+json"
    STRATEGIC = "application/strategic-merge-patch+json"
    APPLY = "application/apply-patch+yaml"


@dataclass(frozen=True, slots=True)
class Patch:
    """A patch as it was sent."""

    type: PatchType
    content: Json


def patch_types(kind: Kind) -> tuple[PatchType, ...]:
    """Return the types that a kind takes: strategic merges are for Kubernetes' own alone."""
    if kind.native:
        return (PatchType.JSON, PatchType.MERGE, PatchType.STRATEGIC, PatchType.APPLY)
    return (PatchType.JSON, PatchType.MERGE, PatchType.APPLY)


def applied(current: Object, patch: Patch, type_name: str) -> Object:
    """Return what a patch makes of an object; neither of the two is changed.

    Raises:
        StatusError: 400 or 422, the patch cannot be read or does not apply.
    """
    if patch.type is PatchType.JSON:
        return _operated(current, patch.content)
    if not isinstance(patch.content, dict):
        raise bad_request("json: cannot unmarshal the patch into an object")
    if patch.type is PatchType.MERGE:
        merged = merge(current, patch.content)
        return merged if isinstance(merged, dict) else {}
    if patch.type is PatchType.STRATEGIC:
        return strategic_merge(current, patch.content, type_name)
    return _put_over(current, patch.content, type_named(type_name))


def merge(target: Json, patch: Json) -> Json:
    """Return what a JSON merge patch (RFC 7386) makes of a value."""
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merge(result.get(key), value)
    return result


def _operated(current: Object, operations: Json) -> Object:
    """Apply a JSON patch (RFC 6902)."""
    if not isinstance(operations, list):
        kind = "object" if isinstance(operations, dict) else "value"
        why = f"json: cannot unmarshal {kind} into Go value of type jsonpatch.Patch"
        raise bad_request(f"error decoding patch: {why}")
    if len(operations) > OPERATIONS_MAX:
        why = f"The allowed maximum operations in a JSON patch is {OPERATIONS_MAX}, got "
        raise StatusError(413, "RequestEntityTooLarge", f"{why}{len(operations)}")
    steps = [one for one in operations if isinstance(one, dict)]
    if len(steps) != len(operations):
        raise bad_request("error decoding patch: every operation is an object")
    try:
        result = _stepped(current, steps)
    except jsonpatch.InvalidJsonPatch as cause:
        raise bad_request(f"error decoding patch: {cause}") from cause
    except (
        jsonpatch.JsonPatchException,
        jsonpointer.JsonPointerException,
        TypeError,
        KeyError,
        IndexError,
        ValueError,
        AttributeError,
        RecursionError,
    ) as cause:
        why = str(cause).partition(" in {")[0].partition(" in [")[0][:_SHOWN_MAX]
        causes: Json = [{"reason": "FieldValueInvalid", "message": why, "field": "patch"}]
        raise StatusError(422, "Invalid", _REJECTED, {"causes": causes}) from cause
    if not isinstance(result, dict) or is_too_deep(result):
        raise StatusError(422, "Invalid", f"{_REJECTED}: what it leaves is no object")
    return result


def _stepped(current: Object, steps: list[Object]) -> Json:
    """Carry out the operations; copies may add only so much, since each may double what there is.

    Raises:
        StatusError: 413, they add more.
    """
    patch = jsonpatch.JsonPatch(steps)
    if not any(step.get("op") == "copy" for step in steps):
        return cast("Json", patch.apply(current))
    result, added = copy.deepcopy(current), 0
    for step in steps:
        if step.get("op") == "copy":
            found = jsonpointer.resolve_pointer(result, text(step, "from"))
            added += len(json.dumps(found))
            if added > COPIED_MAX:
                why = (
                    "Unable to complete the copy, the accumulated size increase of copy is "
                    f"{added}, exceeding the limit {COPIED_MAX}"
                )
                raise StatusError(413, "RequestEntityTooLarge", why)
        result = jsonpatch.JsonPatch([step]).apply(result, in_place=True)
    return cast("Json", result)


def _put_over(current: Object, wanted: Mapping[str, Json], fields: Type) -> Object:
    result = dict(current)
    for key, value in wanted.items():
        if value is not None:
            result[key] = _over(result.get(key), value, fields.get(key))
    return result


def _over(old: Json, new: Json, known: Field | None) -> Json:
    if isinstance(old, dict) and isinstance(new, dict):
        named = known is not None and known.is_object and not known.shape
        return _put_over(old, new, type_named(known.type) if known is not None and named else {})
    if not (isinstance(old, list) and isinstance(new, list) and known is not None and known.merges):
        return new
    result = list(old)
    places: dict[str, int] = {}
    for at, element in enumerate(result):
        places.setdefault(_identity(element, known.key), at)
    for element in new:
        place = places.setdefault(_identity(element, known.key), len(result))
        if place == len(result):
            result.append(element)
        elif isinstance(element, dict):
            present = result[place]
            below = present if isinstance(present, dict) else {}
            result[place] = _put_over(below, element, type_named(known.type))
    return result


def _identity(element: Json, key: str) -> str:
    """Return what tells an element of a list apart."""
    if key and isinstance(element, dict) and key in element:
        return mark({key: element[key]})
    return mark(element)
