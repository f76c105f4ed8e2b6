"""Shrinks a scenario that fails to a short one that still fails.

A shrinker knows nothing of what failing means: it is told by a predicate. It leaves out what can
be left out, one thing after the other, from the end, until nothing more can: steps, pods, plugins,
nodes, expectations, and settings that have a default. The same scenario and predicate give the same
result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from scenarios.exploring.editing import (
    ScenarioDocument,
    action_of,
    copied,
    items_of,
    spec_of,
    with_items,
)
from scenarios.files.documents import Plain

Fails = Callable[[ScenarioDocument], bool]
"""Tells whether a scenario still fails; one that is not valid does not."""

TRIALS_MAX: Final = 2_000
"""Most scenarios that are tried, unless it is said otherwise."""

_LISTS: Final = ("steps", "expect", "pods", "plugins", "nodes")
_SETTINGS: Final = (
    "description",
    "readmission",
    "reservations",
    "durability",
    "addedFsync",
    "choice",
    "seed",
)
_VARIANTS: Final = ("kubeletVersions", "persistence", "readmission")


def shrink(
    document: ScenarioDocument, fails: Fails, *, trials_max: int = TRIALS_MAX
) -> ScenarioDocument:
    """Return the shortest scenario that was found to fail.

    Args:
        document: A scenario that fails.
        fails: The predicate.
        trials_max: Most calls of it.
    """
    best, trials = document, 0
    improved = True
    while improved:
        improved = False
        for candidate in _shorter(best):
            if trials == trials_max:
                return best
            trials += 1
            if fails(candidate):
                best = candidate
                improved = True
                break
    return best


def _shorter(document: ScenarioDocument) -> Iterator[ScenarioDocument]:
    """Return the scenarios that are one thing shorter, those that save most first."""
    yield from _one_variant(document)
    for key in _LISTS:
        items = items_of(document, key)
        for size in _sizes(len(items)):
            for start in range(len(items) - size, -1, -size):
                yield _without(document, key, start, size)
    yield from _fewer_manifests(document)
    yield from _earlier_faults(document)
    for name in _SETTINGS:
        if name in spec_of(document):
            shorter = copied(document)
            del spec_of(shorter)[name]
            yield shorter
    for number, step in enumerate(items_of(document, "steps")):
        if "description" in step:
            shorter = copied(document)
            del items_of(shorter, "steps")[number]["description"]
            yield shorter


def _sizes(count: int) -> list[int]:
    """Return how many items are left out at once: half of them, a quarter, …, one."""
    sizes = []
    while count > 1:
        count //= 2
        sizes.append(count)
    return sizes or [1]


def _one_variant(document: ScenarioDocument) -> Iterator[ScenarioDocument]:
    for key in _VARIANTS:
        variants = spec_of(document).get(key)
        if isinstance(variants, list) and len(variants) > 1:
            for variant in variants:
                shorter = copied(document)
                spec_of(shorter)[key] = [variant]
                yield shorter


def _without(document: ScenarioDocument, key: str, start: int, size: int) -> ScenarioDocument:
    """Return the scenario without some items of a list; what waited for a step waits no more."""
    shorter = copied(document)
    items = items_of(shorter, key)
    gone = {str(item.get("name")) for item in items[start : start + size]}
    with_items(shorter, key, [*items[:start], *items[start + size :]])
    if key == "steps":
        for step in items_of(shorter, "steps"):
            if step.get("after") in gone:
                del step["after"]
        rows = [row for row in items_of(shorter, "expect") if row.get("after") not in gone]
        with_items(shorter, "expect", rows)
    return shorter


def _fewer_manifests(document: ScenarioDocument) -> Iterator[ScenarioDocument]:
    """Return the scenarios in which a manifest of kind List has one item less."""
    for number, pod in enumerate(items_of(document, "pods")):
        for index in reversed(range(len(_manifests(pod)))):
            shorter = copied(document)
            items = _manifests(items_of(shorter, "pods")[number])
            if len(items) > 1:
                del items[index]
                yield shorter


def _manifests(pod: dict[str, Plain]) -> list[Plain]:
    manifest = pod.get("manifest")
    items = manifest.get("items") if isinstance(manifest, dict) else None
    return items if isinstance(items, list) else []


def _earlier_faults(document: ScenarioDocument) -> Iterator[ScenarioDocument]:
    """Return the scenarios in which a fault strikes at an earlier effect of its kind."""
    for number, step in enumerate(items_of(document, "steps")):
        nth = _nth(step)
        for earlier in range(1, nth):
            shorter = copied(document)
            _fault_point(items_of(shorter, "steps")[number])["nth"] = earlier
            yield shorter


def _nth(step: dict[str, Plain]) -> int:
    nth = _fault_point(step).get("nth", 1)
    return nth if isinstance(nth, int) else 1


def _fault_point(step: dict[str, Plain]) -> dict[str, Plain]:
    """Return the map of a step that says at which effect something breaks."""
    _, action = action_of(step)
    when = action.get("when")
    return when if isinstance(when, dict) else action
