"""`rebind explain`: documentation from the schema."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from scenarios.explain import explain
from scenarios.fields import Model
from scenarios.outline import Entry, entries
from scenarios.schema import Scenario
from simulator.core.records import INVARIANTS
from simulator.errors import ScenarioError


def all_entries(model: type[Model], path: str = "scenario") -> Iterator[tuple[str, Entry]]:
    for entry in entries(model).values():
        yield f"{path}.{entry.key}", entry
        if entry.kind.model is not None:
            yield from all_entries(entry.kind.model, f"{path}.{entry.key}")


def test_every_key_of_the_schema_is_described_in_a_sentence() -> None:
    silent = [path for path, entry in all_entries(Scenario) if not entry.description.endswith(".")]

    assert silent == []


def test_every_key_can_be_explained() -> None:
    for path, entry in all_entries(Scenario):
        text = explain(path)
        assert entry.description.split()[0] in text
        assert max(map(len, text.splitlines())) <= 100


def test_a_list_is_explained_with_the_keys_of_its_items() -> None:
    text = explain("scenario.spec.steps.rebootNode")

    assert text.splitlines()[0] == "KEY: scenario.spec.steps.rebootNode <RebootNode>"
    assert "  downtime <duration> [default: 0s]" in text.splitlines()


def test_allowed_values_and_defaults_are_listed() -> None:
    text = explain("scenario.spec.readmission")

    assert "upstream | pinned | reassign | wait" in text
    assert "Default: [upstream]" in text


def test_a_default_is_a_value_that_a_file_can_hold() -> None:
    odd = [path for path, entry in all_entries(Scenario) if "Undefined" in entry.default]

    assert odd == []


def test_a_sentence_is_not_said_twice() -> None:
    assert explain("scenario.spec").count("What is simulated and what is expected.") == 1


def test_the_keys_of_a_map_are_listed_where_they_are_few() -> None:
    rpcs = "Allocate or GetPreferredAllocation or PreStartContainer"

    assert f"calls <map of {rpcs} to whole number>" in explain("scenario.spec.expect")


def test_every_invariant_is_explained() -> None:
    text = " ".join(explain("scenario.spec.expect.invariants").split())

    for name, meaning in INVARIANTS.items():
        assert f"{name}: {meaning}" in text


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("pod", 'there is no kind "pod"; allowed: scenario'),
        ("scenario.spec.step", 'scenario.spec has no key "step"; did you mean "steps"?'),
        (
            "scenario.spec.seed.x",
            'scenario.spec.seed has no key "x"; it has no keys of its own',
        ),
    ],
)
def test_an_unknown_key_is_told_with_the_nearest_one(path: str, expected: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        explain(path)

    assert expected in str(caught.value)
