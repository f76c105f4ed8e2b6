"""Strategic merge patches: lists merge by key where the type says so.

Kubernetes: apimachinery/pkg/util/strategicpatch, as the API server calls it (parallel lists merged,
unmatched nulls ignored). Directives: `$patch: replace | delete`, `$retainKeys`, and, beside a list,
`$setElementOrder/FIELD` and `$deleteFromPrimitiveList/FIELD`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from operator import itemgetter
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
    named = {key for key in kept if isinstance(key, str)} if isinstance(kept, list) else set()
    if not isinstance(kept, list) or any(key not in named for key in given):
        raise bad_request("invalid patch format of retainKeys")
    for key in [key for key in result if key not in named]:
        del result[key]


def _delete_plain(result: Object, key: str, unwanted: Json) -> None:
    if not isinstance(unwanted, list):
        raise bad_request("invalid patch format of primitive list")
    present = result.get(key)
    if isinstance(present, list):
        marks = {mark(each) for each in unwanted}
        result[key] = [each for each in present if mark(each) not in marks]


def _merged_list(old: list[Json], new: list[Json], known: Field) -> list[Json]:
    if not known.key:
        unique: list[Json] = list({mark(each): each for each in (*old, *new)}.values())
        return _in_order(unique, new, old, "")
    kept, added = _special(old, new, known.key)
    fields = type_named(known.type)
    merged: list[Json] = list(kept)
    places = _ranks(merged, known.key)
    for element in added:
        wanted = mark(_key(element, known.key))
        at = places.setdefault(wanted, len(merged))
        if at == len(merged):
            merged.append(_plain(element))
        else:
            present = merged[at]
            merged[at] = _merged(present if isinstance(present, dict) else {}, element, fields)
    return _in_order(merged, added, kept, known.key)


def _special(old: list[Json], new: list[Json], key: str) -> tuple[list[Json], list[Object]]:
    """Carry out the directives in a list; return what is left of both."""
    unwanted, added, replace = set[str](), list[Object](), False
    for element in new:
        if not isinstance(element, dict):
            raise _unprocessable(f"{shown(element)[:200]} is no object with a {key}")
        directive = element.get(_DIRECTIVE)
        if directive == "delete":
            unwanted.add(mark(_key(element, key)))
        elif directive == "replace":
            replace = True
        elif directive is not None:
            raise _bad_type(directive, element)
        else:
            added.append(element)
    kept = [one for one in old if mark(_identity(one, key)) not in unwanted] if unwanted else old
    return ([], added) if replace else (kept, added)


def _key(element: Object, key: str) -> Json:
    if key not in element:
        raise _unprocessable(
            f"map: {shown(element)[:200]} does not contain declared merge key: {key}"
        )
    return element[key]


def mark(value: Json) -> str:
    """Return what two values have in common only when they are equal as JSON."""
    return f'"{value}' if isinstance(value, str) else json.dumps(value, sort_keys=True)


def _identity(element: Json, key: str) -> Json:
    return element.get(key) if key and isinstance(element, dict) else element


def _ranks(elements: Sequence[Json], key: str) -> dict[str, int]:
    """Return where each identity stands first."""
    ranks: dict[str, int] = {}
    for at, element in enumerate(elements):
        ranks.setdefault(mark(_identity(element, key)), at)
    return ranks


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
    rest = iter([mark(_identity(each, key)) for each in order])
    for element in new:
        if isinstance(element, dict) and element.get(_DIRECTIVE) == "delete":
            continue
        if mark(_identity(element, key)) not in rest:  # Takes from it up to the element.
            raise bad_request(
                "The order in patch list:\n"
                f"{shown(new)[:400]}\n doesn't match $setElementOrder list:\n{shown(order)[:400]}"
            )


def _in_order(
    merged: list[Json], wanted: Sequence[Json], before: Sequence[Json], key: str
) -> list[Json]:
    """Put a list into the order of the patch; what only the server has keeps its place in between.

    Kubernetes: normalizeElementOrder and mergeSortedSlice.
    """
    ranks, old = _ranks(wanted, key), _ranks(before, key)
    ours: list[tuple[int, int, Json]] = []
    others: list[tuple[int, Json]] = []
    for element in merged:
        identity = mark(_identity(element, key))
        if identity in ranks:
            ours.append((ranks[identity], old.get(identity, -1), element))
        else:
            others.append((old.get(identity, -1), element))
    ours.sort(key=itemgetter(0))
    others.sort(key=itemgetter(0))
    result: list[Json] = []
    left = 0
    for _, right_place, element in ours:
        while left < len(others) and 0 <= others[left][0] < right_place:
            result.append(others[left][1])
            left += 1
        result.append(element)
    return result + [element for _, element in others[left:]]
