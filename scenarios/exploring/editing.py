"""Scenario documents as plain values, and edits of them that keep them whole."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Final

from scenarios.files.documents import Plain

ScenarioDocument = dict[str, Plain]
"""A document of kind Scenario that was valid before the edits."""

_SETTINGS: Final = ("name", "at", "after", "delay", "description")
"""Keys of a step beside its action."""


def spec_of(document: ScenarioDocument) -> dict[str, Plain]:
    """Return the spec itself, to be read or changed."""
    return _map(document["spec"])


def name_of(document: ScenarioDocument) -> str:
    """Return the scenario's name."""
    return str(_map(document["metadata"])["name"])


def items_of(document: ScenarioDocument, key: str) -> list[dict[str, Plain]]:
    """Return the maps of a list in the spec, such as `steps`; empty when it is left out."""
    return _maps(spec_of(document).get(key))


def with_items(document: ScenarioDocument, key: str, items: list[dict[str, Plain]]) -> None:
    """Put a list in place of one in the spec; an empty one is left out."""
    spec = spec_of(document)
    if items:
        spec[key] = list(items)
    else:
        spec.pop(key, None)


def action_of(step: Mapping[str, Plain]) -> tuple[str, dict[str, Plain]]:
    """Return the key of a step's action and what it says."""
    key = next(key for key in step if key not in _SETTINGS)
    return key, _map(step[key])


def copied(document: ScenarioDocument) -> ScenarioDocument:
    """Return a document that can be changed while this one stays."""
    return deepcopy(document)


def relocate(document: ScenarioDocument, old: Path, new: Path) -> None:
    """Let the names of files, relative to one folder, be relative to another."""
    for holder in _file_references(document):
        path = old / str(holder["path"])
        holder["path"] = os.path.relpath(path.resolve(), new.resolve())


def _file_references(document: ScenarioDocument) -> Iterator[dict[str, Plain]]:
    """Return the maps whose `path` names a file."""
    places: list[Plain] = [pod.get("manifest") for pod in items_of(document, "pods")]
    for node in items_of(document, "nodes"):
        places.append(node.get("checkpoint"))
        places += [pod.get("manifest") for pod in _maps(node.get("pods"))]
    places += [step.get("checkpointFile") for step in items_of(document, "steps")]
    return (place for place in places if isinstance(place, dict) and "path" in place)


def _maps(value: Plain) -> list[dict[str, Plain]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _map(value: Plain) -> dict[str, Plain]:
    if not isinstance(value, dict):
        message = f"a scenario that was valid has a map here, found {value!r}"
        raise TypeError(message)
    return value
