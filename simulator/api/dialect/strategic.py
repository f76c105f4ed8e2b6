"""Strategic merge patches: lists merge by key where the type says so.

Kubernetes: apimachinery/pkg/util/strategicpatch, as the API server calls it (parallel lists merged,
unmatched nulls ignored). Directives: `$patch: replace | delete`, `$retainKeys`, and, beside a list,
`$setElementOrder/FIELD` and `$deleteFromPrimitiveList/FIELD`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from simulator.api.dialect.documents import Json, Object
from simulator.api.dialect.schemas.notation import Field, Type, type_named
from simulator.api.dialect.statuses import StatusError, bad_request, shown

_DIRECTIVE: Final = "$patch"
_RETAIN: Final = "$retainKeys"
_ORDER: Final = "$setElementOrder/"
_DELETE: Final = "$deleteFromPrimitiveList/"
_NO_FIELDS: Final[Type] = {}
_NOTHING: Final = Field("", "", "any")


def strategic_merge(original: Object, patch: Object, type_name: str) -> Object:
    """Return what a patch makes of an object; neither of the two is changed.

    Raises:
        StatusError: 400 or 422, the patch is none.
    """
    return _merged(original, patch, type_named(type_name))


def _merged(original: Object, patch: Object, fields: Type) -> Object:
    if _DIRECTIVE in patch:
        return _directed(patch)
    result = dict(original)
    rest = dict(patch)
    _retain(result, rest)
    _order(result, rest, fields)
    for key in [key for key in rest if key.startswith(_DELETE)]:
        _delete_plain(result, key.removeprefix(_DELETE), rest.pop(key))
    for key, value in rest.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = _value(result.get(key), value, fields.get(key, _NOTHING))
    return result


def _directed(patch: Object) -> Object:
    directive = patch[_DIRECTIVE]
    if directive == "replace":
        return {key: _plain(value) for key, value in patch.items() if key != _DIRECTIVE}
    if directive == "delete":
        return {}
    raise _bad_type(directive, patch)


def _bad_type(directive: Json, patch: Object) -> StatusError:
    return _unprocessable(f"unknown patch type '{directive}' found in {shown(patch)[:200]}")


def _unprocessable(why: str) -> StatusError:
    message = "the server rejected our request due to an error in our request"
    causes: Json = [{"reason": "FieldValueInvalid", "message": why, "field": "patch"}]
    return StatusError(422, "Invalid", f"{message}: {why}", {"causes": causes})


def _value(old: Json, new: Json, known: Field) -> Json:
    if isinstance(old, dict) and isinstance(new, dict):
        inner = type_named(known.type) if known.is_object and not known.shape else _NO_FIELDS
        return _merged(old, new, inner)
    if isinstance(old, list) and isinstance(new, list) and known.merges:
        return _merged_list(old, new, known)
    return _plain(new)


def _plain(value: Json) -> Json:
    """Return a value that is put where there was none: without nulls and directives."""
    if isinstance(value, dict):
        if _DIRECTIVE in value:
            return _directed(value)
        return {
            key: _plain(each)
            for key, each in value.items()
            if each is not None and not key.startswith("$")
        }
    if isinstance(value, list):
        return [
            _plain(each) for each in value if not (isinstance(each, dict) and _DIRECTIVE in each)
        ]
    return value


def _retain(result: Object, patch: Object) -> None:
    if _RETAIN not in patch:
        return
    kept = patch.pop(_RETAIN)
    given = [key for key in patch if not key.startswith("$")]
    if not isinstance(kept, list) or any(key not in kept for key in given):
        raise bad_request("invalid patch format of retainKeys")
    for key in [key for key in result if key not in kept]:
        del result[key]


def _delete_plain(result: Object, key: str, unwanted: Json) -> None:
    if not isinstance(unwanted, list):
        raise bad_request("invalid patch format of primitive list")
    present = result.get(key)
    if isinstance(present, list):
        result[key] = [each for each in present if each not in unwanted]


def _merged_list(old: list[Json], new: list[Json], known: Field) -> list[Json]:
    if not known.key:
        unique: list[Json] = []
        for each in (*old, *new):
            if each not in unique:
                unique.append(each)
        return _in_order(unique, new, old, "")
    kept, added = _special(old, new, known.key)
    fields = type_named(known.type)
    merged: list[Json] = list(kept)
    for element in added:
        at = _index(merged, _key(element, known.key), known.key)
        if at is None:
            merged.append(_plain(element))
        else:
            present = merged[at]
            merged[at] = _merged(present if isinstance(present, dict) else {}, element, fields)
    return _in_order(merged, added, kept, known.key)


def _special(old: list[Json], new: list[Json], key: str) -> tuple[list[Json], list[Object]]:
    """Carry out the directives in a list; return what is left of both."""
    kept, added, replace = old, list[Object](), False
    for element in new:
        if not isinstance(element, dict):
            raise _unprocessable(f"{shown(element)[:200]} is no object with a {key}")
        directive = element.get(_DIRECTIVE)
        if directive == "delete":
            unwanted = _key(element, key)
            kept = [one for one in kept if not (isinstance(one, dict) and one.get(key) == unwanted)]
        elif directive == "replace":
            replace = True
        elif directive is not None:
            raise _bad_type(directive, element)
        else:
            added.append(element)
    return ([], added) if replace else (kept, added)


def _key(element: Object, key: str) -> Json:
    if key not in element:
        raise _unprocessable(
            f"map: {shown(element)[:200]} does not contain declared merge key: {key}"
        )
    return element[key]


def _identity(element: Json, key: str) -> Json:
    return element.get(key) if key and isinstance(element, dict) else element


def _index(elements: Sequence[Json], wanted: Json, key: str) -> int | None:
    for at, element in enumerate(elements):
        if _identity(element, key) == wanted:
            return at
    return None


def _order(result: Object, patch: Object, fields: Type) -> None:
    """Merge the lists whose order a patch sets, and put them into that order."""
    for directive in [key for key in patch if key.startswith(_ORDER)]:
        name = directive.removeprefix(_ORDER)
        order = patch.pop(directive)
        known = fields.get(name, _NOTHING)
        old, new = result.get(name), patch.get(name)
        if not isinstance(order, list) or not known.merges:
            raise bad_request("invalid patch format of setElementOrder list")
        if not isinstance(old, list) and not isinstance(new, list):
            continue
        before = old if isinstance(old, list) else []
        merged: list[Json] = before
        if isinstance(new, list):
            del patch[name]
            _check_order(new, order, known.key)
            merged = _merged_list(before, new, known)
        result[name] = _in_order(merged, order, before, known.key)


def _check_order(new: list[Json], order: list[Json], key: str) -> None:
    """Refuse an order in which elements of the patch's list are missing or stand otherwise."""
    last = -1
    for element in new:
        if isinstance(element, dict) and element.get(_DIRECTIVE) == "delete":
            continue
        wanted = _identity(element, key)
        at = next(
            (
                place
                for place, each in enumerate(order)
                if place > last and _identity(each, key) == wanted
            ),
            None,
        )
        if at is None:
            raise bad_request(
                "The order in patch list:\n"
                f"{shown(new)[:400]}\n doesn't match $setElementOrder list:\n{shown(order)[:400]}"
            )
        last = at


def _in_order(
    merged: list[Json], wanted: Sequence[Json], before: Sequence[Json], key: str
) -> list[Json]:
    """Put a list into the order of the patch; what only the server has keeps its place in between.

    Kubernetes: normalizeElementOrder and mergeSortedSlice.
    """
    ranks = [_identity(each, key) for each in wanted]
    old = [_identity(each, key) for each in before]

    def place(element: Json, among: list[Json]) -> int:
        identity = _identity(element, key)
        return among.index(identity) if identity in among else -1

    ours = [each for each in merged if place(each, ranks) >= 0]
    ours.sort(key=lambda each: place(each, ranks))
    others = [each for each in merged if place(each, ranks) < 0]
    others.sort(key=lambda each: place(each, old))
    result: list[Json] = []
    while others and ours:
        left, right = place(others[0], old), place(ours[0], old)
        result.append(others.pop(0) if 0 <= left < right else ours.pop(0))
    return [*result, *others, *ours]
