"""Whether a body is the object that it says, and the form in which it is stored.

Kubernetes' own kinds are decoded into Go structs: unknown fields are lost, `null` is nothing, times
and quantities have one form. The same is done to the kinds of Rebind's group, where Kubernetes
would prune what the schema does not have.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final, NamedTuple, TypeAlias

from simulator.api.dialect.documents import Json, Object
from simulator.api.dialect.schemas.notation import Field, Type, type_named
from simulator.core.quantities import normal_quantity

_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII)
_MICRO_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", re.ASCII)
_Path: TypeAlias = "tuple[_Path, str | int] | None"
"""Where something stands: what it is in, and its key or number there; None for the body itself.

It becomes a text only when something is wrong, which it seldom is.
"""
_Place: TypeAlias = tuple[str, _Path]
"""The type that has the field, and where the field is."""
_STR: Final = frozenset({str})
_INT_MAX: Final = (1 << 63) - 1
STRICT_FAULTS_MAX: Final = 100
"""Most unknown fields, or such that stand twice, that are named (as sigs.k8s.io/json has it)."""
_GO: Final = {"string": "string", "int": "int64", "bool": "bool", "quantity": "resource.Quantity"}


class MistypedError(ValueError):
    """A value has a type that its field cannot have.

    Attributes:
        path: Where, such as `spec.containers[0].name`.
        wanted, found: JSON's words for the types.
    """

    def __init__(self, message: str, *, path: str = "", wanted: str = "", found: str = "") -> None:
        super().__init__(message)
        self.path = path
        self.wanted = wanted
        self.found = found


class Decoded(NamedTuple):
    """A body in the form that is stored.

    Attributes:
        unknown: Paths of fields that the type does not have, in the order of the body; the first
            of them if there are many.
    """

    object: Object
    unknown: list[str]


def decoded(body: Object, type_name: str) -> Decoded:
    """Read a body as an object of a type; `body` itself stays as it is.

    Raises:
        MistypedError: A field has a value of another type; the message is Go's.
    """
    unknown: list[str] = []
    return Decoded(_object(body, type_named(type_name), type_name, None, unknown), unknown)


def _object(value: Object, fields: Type, owner: str, path: _Path, unknown: list[str]) -> Object:
    made = {**value}
    for key, each in value.items():
        known = fields.get(key)
        if known is None:
            del made[key]
            if len(unknown) < STRICT_FAULTS_MAX:
                unknown.append(_text_of((path, key)))
        elif known.is_text and type(each) is str:
            continue  # Most fields are this, and stay as they are.
        elif known.is_one_object and isinstance(each, dict):
            made[key] = _object(each, type_named(known.type), known.type, (path, key), unknown)
        elif known.is_plain_list and isinstance(each, list) and _are(known.type, each):
            made[key] = [*each]
        elif known.is_objects and isinstance(each, list):
            fields_of_one, owner_of_one, where = type_named(known.type), known.type, (path, key)
            made[key] = [
                _object(one, fields_of_one, owner_of_one, (where, index), unknown)
                if isinstance(one, dict)
                else _shaped(one, known, "", (owner, (where, index)), unknown)
                for index, one in enumerate(each)
            ]
        elif each is None:
            del made[key]
        else:
            made[key] = _shaped(each, known, known.shape, (owner, (path, key)), unknown)
    return made


def _shaped(value: Json, known: Field, shape: str, place: _Place, unknown: list[str]) -> Json:
    owner, path = place
    if not shape:
        return _single(value, known, place, unknown)
    inner = shape[2:]
    if shape.startswith("[]"):
        if not isinstance(value, list):
            raise _mistyped(value, place, f"[]{_go(known)}", "array")
        return [
            _shaped(each, known, inner, (owner, (path, index)), unknown)
            for index, each in enumerate(value)
        ]
    if not isinstance(value, dict):
        raise _mistyped(value, place, f"map[string]{inner}{_go(known)}", "object")
    return {
        key: _shaped(each, known, inner, (owner, (path, key)), unknown)
        for key, each in value.items()
        if each is not None or known.type == "any"
    }


def _are(kind: str, values: list[Json]) -> bool:
    """Tell whether all are strings, or whole numbers that an int64 holds."""
    if kind == "string":
        return _STR.issuperset(map(type, values))
    for each in values:  # noqa: SIM110 - a generator takes three times as long for one number
        if type(each) is not int or not -_INT_MAX <= each <= _INT_MAX:
            return False
    return True


def _single(value: Json, known: Field, place: _Place, unknown: list[str]) -> Json:
    kind = known.type
    if kind == "string":
        if isinstance(value, str):
            return value
        raise _mistyped(value, place, "string", "string")
    if known.is_object:
        if isinstance(value, dict):
            return _object(value, type_named(kind), kind, place[1], unknown)
        raise _mistyped(value, place, _go(known), "object")
    if kind == "any":
        return value
    if kind == "bool":
        if isinstance(value, bool):
            return value
        raise _mistyped(value, place, "bool", "boolean")
    return _special(value, kind, place)


def _special(value: Json, kind: str, place: _Place) -> Json:
    if kind in {"time", "microTime"}:
        return _time(value, place, micro=kind == "microTime")
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    if kind == "quantity":
        if is_whole or isinstance(value, str | float):
            return _quantity(str(value), place)
        raise _mistyped(value, place, "resource.Quantity", "string")
    if kind == "intOrString" and isinstance(value, str):
        return value
    if not isinstance(value, int) or not is_whole or abs(value) > _INT_MAX:
        raise _mistyped(value, place, "int64", "integer")
    return value


def _quantity(value: str, place: _Place) -> str:
    try:
        return normal_quantity(value)
    except ValueError as cause:
        raise _unreadable(str(cause), place) from cause


def _time(value: Json, place: _Place, *, micro: bool) -> str:
    if not isinstance(value, str):
        raise _mistyped(value, place, "string", "string")
    if (_MICRO_TIME if micro else _TIME).fullmatch(value):
        return value
    layout = f"2006-01-02T15:04:05{'.000000' if micro else ''}Z07:00"
    fault = f'parsing time "{value[:60]}" as "{layout}": cannot parse'
    try:
        read = datetime.fromisoformat(value)
    except ValueError as cause:
        raise _unreadable(fault, place) from cause
    if read.tzinfo is None:
        raise _unreadable(fault, place)
    try:
        read = read.astimezone(UTC)
    except OverflowError as cause:
        raise _unreadable(fault, place) from cause
    unit = "microseconds" if micro else "seconds"
    return f"{read.replace(tzinfo=None).isoformat(timespec=unit)}Z"


def _go(known: Field) -> str:
    return _GO.get(known.type, f"v1.{known.type}" if known.is_object else known.type)


def _text_of(path: _Path) -> str:
    """Return a path as people write it, such as `spec.containers[0].name`."""
    parts: list[str] = []
    while path is not None:
        path, last = path
        parts.append(f"[{last}]" if isinstance(last, int) else f".{last}")
    return "".join(reversed(parts)).removeprefix(".")


def _unreadable(fault: str, place: _Place) -> MistypedError:
    """Return the error of a text that does not say what its field wants."""
    return MistypedError(fault, path=_text_of(place[1]), wanted="string", found="string")


def _mistyped(value: Json, place: _Place, go: str, wanted: str) -> MistypedError:
    """Return the error of Go's JSON reader, which names fields without the places in lists."""
    owner, path = place[0], _text_of(place[1])
    shown = re.sub(r"\[\d+\]", "", path)
    found = json_type(value)
    number = "number" if found == "integer" else "bool" if found == "boolean" else found
    message = f"json: cannot unmarshal {number} into Go struct field {owner}.{shown} of type {go}"
    return MistypedError(message, path=path, wanted=wanted, found=found)


def json_type(value: Json) -> str:
    """Return JSON schema's word for the type of a value."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "number"
    if isinstance(value, str):
        return "string"
    if isinstance(value, list):
        return "array"
    return "null" if value is None else "object"
