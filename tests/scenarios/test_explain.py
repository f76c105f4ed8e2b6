"""`rebind explain`: documentation from the schema."""

from __future__ import annotations

import importlib
import json
import pkgutil
from collections.abc import Iterator

import pytest

import benchmarks.profiles
import scenarios
from scenarios.loading.matrix import Narrowing
from scenarios.running.replay import replay
from scenarios.schema import explain as documentation
from scenarios.schema.fields import Model
from scenarios.schema.outline import Entry, entries
from scenarios.schema.trace_outline import Trace, record_entries, record_entry
from simulator.assembly.worlds import simulated
from simulator.cli.commands.explain import KINDS
from simulator.core.invariant_names import INVARIANTS
from simulator.core.records.kinds import RECORD_KINDS
from simulator.errors import ScenarioError
from simulator.reports.trace import trace
from tests.scenarios.writing import SCENARIO, parse


def explain(path: str) -> str:
    return documentation.explain(path, KINDS)


def below(model: type[Model], path: str) -> Iterator[tuple[str, Entry]]:
    for entry in entries(model).values():
        yield f"{path}.{entry.key}", entry
        if entry.kind.model is not None:
            yield from below(entry.kind.model, f"{path}.{entry.key}")


def all_entries() -> Iterator[tuple[str, Entry]]:
    """Iterate over the keys of all kinds, and the types of records with their keys."""
    for kind, model in KINDS.items():
        yield from below(model, kind)
    for name in RECORD_KINDS:
        yield f"trace.{name}", record_entry(name)
        for entry in record_entries(name).values():
            yield f"trace.{name}.{entry.key}", entry


def test_every_kind_that_files_can_have_is_explained() -> None:
    """A kind of file is what has a `kind` of its own."""
    names = [
        module.name
        for package in (scenarios, benchmarks.profiles)
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    ]
    models = {
        one.__name__.lower()
        for name in names
        for one in vars(importlib.import_module(name)).values()
        if isinstance(one, type) and issubclass(one, Model) and "kind" in one.model_fields
    }

    assert models == KINDS.keys()


def test_every_key_of_every_kind_is_described_in_a_sentence() -> None:
    silent = [path for path, entry in all_entries() if not entry.description.endswith(".")]

    assert silent == []


def test_every_key_can_be_explained() -> None:
    for path, entry in all_entries():
        text = explain(path)
        assert entry.description.split()[0] in text
        assert max(map(len, text.splitlines())) <= 100


def test_a_trace_has_the_keys_that_are_explained() -> None:
    """The header is one by the schema, and every line has the keys of its type of record."""
    lines = trace(replay(parse(SCENARIO), Narrowing(), simulated)).splitlines()
    traces = [json.loads(line) for line in lines]
    headers = [line for line in traces if line.get("kind") == "Trace"]
    assert len(headers) == 4
    assert all(Trace.model_validate(header) for header in headers)

    kinds = set()
    for line in traces:
        if line not in headers:
            kinds.add(line["type"])
            assert list(line) == list(record_entries(line["type"]))
    assert len(kinds) > 10


def test_a_type_of_record_is_explained_with_its_keys() -> None:
    text = explain("trace.PluginCalled")

    assert text.splitlines()[0] == "KEY: trace.PluginCalled <record>"
    assert "  rpc <text> required" in text.splitlines()
    assert "Empty on success." in text
    assert "  PluginCalled <record>" in explain("trace").splitlines()


def test_a_list_is_explained_with_the_keys_of_its_items() -> None:
    text = explain("scenario.spec.steps.rebootNode")

    assert text.splitlines()[0] == "KEY: scenario.spec.steps.rebootNode <RebootNode>"
    assert "  downtime <duration> [default: 0s]" in text.splitlines()


def test_allowed_values_and_defaults_are_listed() -> None:
    text = explain("scenario.spec.readmission")

    assert "upstream | pinned | reassign | wait" in text
    assert "Default: [upstream]" in text


def test_a_default_is_a_value_that_a_file_can_hold() -> None:
    odd = [path for path, entry in all_entries() if "Undefined" in entry.default]

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
        ("pod", 'there is no kind "pod"; allowed: scenario, trace, churnprofile'),
        ("trace.PluginCall", 'trace has no key "PluginCall"; did you mean "PluginCalled"?'),
        ("trace.StepDone.stp", 'trace.StepDone has no key "stp"; did you mean "step"?'),
        (
            "trace.StepDone.step.x",
            'trace.StepDone.step has no key "x"; it has no keys of its own',
        ),
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
