"""Field documentation from the schema: `rebind explain scenario.spec.steps`."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from scenarios.files.documents import Path
from scenarios.files.phrases import nearest
from scenarios.schema.fields import Model
from scenarios.schema.outline import Entry, entries, entry_at, model_at
from scenarios.schema.scenario import Scenario
from scenarios.schema.trace_outline import Trace, record_entries, record_entry
from simulator.core.records.kinds import RECORD_KINDS
from simulator.errors import ScenarioError

KINDS: Final[Mapping[str, type[Model]]] = MappingProxyType({"scenario": Scenario, "trace": Trace})
"""The kinds of file that stand here, by their name on the command line."""

_WIDTH: Final = 96


def list_of(kinds: Mapping[str, type[Model]]) -> str:
    """Return what can be explained, with a line about each."""
    lines = ["KINDS:"]
    for name, root in kinds.items():
        about = " ".join((root.__doc__ or "").split())
        lines += [f"  {name}", *_wrapped(about, "      ")]
    lines += ["", "`rebind explain KIND.KEY` goes on below, such as scenario.spec.steps."]
    return "\n".join(lines)


def explain(path: str, kinds: Mapping[str, type[Model]] = KINDS) -> str:
    """Return the documentation of a kind, or of a key below it, such as `scenario.spec.steps`.

    Args:
        path: The kind, and keys below it, with dots between.
        kinds: What there is to explain, by name.

    Raises:
        ScenarioError: There is no such kind or key; the message names those that exist.
    """
    kind, *keys = path.split(".")
    root = kinds.get(kind.lower())
    if root is None:
        reason = f'there is no kind "{kind[:60]}"{nearest(kind, kinds)}'
        raise ScenarioError(reason)
    if root is Trace and keys and keys[0] in RECORD_KINDS:
        return "\n".join(_record(path, keys))
    place = _place(root, kind, keys)
    entry = entry_at(root, place)
    model = model_at(root, place)
    lines = _head(path, entry) if entry is not None else [f"KIND: {root.__name__}"]
    if model is not None:
        about = " ".join((model.__doc__ or "").split())
        if entry is None or about != entry.description:
            lines += ["", *_wrapped(about, "")]
        lines += ["", "KEYS:"]
        for one in entries(model).values():
            lines += _entry(one)
    if root is Trace and not keys:
        lines += ["", "RECORDS:"]
        for name in RECORD_KINDS:
            lines += _entry(record_entry(name))
    return "\n".join(lines)


def _place(root: type[Model], kind: str, keys: list[str]) -> Path:
    """Return where in a document the keys stand; any key does in a map of free ones."""
    place: list[str] = []
    for depth, key in enumerate(keys):
        model = model_at(root, tuple(place))
        allowed = tuple(entries(model)) if model is not None else ()
        if root is Trace and not depth:
            allowed = (*allowed, *RECORD_KINDS)
        _check_key([kind, *keys[:depth]], key, allowed)
        place.append(key)
        entry = entry_at(root, tuple(place))
        if entry is not None and entry.kind.keyed and entry.kind.model is not None:
            place.append("*")
    return tuple(place)


def _check_key(above: list[str], key: str, allowed: tuple[str, ...]) -> None:
    if key not in allowed:
        hint = nearest(key, allowed) if allowed else "; it has no keys of its own"
        reason = f'{".".join(above)} has no key "{key[:60]}"{hint}'
        raise ScenarioError(reason)


def _record(path: str, keys: list[str]) -> list[str]:
    """Return the lines about a type of record, or about a key of it."""
    kind, name, *below = path.split(".")
    of_record = record_entries(name)
    if below:
        _check_key([kind, name], below[0], tuple(of_record))
        if below[1:]:
            _check_key([kind, *keys[:2]], below[1], ())
        return _head(path, of_record[below[0]])
    lines = [*_head(path, record_entry(name)), "", "KEYS:"]
    for one in of_record.values():
        lines += _entry(one)
    return lines


def _head(path: str, entry: Entry) -> list[str]:
    title = _wrapped(f"KEY: {path} <{_kind(entry)}>", "", hang="    ")
    lines = [*title, "", *_wrapped(entry.description, "")]
    if entry.default:
        lines.append(f"Default: {entry.default}")
    return lines


def _entry(entry: Entry) -> list[str]:
    required = " required" if entry.required else ""
    default = f" [default: {entry.default}]" if entry.default else ""
    head = _wrapped(f"{entry.key} <{_kind(entry)}>{required}{default}", "  ", hang="      ")
    return [*head, *_wrapped(entry.description, "      ")]


def _kind(entry: Entry) -> str:
    allowed = entry.kind.allowed
    return f"{entry.kind.text}: {' | '.join(allowed)}" if allowed else entry.kind.text


def _wrapped(text: str, indent: str, *, hang: str | None = None) -> list[str]:
    return textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=indent,
        subsequent_indent=indent if hang is None else hang,
        break_long_words=False,
    )
