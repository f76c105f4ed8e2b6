"""Scenarios as an explorer plays them, and as it writes down what it has found.

What a lost record leads to shows only when somebody asks for the devices. So a pod for each plugin
asks for one at the end, and then some time passes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from scenarios.exploring.editing import (
    ScenarioDocument,
    copied,
    items_of,
    relocate,
    spec_of,
    with_items,
)
from scenarios.exploring.explorer import Explorer, Finding, StartCuttable
from scenarios.exploring.shrink import shrink
from scenarios.files.documents import FILE_SIZE_MAX, Plain, read_documents
from scenarios.loading.loaded import LoadedScenario, load_scenarios, parse_scenarios
from scenarios.loading.matrix import Combination, Narrowing
from scenarios.schema.writing import scenario_text, written_persistence
from simulator.core.instants import format_duration
from simulator.engine.cluster import Keeping
from simulator.engine.cut_points import DOWNTIME, ERRORS, CutPoint
from simulator.engine.faults import FaultKind
from simulator.errors import InputError

CUT_STEP: Final = "cut"
"""The step that is the cut in a history that was found."""
_BETWEEN: Final = "15s"
_NOT_IN_NAMES: Final = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Explorable:
    """A scenario with the pods that ask at its end.

    Attributes:
        document: As it would stand in a file in `path`'s folder.
        loaded: The same, ready to be played.
    """

    document: ScenarioDocument
    path: Path
    loaded: LoadedScenario


def load_explorable(path: Path, settings: Mapping[str, str]) -> list[Explorable]:
    """Read all scenarios of a file.

    Raises:
        OSError: The file cannot be read.
        InputError: It, or a file it refers to, is not valid.
    """
    given = load_scenarios(path, settings)
    with path.open("rb") as file:
        documents = read_documents(file.read(FILE_SIZE_MAX + 1), str(path), settings)
    plain = [document.plain() for document in documents]
    return [
        _explorable(document, before, path)
        for before, document in zip(given, plain, strict=True)
        if isinstance(document, dict)
    ]


def explorable(document: ScenarioDocument, path: Path) -> Explorable:
    """Return a scenario that was made, and stands in no file, as if it stood in `path`.

    Raises:
        InputError: It, or a file it refers to, is not valid.
    """
    return _explorable(document, _loaded(document, path), path)


def _explorable(document: ScenarioDocument, loaded: LoadedScenario, path: Path) -> Explorable:
    changed = _with_questions(document, loaded)
    return Explorable(changed, path, _loaded(changed, path))


def history(
    explored: Explorable,
    combination: Combination,
    finding: Finding,
    *,
    start: StartCuttable,
    keeping: Keeping = Keeping(),
) -> ScenarioDocument | None:
    """Return the shortest scenario in which a finding was seen again; None when it was not.

    Its files are relative to the folder of the scenario that was explored.
    """
    document = copied(explored.document)
    spec = spec_of(document)
    spec.pop("description", None)
    spec["kubeletVersions"] = [combination.version]
    spec["persistence"] = [written_persistence(combination.persistence)]
    spec["readmission"] = combination.readmission.value
    spec["expect"] = [{"always": True, "invariants": "all"}]
    described = (
        f"Found by exploring {explored.loaded.name}: under {combination.persistence.label}, "
        f"{finding.cause}, the invariant {finding.invariant} is broken."
    )
    label = f"{explored.loaded.name} {combination.persistence.label} {finding.invariant}"
    name = _NOT_IN_NAMES.sub("-", f"{label} {finding.cause}".lower()).strip("-")
    document["metadata"] = {"name": name}
    steps = items_of(document, "steps")
    if finding.point is not None:
        first = {"at": "0s", **steps[0]} if "at" not in steps[0] else steps[0]
        if "delay" in first:
            first["at"] = first.pop("delay")
        with_items(document, "steps", [_step_of(finding.point), first, *steps[1:]])

    def fails(candidate: ScenarioDocument) -> bool:
        return finding.invariant in added(candidate, explored.path, start=start, keeping=keeping)

    if not fails(document):
        return None
    shortest = shrink(document, fails)
    shown: ScenarioDocument = {"description": described, **spec_of(shortest)}
    shown["expect"] = [{"always": True, "invariants": "all"}]
    return {**shortest, "spec": shown}


def added(
    document: ScenarioDocument, path: Path, *, start: StartCuttable, keeping: Keeping = Keeping()
) -> set[str]:
    """Return the invariants that the persistence of a scenario's only combination adds.

    One that is not valid adds nothing.
    """
    uncut = copied(document)
    steps = [step for step in items_of(uncut, "steps") if step.get("name") != CUT_STEP]
    with_items(uncut, "steps", steps)
    try:
        loaded, without = _loaded(document, path), _loaded(uncut, path)
    except InputError:
        return set()
    [combination, *_] = loaded.combinations(Narrowing())
    seen = Explorer(loaded, start, keeping).seen(combination)
    if seen.ended_by:
        return set()
    unavoidable = Explorer(without, start).unavoidable(combination)
    return {violation.invariant for violation in seen.violations if violation not in unavoidable}


def history_text(document: ScenarioDocument, old: Path, new: Path) -> str:
    """Return a history as the text of a file in another folder than the scenario's own."""
    moved = copied(document)
    relocate(moved, old, new)
    return scenario_text([moved])


def _step_of(point: CutPoint) -> dict[str, Plain]:
    """Return the step that cuts a run there; it must be the first one."""
    op, node = point.effect.op.value, str(point.effect.node)
    if point.kind is FaultKind.ERROR:
        message = ERRORS[point.effect.op]
        action: dict[str, Plain] = {"op": op, "nth": point.nth, "message": message}
        return {"name": CUT_STEP, "at": "0s", "failEffect": {"node": node, **action}}
    key = "powerCut" if point.kind is FaultKind.POWER_CUT else "crashKubelet"
    when: dict[str, Plain] = {"op": op, "nth": point.nth, "phase": point.when.value}
    downtime = format_duration(DOWNTIME)
    return {"name": CUT_STEP, "at": "0s", key: {"node": node, "downtime": downtime, "when": when}}


def _loaded(document: ScenarioDocument, path: Path) -> LoadedScenario:
    [loaded] = parse_scenarios(scenario_text([document]).encode(), path, {})
    return loaded


def _with_questions(document: dict[str, Plain], loaded: LoadedScenario) -> ScenarioDocument:
    """Return the scenario without expectations, with a pod for each plugin that asks at the end."""
    changed = copied(document)
    spec = spec_of(changed)
    spec.pop("expect", None)
    pods, steps = items_of(changed, "pods"), items_of(changed, "steps")
    taken = {pod.name for pod in loaded.pods} | {step.name for step in loaded.scenario.spec.steps}
    for plugin in loaded.scenario.spec.plugins:
        name = _free(f"probe-{plugin.name}", taken)
        limits: dict[str, Plain] = {plugin.resource_name: 1}
        pods.append(
            {
                "manifest": {
                    "apiVersion": "v1",
                    "kind": "Pod",
                    "metadata": {"name": name},
                    "spec": {"containers": [{"name": "main", "resources": {"limits": limits}}]},
                }
            }
        )
        node = plugin.node or loaded.scenario.spec.nodes[0].name
        create: dict[str, Plain] = {"name": name, "node": node}
        steps.append({"name": name, "delay": _BETWEEN, "createPod": create})
    steps.append({"name": _free("settle", taken), "advance": {"duration": _BETWEEN}})
    with_items(changed, "pods", pods)
    with_items(changed, "steps", steps)
    return changed


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name = f"{name}-x"
    taken.add(name)
    return name
