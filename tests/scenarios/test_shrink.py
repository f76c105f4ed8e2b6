"""What is left of a scenario that fails when everything that can be left out was."""

from __future__ import annotations

from pathlib import Path

import pytest

from scenarios.exploring.editing import ScenarioDocument, action_of, items_of, spec_of
from scenarios.exploring.shrink import shrink
from scenarios.files.documents import read_documents
from scenarios.loading.loaded import LoadedScenario, parse_scenarios
from scenarios.schema.writing import scenario_text
from simulator.errors import ScenarioError
from tests.scenarios.writing import SCENARIO, edited

STEPS = SCENARIO[SCENARIO.index("  steps:\n") : SCENARIO.index("  expect:\n")]


def document(text: str = SCENARIO) -> ScenarioDocument:
    [found] = read_documents(text.encode(), "example.yaml", {})
    plain = found.plain()
    assert isinstance(plain, dict)
    return plain


def names(found: ScenarioDocument, key: str) -> list[object]:
    return [item.get("name") for item in items_of(found, key)]


def test_only_what_the_failure_needs_is_left() -> None:
    shortest = shrink(document(), lambda found: "reboot" in names(found, "steps"))

    assert names(shortest, "steps") == ["reboot"]
    assert items_of(shortest, "pods") == items_of(shortest, "plugins") == []
    assert spec_of(shortest)["kubeletVersions"] == ["1.24.0"]
    assert spec_of(shortest)["persistence"] == ["checkpoint"]


def test_the_variant_that_fails_is_the_one_that_is_left() -> None:
    def fails(found: ScenarioDocument) -> bool:
        spec = spec_of(found)
        versions, persistence = spec["kubeletVersions"], spec["persistence"]
        assert isinstance(versions, list)
        assert isinstance(persistence, list)
        return "1.36.2" in versions and "database" in persistence

    shortest = spec_of(shrink(document(), fails))

    assert (shortest["kubeletVersions"], shortest["persistence"]) == (["1.36.2"], ["database"])


def test_a_scenario_of_which_nothing_can_be_left_out_stays_as_it_is() -> None:
    whole = document()

    assert shrink(whole, lambda found: found == whole) == whole


def test_what_waited_for_a_step_that_is_gone_follows_the_one_before_it() -> None:
    text = edited(
        STEPS,
        "  steps:\n"
        "  - {name: one, startPlugin: {name: gpu}}\n"
        "  - {name: two, advance: {duration: 1s}}\n"
        "  - {name: three, after: two, delay: 2s, restartKubelet: {}}\n",
    ).replace("after: admit", "after: two")

    shortest = shrink(document(text), lambda found: names(found, "steps")[-1:] == ["three"])

    assert items_of(shortest, "steps") == [{"name": "three", "delay": "2s", "restartKubelet": {}}]
    assert items_of(shortest, "expect") == []


def test_a_fault_is_moved_to_the_first_effect_at_which_it_still_fails() -> None:
    cut = "{name: cut, at: 0s, crashKubelet: {when: {op: write, nth: 7, phase: before}}}"
    text = edited(STEPS, f"  steps:\n  - {cut}\n").replace("after: admit", "after: cut")

    def fails(found: ScenarioDocument) -> bool:
        [step] = items_of(found, "steps") or [{"advance": {}}]
        _, action = action_of(step)
        when = action.get("when")
        nth = when["nth"] if isinstance(when, dict) else 0
        return isinstance(nth, int) and nth >= 3

    [step] = items_of(shrink(document(text), fails), "steps")
    assert step["crashKubelet"] == {"when": {"op": "write", "nth": 3, "phase": "before"}}


def test_pods_of_a_list_are_left_out_one_by_one() -> None:
    pods = ", ".join(
        f"{{apiVersion: v1, kind: Pod, metadata: {{name: {name}}}}}" for name in ("a", "b", "c")
    )
    text = f"spec:\n  pods: [{{manifest: {{kind: List, items: [{pods}]}}}}]\n"

    shortest = shrink(document(text), lambda found: "name: b" in scenario_text([found]))

    assert "name: a" not in scenario_text([shortest])
    assert "name: c" not in scenario_text([shortest])


def test_no_more_scenarios_are_tried_than_allowed() -> None:
    tried = []

    def fails(found: ScenarioDocument) -> bool:
        tried.append(found)
        return True

    shrink(document(), fails, trials_max=5)

    assert len(tried) == 5


@pytest.mark.parametrize("trials_max", [1, 4, 2_000])
def test_what_is_left_is_a_scenario(trials_max: int) -> None:
    def loaded(found: ScenarioDocument) -> LoadedScenario:
        [scenario] = parse_scenarios(scenario_text([found]).encode(), Path("short.yaml"), {})
        return scenario

    def fails(found: ScenarioDocument) -> bool:
        try:
            return loaded(found).scenario.spec.steps[-1].name == "reboot"
        except ScenarioError:
            return False

    shortest = shrink(document(), fails, trials_max=trials_max)

    assert loaded(shortest).scenario.spec.steps[-1].name == "reboot"
    assert trials_max < 2_000 or names(shortest, "nodes") == ["node-a"]
