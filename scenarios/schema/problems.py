"""Faults that pydantic finds, said in one line with path, line, column and what is allowed."""

from __future__ import annotations

import re
from typing import Final, TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from scenarios.files.documents import Document, ListNode, MapNode, Path
from scenarios.files.phrases import found, nearest
from scenarios.schema.fields import Model
from scenarios.schema.outline import entries, entry_at, model_at
from simulator.errors import InputError

M = TypeVar("M", bound=Model)

_QUOTED: Final = re.compile("'([^']*)'")
_KEY: Final = "[key]"
"""How pydantic marks that a key, not its value, is wrong."""
_WANTED: Final = {
    "string_type": "text",
    "int_type": "a whole number",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "dict_type": "a map",
    "model_type": "a map",
}
_BOUNDS: Final = {
    "greater_than_equal": ("ge", "at least"),
    "less_than_equal": ("le", "at most"),
    "less_than": ("lt", "less than"),
}
_LENGTHS: Final = {"too_short": ("min_length", "at least"), "too_long": ("max_length", "at most")}


def read_model(document: Document, model: type[M]) -> M:
    """Return the document as a `model`.

    Raises:
        InputError: The document does not fit the schema; the first fault of the text, with the
            others.
    """
    try:
        return model.model_validate(document.plain())
    except ValidationError as cause:
        first, *others = _faults(document, model, cause)
        first.others = tuple(others)
        raise first from cause


def _faults(document: Document, root: type[Model], cause: ValidationError) -> list[InputError]:
    details = cause.errors(include_url=False)
    # A list is called too short when its items are wrong; then only the items are worth telling.
    below = {detail["loc"][:depth] for detail in details for depth in range(len(detail["loc"]))}
    # Beside an unknown key the missing one is most often that, misspelt.
    misspelt = {detail["loc"][:-1] for detail in details if detail["type"] == "extra_forbidden"}
    found_ones = [
        _fault(document, root, detail)
        for detail in details
        if not (detail["type"] == "too_short" and detail["loc"] in below)
        and not (detail["type"] == "missing" and detail["loc"][:-1] in misspelt)
    ]
    return sorted(found_ones, key=lambda fault: (fault.line, fault.column, fault.reason))


def _fault(document: Document, root: type[Model], detail: ErrorDetails) -> InputError:
    kind, loc = detail["type"], detail["loc"]
    path = _existing(document, loc)
    if kind == "missing":
        return document.fault(path, say(path, f'the key "{loc[-1]}" is missing'))
    if kind == "extra_forbidden":
        key = str(path[-1])
        model = model_at(root, path[:-1])
        allowed = tuple(entries(model)) if model is not None else ()
        reason = f'unknown key "{key[:60]}"{nearest(key, allowed)}'
        return document.fault(path, say(path[:-1], reason), key=True)
    reason = _reason(root, path, detail)
    return document.fault(path, say(path, reason), key=_KEY in loc)


def _existing(document: Document, loc: Path) -> Path:
    """Return the parts of `loc` that are the document's; others name a part of the schema."""
    node = document.root
    existing: list[str | int] = []
    for part in loc:
        if isinstance(node, MapNode) and part in node.items:
            node = node.items[str(part)]
        elif isinstance(node, ListNode) and isinstance(part, int) and part < len(node.items):
            node = node.items[part]
        else:
            continue
        existing.append(part)
    return tuple(existing)


def _reason(root: type[Model], path: Path, detail: ErrorDetails) -> str:
    kind, value = detail["type"], detail["input"]
    if kind == "value_error":
        return detail["msg"].removeprefix("Value error, ")
    if kind in _WANTED:
        quotes = kind == "string_type" and isinstance(value, int | float)
        hint = "; put it in quotes" if quotes else ""
        keys = _keys(model_at(root, path)) if kind == "model_type" else ""
        return f"wants {_WANTED[kind]}{keys}, found {found(value)}{hint}"
    limits = detail.get("ctx", {})
    if kind in _BOUNDS:
        name, words = _BOUNDS[kind]
        return f"wants {words} {limits[name]}, found {found(value)}"
    if kind in _LENGTHS:
        name, words = _LENGTHS[kind]
        items = "item" if limits[name] == 1 else "items"
        return f"wants {words} {limits[name]} {items}, found {limits['actual_length']}"
    entry = entry_at(root, path)
    if kind == "literal_error":
        named = _QUOTED.findall(limits["expected"])
        allowed = (entry.kind.allowed if entry is not None else ()) or named
        return f"{found(value)} is not allowed here{nearest(str(value), allowed)}"
    return f"{detail['msg'][:1].lower()}{detail['msg'][1:]}, found {found(value)}"


def _keys(model: type[Model] | None) -> str:
    """Name the keys that a map must have, or those that it may have."""
    every = entries(model) if model is not None else {}
    needed = [key for key, entry in every.items() if entry.required]
    if needed:
        return f" with {', '.join(needed)}"
    return f" with any of {', '.join(every)}" if every else ""


def say(path: Path, reason: str) -> str:
    """Put the dotted path before a reason: `spec.steps[0]: …`."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return f"{text.removeprefix('.')}: {reason}" if path else reason
