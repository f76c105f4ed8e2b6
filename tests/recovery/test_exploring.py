"""The product's explorer finds the weaknesses that are known, no others, and whoever cheats."""

from __future__ import annotations

from functools import cache

import pytest

from scenarios.builtin import find_file
from scenarios.exploring.editing import ScenarioDocument, action_of, items_of
from scenarios.exploring.explorable import Explorable, history, history_text, load_explorable
from scenarios.exploring.explorer import Exploration, Explorer, kinds_of_findings
from scenarios.loading.loaded import parse_scenarios
from scenarios.loading.matrix import Combination, Narrowing
from scenarios.running.replay import replay
from scenarios.schema.variants import Persistence, parse_persistence
from simulator.assembly.worlds import simulated
from simulator.core.behavior import Readmission
from simulator.engine.cluster import Keeping
from simulator.engine.cut_points import ERRORS, cut_points
from simulator.engine.faults import Op
from tests.recovery.broken import (
    AnnouncesBeforeTheCommit,
    AnnouncesBeforeTheWrite,
    TakesFailureForSuccess,
)

SHARES = "restart-init-shares-device"
"""A restart with two pods that run, and a plugin that comes back later."""
OUTAGE = "api-outage-over-a-restart"
"""A kubelet that restarts while the API server is away."""


@cache
def scenario(name: str = SHARES) -> Explorable:
    [found] = load_explorable(find_file(name), {})
    return found


def combination(persistence: str) -> Combination:
    return Combination("1.36.2", parse_persistence(persistence), Readmission.UPSTREAM)


@cache
def explored(persistence: str, name: str = SHARES) -> Exploration:
    return Explorer(scenario(name).loaded, simulated).explore(combination(persistence))


def found(exploration: Exploration) -> set[tuple[str, str]]:
    return {(one.invariant, one.cause) for one in exploration.findings}


def test_the_known_weaknesses_of_the_checkpoint_are_found() -> None:
    """S4.12: a file that cannot be read is forgotten, and the next pod is a second holder.

    S3.15: after a failed write memory is ahead of the file. W10: a power cut takes a rename whose
    directory was not synced.
    """
    assert found(explored("checkpoint")) == {
        ("I1", "read error"),
        ("I3", "read error"),
        ("acknowledged", "read error"),
        ("failed write", "write error"),
        ("acknowledged", "power cut"),
    }


def test_a_synced_directory_keeps_the_rename() -> None:
    """P1 of the persistence designs: `dirFsync`."""
    causes = {cause for _, cause in found(explored("checkpoint:dirFsync=true"))}

    assert causes == {"read error", "write error"}


@pytest.mark.parametrize("name", [SHARES, "state-file-damaged"])
def test_a_database_adds_nothing(name: str) -> None:
    exploration = explored("database", name)

    assert exploration.findings == []
    assert exploration.run > 50


@pytest.mark.parametrize("persistence", ["bind-resource", "binding-object"])
def test_what_is_in_the_api_before_the_start_adds_nothing(persistence: str) -> None:
    """Every request is cut, also so that the server carries it out and nobody is told (W6)."""
    exploration = explored(persistence, OUTAGE)

    assert exploration.findings == []
    assert exploration.run > 50


def test_replies_of_the_api_server_get_lost() -> None:
    seen = Explorer(scenario(OUTAGE).loaded, simulated).seen(combination("bind-resource"))
    points, _ = cut_points(seen.effects, 0)

    assert [point.cause for point in points if point.effect.op is Op.BIND_DEVICES] == [
        "kubelet crash",
        "kubelet crash",
        "power cut",
        "power cut",
        "bindDevices error",
        "bindDevices reply lost",
    ] * 2
    assert {point.place.split()[0] for point in points if "lost" in point.cause} == {"after"}


def test_what_follows_later_is_found_to_be_late() -> None:
    """W4: the object is not there yet when the container starts, whatever happens then."""
    broken = found(explored("binding-object:synchronous=false", OUTAGE))

    assert broken == {("I3", "deviceBinding error")}


@pytest.mark.parametrize("persistence", ["checkpoint", "database"])
def test_every_side_of_every_effect_is_run_or_its_omission_counted(persistence: str) -> None:
    """A crash and a power cut before and after, and an error of each step of the store."""
    exploration = explored(persistence)
    seen = Explorer(scenario().loaded, simulated).seen(combination(persistence))
    steps_of_the_store = sum(effect.op in ERRORS for effect in seen.effects)

    assert len(seen.effects) == exploration.effects
    every = 4 * exploration.effects + steps_of_the_store
    assert exploration.run + exploration.skipped.total() == every
    assert exploration.ended_early == 0


def test_what_the_scenario_itself_does_to_the_file_is_found_without_a_cut() -> None:
    """S4.12, persistence-designs 3.3: a truncated file, a second holder."""
    uncut = {name for name, cause in found(explored("checkpoint", "state-file-damaged"))
             if cause == "without a cut"}  # fmt: skip

    assert uncut == {"I1", "I3", "acknowledged"}


