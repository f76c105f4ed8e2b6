"""What a schema allows at a place: the one source of `rebind explain` and of error messages."""

from __future__ import annotations

import types
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from scenarios.files.documents import Path
from scenarios.schema.fields import Model, Wording
from scenarios.schema.variants import Persistence
from simulator.core.instants import format_duration

_WORDS = {str: "text", int: "whole number", bool: "true or false", object: "any value"}


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of value.

    Attributes:
        text: Its name for people, e.g. `list of Step`.
        model: The map it is, or is made of, if any.
        keyed: Whether a level of free keys lies between.
        allowed: All values, when they can be listed.
    """

    text: str
    model: type[Model] | None = None
    keyed: bool = False
    allowed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Entry:
    """One key of a map.

    Attributes:
        description: The sentence that stands in the schema.
        default: What holds when the key is left out, empty for nothing.
    """

    key: str
    kind: Kind
    description: str
    required: bool
    default: str


def entries(model: type[Model]) -> dict[str, Entry]:
    """Return the keys of a map in the order of the schema."""
    return {
        str(field.alias): Entry(
            str(field.alias),
            _kind_of_field(field),
            " ".join((field.description or "").split()),
            field.is_required(),
            _default(field),
        )
        for field in model.model_fields.values()
    }


def entry_at(root: type[Model], path: Path) -> Entry | None:
    """Return the key of the schema that `path` leads to; list indices do not matter."""
    model: type[Model] | None = root
    entry = None
    free_key = False
    for part in path:
        if isinstance(part, int):
            continue
        if free_key:
            free_key = False
            continue
        entry = entries(model).get(part) if model is not None else None
        if entry is None:
            return None
        model, free_key = entry.kind.model, entry.kind.keyed
    return entry


def model_at(root: type[Model], path: Path) -> type[Model] | None:
    """Return the map that stands at `path`, or None where the schema says nothing more."""
    if not path:
        return root
    entry = entry_at(root, path)
    return entry.kind.model if entry is not None else None


def _kind_of_field(field: FieldInfo) -> Kind:
    for note in field.metadata:
        if isinstance(note, Wording):
            return _worded(note)
    return kind_of(field.annotation)


def kind_of(annotation: Any) -> Kind:  # noqa: ANN401 - annotations have no common type
    """Return what an annotation of the schema means."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        wordings = [note for note in arguments[1:] if isinstance(note, Wording)]
        return _worded(wordings[0]) if wordings else kind_of(arguments[0])
    if origin in (Union, types.UnionType):
        return _union([kind_of(one) for one in arguments if one is not type(None)])
    if origin in (tuple, dict):
        inner = kind_of(arguments[0 if origin is tuple else 1])
        if origin is tuple:
            return replace(inner, text=f"list of {inner.text}")
        key = kind_of(arguments[0])
        keys = " or ".join(key.allowed) or key.text
        return replace(inner, text=f"map of {keys} to {inner.text}", keyed=True)
    if origin is Literal:
        return Kind("one of", allowed=tuple(str(name) for name in arguments))
    is_model = isinstance(annotation, type) and issubclass(annotation, Model)
    return Kind(annotation.__name__, annotation) if is_model else Kind(_WORDS[annotation])


def _worded(wording: Wording) -> Kind:
    return Kind(wording.text, allowed=wording.allowed)


def _union(kinds: list[Kind]) -> Kind:
    return Kind(
        " or ".join(kind.text for kind in kinds),
        next((kind.model for kind in kinds if kind.model), None),
        any(kind.keyed for kind in kinds),
        tuple(name for kind in kinds for name in kind.allowed),
    )


def _default(field: FieldInfo) -> str:
    value = field.get_default(call_default_factory=True, validated_data={})
    nothing = value is None or isinstance(value, Model) or value in ("", (), {})
    if field.is_required() or nothing:
        return ""
    if _kind_of_field(field).text == "duration":
        return format_duration(value)
    if isinstance(value, tuple):
        return f"[{', '.join(_written(one) for one in value)}]"
    return _written(value)


def _written(value: object) -> str:
    """Return a value as a file would have it."""
    match value:
        case Persistence():
            return value.label
        case bool():
            return str(value).lower()
        case Fraction():
            return f"{float(100 * value):g}%"
        case float():
            return f"{value:g}"
        case _:
            return str(value)
