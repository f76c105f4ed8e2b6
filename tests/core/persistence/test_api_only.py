"""What strategies have in common that keep nothing on the node."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from simulator.core.behavior import Behavior, Reservations
from simulator.core.calls import AllocateCall, CallFailed
from simulator.core.instants import MINUTE, SECOND, Duration
from simulator.core.persistence.bind_resource import BindResourcePersistence
from simulator.core.persistence.binding_object import BindingObjectPersistence
from simulator.core.persistence.checkpoint_api import CheckpointApiPersistence
from simulator.core.persistence.choosing import FLUSH_PERIOD, STRATEGIES, strategy_of
from simulator.core.persistence.protocol import Persistence
from tests.core.driving import GPU, NIC, Rig, allocate_ids, container, pod

Strategy = Callable[[], Persistence]
BOTH = pytest.mark.parametrize("strategy", [BindResourcePersistence, BindingObjectPersistence])


@pytest.mark.parametrize(
    ("strategy", "name"),
    [
        (BindResourcePersistence, "bind-resource"),
        (BindingObjectPersistence, "binding-object"),
        (
            lambda: CheckpointApiPersistence(Behavior(), flush_period=Duration(SECOND)),
            "checkpoint+api",
        ),
    ],
)
def test_strategies_have_the_names_of_the_flag(strategy: Strategy, name: str) -> None:
    assert strategy().name == name


@BOTH
def test_no_step_of_a_node_writes_anything(strategy: Strategy) -> None:
    """§3.1: no file writes, and nothing in the serial admission."""
    rig = Rig(persistence=lambda _: strategy(), reservations=Reservations.TRANSACTIONAL)
    assert rig.start().source == "nothing"
    rig.plug(GPU, "g0", "g1")
    rig.plug(NIC, "n0")
    rig.on_allocate = lambda call: CallFailed("no") if call.resource == NIC else allocate_ids(call)

    assert rig.admit(pod("p1", {GPU: 1})).admitted
    assert not rig.admit(pod("p2", container("a", {GPU: 1}), container("b", {NIC: 1}))).admitted
    rig.manager.disconnect(NIC)
    rig.pass_time(Duration(6 * MINUTE))
    assert rig.run(rig.manager.expire_endpoints()) == (NIC,)

    assert {type(call) for call in rig.calls} == {AllocateCall}
    assert (rig.writes, rig.commits) == ([], [])
    assert rig.manager.violations() == []


def test_strategies_are_made_by_name_with_their_options() -> None:
    flush = strategy_of("checkpoint+api", {}, Behavior()).flush_period

    assert flush == SECOND
    assert strategy_of("checkpoint+api", {FLUSH_PERIOD: Duration(0)}, Behavior()).flush_period == 0
    for name, kept in STRATEGIES.items():
        if name != "dual-write":
            made = strategy_of(name, {}, Behavior())
            assert made.name == name
            assert made.recalls_ids_only == kept.in_api
    with pytest.raises(KeyError):
        strategy_of("dual-write", {}, Behavior())
