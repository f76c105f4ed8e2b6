"""Scenarios labeled `timing: independent` give the same transcript simulated and live (details 23).

Live are the sockets, the plugins that serve them, the files and the database; the kubelet is the
same code. What is compared are the lines without their times. The machines of a cluster keep no
order among each other, so where there are several each is compared by itself.
"""

from __future__ import annotations

import logging
from typing import Final

import pytest

from scenarios.builtin import builtin_names, find_file
from scenarios.loading.loaded import LoadedScenario, load_scenarios
from scenarios.loading.matrix import Combination, Narrowing
from scenarios.running.replay import StartRun, play, replay
from scenarios.running.rows import table_rows
from simulator.assembly.worlds import played_live, simulated
from simulator.errors import ScenarioError
from simulator.reports.results import RunResult, Verdict
from simulator.reports.transcript import record_lines
from tests.scenarios.writing import edited, parse

QUICK: Final = (
    "assignments-survive-restarts",
    "device-health-changes",
    "init-devices-reused",
    "kubelet-restart-late-plugin",
    "migrate-through-upgrades",
    "plugin-instances-overlap",
    "plugin-never-back",
    "plugin-unreachable",
    "preferred-allocation-fails",
    "reboot-plugin-first",
    "static-pods",
)
"""What `make test` runs, in one combination each; `make soak` runs all in all."""


def loaded(name: str) -> LoadedScenario:
    [scenario] = load_scenarios(find_file(name), {})
    return scenario


def is_independent(name: str) -> bool:
    return loaded(name).scenario.metadata.labels.get("timing") == "independent"


INDEPENDENT: Final = tuple(name for name in builtin_names() if is_independent(name))


def lines(scenario: LoadedScenario, run: RunResult) -> list[str]:
    """Return the lines of a run without times; of several nodes, one after the other."""
    told = [line.split(maxsplit=1)[1] for line in record_lines(run)]
    nodes = [node.name for node in scenario.scenario.spec.nodes]
    if len(nodes) == 1:
        return told
    by_node = {node: [line for line in told if line.split()[0] == node] for node in nodes}
    steps = sorted(line for line in told if line.split()[0] not in nodes)
    return [line for of_node in (*by_node.values(), steps) for line in of_node]


def outcome(
    scenario: LoadedScenario, combination: Combination, start: StartRun
) -> tuple[list[str], list[Verdict]]:
    """Return the lines of a run, and what became of its expectations."""
    runs = scenario.combinations(Narrowing())
    rows, _ = table_rows(scenario.scenario.spec.expect, runs)
    run, cells = play(scenario, combination, start, rows, runs.index(combination))
    return lines(scenario, run), [cell.verdict for cell in cells]


@pytest.fixture(autouse=True)
def _quiet(caplog: pytest.LogCaptureFixture) -> None:
    """Plugins are killed and refused here, and say so in the log."""
    caplog.set_level(logging.CRITICAL)


def test_most_scenarios_do_not_depend_on_timing() -> None:
    assert len(INDEPENDENT) >= 40
    assert set(QUICK) <= set(INDEPENDENT)


@pytest.mark.parametrize("name", QUICK)
def test_a_scenario_goes_the_same_way_simulated_and_live(name: str) -> None:
    scenario = loaded(name)
    runs = scenario.combinations(Narrowing())
    combination = runs[QUICK.index(name) % len(runs)]

    assert outcome(scenario, combination, played_live) == outcome(scenario, combination, simulated)


@pytest.mark.soak
@pytest.mark.parametrize("name", INDEPENDENT)
def test_a_scenario_goes_the_same_way_in_every_combination(name: str) -> None:
    scenario = loaded(name)
    for combination in scenario.combinations(Narrowing()):
        live = outcome(scenario, combination, played_live)
        assert live == outcome(scenario, combination, simulated), combination


@pytest.mark.parametrize(
    "action",
    [
        "powerCut: {node: node-a}",
        "databaseFile: {node: node-a, action: delete}",
        "crashKubelet: {node: node-a, when: {op: rename}}",
        "failEffect: {node: node-a, op: fsync}",
    ],
)
def test_what_only_a_simulated_node_can_be_put_through_is_named(action: str) -> None:
    reboot = "at: 5s, rebootNode: {name: node-a, downtime: 1m30s}"
    scenario = parse(edited(reboot, f"at: 5s, {action}"))

    with pytest.raises(ScenarioError, match=r'"reboot" cannot be done: .*leave --live out'):
        replay(scenario, Narrowing(("1.36.2",), None, None), played_live)
