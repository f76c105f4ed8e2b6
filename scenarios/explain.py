"""Field documentation from the schema: `rebind explain scenario.spec.steps`."""

from __future__ import annotations

import textwrap
from typing import Final

from scenarios.fields import Model
from scenarios.outline import Entry, entries, entry_at, model_at
from scenarios.phrases import nearest
from scenarios.schema import Scenario
from simulator.errors import ScenarioError

KINDS: Final[dict[str, type[Model]]] = {"scenario": Scenario}
"""The kinds of file that can be explained, by their name on the command line."""

_WIDTH: Final = 96


def explain(path: str) -> str:
    """Return the documentation of a kind, or of a key below it, such as `scenario.spec.steps`.

    Raises:
        ScenarioError: There is no such kind or key; the message names those that exist.
    """
    kind, *keys = path.split(".")
    root = KINDS.get(kind.lower())
    if root is None:
        reason = f'there is no kind "{kind[:60]}"{nearest(kind, KINDS)}'
        raise ScenarioError(reason)
    for depth, key in enumerate(keys):
        model = model_at(root, tuple(keys[:depth]))
        allowed = tuple(entries(model)) if model is not None else ()
        if key not in allowed:
            above = ".".join([kind, *keys[:depth]])
            hint = nearest(key, allowed) if allowed else "; it has no keys of its own"
            reason = f'{above} has no key "{key[:60]}"{hint}'
            raise ScenarioError(reason)
    entry = entry_at(root, tuple(keys))
    model = model_at(root, tuple(keys))
    lines = _head(path, entry) if entry is not None else [f"KIND: {root.__name__}"]
    if model is not None:
        about = " ".join((model.__doc__ or "").split())
        if entry is None or about != entry.description:
            lines += ["", *_wrapped(about, "")]
        lines += ["", "KEYS:"]
        for one in entries(model).values():
            lines += _entry(one)
    return "\n".join(lines)


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
