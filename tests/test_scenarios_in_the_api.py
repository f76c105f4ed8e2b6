"""Every built-in scenario holds under the persistences that keep device bindings in the API, too.

Rows that are meant for other persistences are skipped; why they are is said in the scenarios.
"""

from __future__ import annotations

import pytest

from scenarios.builtin import builtin_names, find_file
from scenarios.loading.loaded import load_scenarios
from scenarios.loading.matrix import Narrowing
from scenarios.running.replay import replay
from scenarios.schema.variants import parse_persistence
from simulator.assembly.worlds import simulated
from simulator.reports.results import Verdict

IN_THE_API = ("checkpoint+api", "bind-resource", "pod-status", "binding-object")
NAMES = [name for name in builtin_names() if name != "reboot-storm"]


@pytest.mark.parametrize("name", NAMES)
def test_every_expectation_holds_that_is_meant_for_them(name: str) -> None:
    [loaded] = load_scenarios(find_file(name), {})
    last = loaded.scenario.spec.kubelet_versions[-1]
    persistences = tuple(parse_persistence(each) for each in IN_THE_API)

    found = replay(loaded, Narrowing((last,), persistences), simulated)

    assert [
        f"{column.label}: {row.title}: {cell.text()}"
        for row in found.rows
        for column, cell in zip(found.columns, row.cells, strict=True)
        if cell.verdict is Verdict.BROKEN
    ] == []


@pytest.mark.soak
@pytest.mark.parametrize("persistence", IN_THE_API)
def test_every_expectation_holds_in_all_versions(persistence: str) -> None:
    chosen = (parse_persistence(persistence),)
    broken: list[str] = []
    for name in builtin_names():
        [loaded] = load_scenarios(find_file(name), {})
        found = replay(loaded, Narrowing(persistences=chosen), simulated)
        broken += [
            f"{name}: {column.label}: {row.title}: {cell.text()}"
            for row in found.rows
            for column, cell in zip(found.columns, row.cells, strict=True)
            if cell.verdict is Verdict.BROKEN
        ]

    assert broken == []
