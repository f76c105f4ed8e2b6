"""Restarts, reboots and failures: how many nodes, when, and that the seed alone decides."""

from __future__ import annotations

from benchmarks.profiles.disturbances import Disturbance, DisturbanceKind, disturbances
from simulator.core.instants import MINUTE, SECOND
from tests.benchmarks.profiles.writing import edited, parse, phase

STORM = "{name: storm, load: burst, pods: short, duration: 1m}"


def befalls(phase_text: str, *, seed: int = 7, nodes: int | None = None) -> list[Disturbance]:
    """Return what befalls the 100 nodes of the example in another last phase."""
    loaded = parse(edited(STORM, phase_text))
    last = phase(loaded, "storm")
    return list(disturbances(loaded.profile, last, seed=seed, nodes=nodes))


def test_a_reboot_storm_takes_every_node_once_within_its_spread() -> None:
    found = befalls("{name: storm, rebootNodes: {spread: 10s, downtime: 90s}}")

    assert sorted(one.node for one in found) == list(range(100))
    assert [one.at for one in found] == sorted(one.at for one in found)
    assert all(0 <= one.at < 10 * SECOND for one in found)
    assert max(one.at for one in found) > 8 * SECOND
    assert {(one.kind, one.down) for one in found} == {(DisturbanceKind.REBOOT_NODE, 90 * SECOND)}


def test_a_share_of_the_kubelets_restarts_at_once() -> None:
    found = befalls("{name: storm, restartKubelet: {nodes: 25%}}")

    assert len({one.node for one in found}) == len(found) == 25
    assert {(one.at, one.kind, one.down) for one in found} == {
        (0, DisturbanceKind.RESTART_KUBELET, 0)
    }


def test_chaos_fails_a_node_every_minute_and_none_that_is_down() -> None:
    """1 % of 100 nodes a minute, 10 minutes down, half an hour long."""
    found = befalls("{name: storm, chaos: {fail: 1%}, duration: 30m}")

    assert [one.at // MINUTE for one in found] == list(range(30))
    for index, one in enumerate(found):
        down = [other for other in found[:index] if other.at + other.down > one.at]
        assert one.node not in [other.node for other in down]


def test_when_all_nodes_are_down_none_fails() -> None:
    found = befalls("{name: storm, chaos: {fail: 100%, down: 5m}, duration: 6m}", nodes=3)

    first, second = found[:3], found[3:]
    assert {one.at // MINUTE for one in first} == {0}
    assert all(one.at >= 5 * MINUTE for one in second)


def test_few_nodes_still_lose_one() -> None:
    assert len(befalls("{name: storm, restartKubelet: {nodes: 1%}}", nodes=3)) == 1


def test_the_seed_decides_which_nodes() -> None:
    text = "{name: storm, rebootNodes: {nodes: 10%, spread: 1m}}"

    assert befalls(text) == befalls(text)
    assert befalls(text) != befalls(text, seed=8)


def test_another_disturbance_does_not_shift_the_first() -> None:
    alone = befalls("{name: storm, rebootNodes: {nodes: 10%, spread: 1m}}")
    both = befalls(
        "{name: storm, rebootNodes: {nodes: 10%, spread: 1m}, restartKubelet: {spread: 1m}}"
    )

    assert [one for one in both if one.kind is DisturbanceKind.REBOOT_NODE] == alone
    assert len(both) == 110


def test_a_phase_without_disturbances_has_none() -> None:
    assert befalls(STORM) == []


def test_outages_come_again_with_other_nodes_until_pods_come_no_more() -> None:
    found = befalls(
        "{name: storm, load: burst, pods: short, duration: 3m, "
        "apiOutage: {nodes: 20%, every: 1m, spread: 30s, duration: 20s}}"
    )
    minutes = [
        sorted(one.node for one in found if one.at // MINUTE == minute) for minute in range(3)
    ]

    assert [len(set(nodes)) for nodes in minutes] == [20, 20, 20]
    assert minutes[0] != minutes[1]
    assert {one.kind for one in found} == {DisturbanceKind.API_OUTAGE}
    assert {one.down for one in found} == {20 * SECOND}
    assert all(one.at % MINUTE < 30 * SECOND for one in found)


def test_an_outage_comes_once_unless_it_is_to_come_again() -> None:
    text = "{name: storm, load: burst, pods: short, duration: 3m, apiOutage: {duration: 1s}}"
    found = befalls(text)

    assert len({one.node for one in found}) == len(found) == 100
    assert {one.at for one in found} == {0}