@pytest.mark.parametrize(
    ("keeping", "persistence", "expected"),
    [
        (
            Keeping(strategy=lambda _: AnnouncesBeforeTheCommit()),
            "database",
            {("acknowledged", "without a cut"), ("I1", "commit error")},
        ),
        (
            Keeping(strategy=AnnouncesBeforeTheWrite),
            "checkpoint",
            {("acknowledged", "without a cut"), ("I3", "without a cut")},
        ),
        (
            Keeping(strategy=TakesFailureForSuccess),
            "checkpoint",
            {("acknowledged", "write error"), ("I3", "write error")},
        ),
    ],
)
def test_who_announces_before_it_is_durable_is_caught(
    keeping: Keeping, persistence: str, expected: set[tuple[str, str]]
) -> None:
    explorer = Explorer(scenario().loaded, simulated, keeping)

    assert found(explorer.explore(combination(persistence))) >= expected


def test_the_shortest_history_of_a_broken_strategy() -> None:
    """One pod is admitted; nothing else needs to happen."""
    keeping = Keeping(strategy=AnnouncesBeforeTheWrite)
    explorer = Explorer(scenario().loaded, simulated, keeping)
    [lost] = [
        one
        for one in explorer.explore(combination("checkpoint"), limit=1).findings
        if one.invariant == "acknowledged"
    ]
    shortest = history(
        scenario(), combination("checkpoint"), lost, start=simulated, keeping=keeping
    )

    assert shortest is not None
    assert [action_of(step)[0] for step in items_of(shortest, "steps")] == [
        "startPlugin",
        "createPod",
    ]


@cache
def histories() -> dict[tuple[str, str], ScenarioDocument]:
    exploration = explored("checkpoint")
    shortest = {
        (one.invariant, one.cause): history(
            scenario(), exploration.combination, one, start=simulated
        )
        for one in exploration.findings
    }
    return {key: one for key, one in shortest.items() if one is not None}


def test_every_finding_is_seen_again_in_a_scenario_file() -> None:
    folder = scenario().path.parent

    assert histories().keys() == found(explored("checkpoint"))
    for (invariant, _), document in histories().items():
        text = history_text(document, folder, folder)
        [loaded] = parse_scenarios(text.encode(), scenario().path, {})
        [row] = replay(loaded, Narrowing(), simulated).rows
        assert invariant in row.cells[0].text()
        assert "BROKEN" in row.cells[0].verdict.name


def test_the_shortest_history_of_a_second_holder() -> None:
    """A pod runs, the restarted kubelet cannot read the file, and another pod asks."""
    steps = items_of(histories()["I1", "read error"], "steps")

    assert [action_of(step)[0] for step in steps] == [
        "failEffect",
        "startPlugin",
        "createPod",
        "restartKubelet",
        "createPod",
    ]


def test_the_shortest_history_of_a_lost_rename() -> None:
    """W10: the power goes after the admission was announced."""
    steps = items_of(histories()["acknowledged", "power cut"], "steps")

    assert [action_of(step)[0] for step in steps] == ["powerCut", "startPlugin", "createPod"]


def test_a_limit_spreads_the_points_and_counts_the_others() -> None:
    exploration = Explorer(scenario().loaded, simulated).explore(
        combination("checkpoint"), limit=10
    )

    assert exploration.run == 10
    assert exploration.skipped["beyond the limit"] == explored("checkpoint").run - 10


def test_an_interrupt_leaves_what_was_found_so_far() -> None:
    def progress(done: int, total: int) -> None:
        assert total == explored("checkpoint").run
        if done == 30:
            raise KeyboardInterrupt

    exploration = Explorer(scenario().loaded, simulated).explore(
        combination("checkpoint"), progress=progress
    )

    assert exploration.interrupted
    assert exploration.run == 30
    assert exploration.skipped["interrupted"] == explored("checkpoint").run - 30


def test_what_is_broken_without_a_cut_is_not_found_again_in_cut_runs() -> None:
    causes = {cause for name, cause in found(explored("checkpoint", "state-file-damaged"))
              if name in {"I1", "I3", "acknowledged"}}  # fmt: skip

    assert causes == {"without a cut"}


def test_findings_of_one_kind_are_one_with_the_first_of_them() -> None:
    kind = ("failed write", "write error")
    kinds = kinds_of_findings(
        [explored("checkpoint", "state-file-damaged"), explored("checkpoint")]
    )

    [written] = [one for one in kinds if (one.invariant, one.cause) == kind]
    assert written.persistence == Persistence("checkpoint").label
    assert written.points == sum(
        one.points
        for name in (SHARES, "state-file-damaged")
        for one in explored("checkpoint", name).findings
        if (one.invariant, one.cause) == kind
    )
    assert written.where is explored("checkpoint", "state-file-damaged")


def test_the_same_exploration_twice_is_the_same() -> None:
    again = Explorer(scenario().loaded, simulated).explore(combination("checkpoint"))

    assert again == explored("checkpoint")
