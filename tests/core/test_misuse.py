"""A driver that answers a call with another call's reply is told so, not believed."""

from collections.abc import Callable

import pytest

from simulator.core.behavior import Behavior
from simulator.core.calls import (
    AllocateReply,
    LoadState,
    PreStartContainerReply,
    ReadCheckpoint,
    Reply,
    StateLoaded,
    Stored,
)
from simulator.core.persistence.checkpoint import CheckpointPersistence
from simulator.core.persistence.database import DatabasePersistence
from simulator.core.persistence.protocol import Persistence
from simulator.core.pods import ContainerName
from simulator.core.transitions import NodeName, NodeState
from tests.core.driving import GPU, Rig, pod

LOADED = StateLoaded(NodeState(NodeName("n0"), 0, bindings=(), registered=()))


@pytest.mark.parametrize(
    ("persistence", "reply"),
    [
        (CheckpointPersistence(Behavior()), Stored()),
        (DatabasePersistence(), Stored()),
        (DatabasePersistence(), AllocateReply(None)),
    ],
)
def test_a_start_does_not_take_another_reply(persistence: Persistence, reply: Reply) -> None:
    rig = Rig(persistence=lambda _: persistence)
    loading = rig.manager.start()

    assert isinstance(next(loading), ReadCheckpoint | LoadState)
    with pytest.raises(TypeError, match="cannot be answered with"):
        loading.send(reply)  # type: ignore[arg-type]  # the point of the test


@pytest.mark.parametrize("persistence", [CheckpointPersistence, lambda _: DatabasePersistence()])
def test_a_write_does_not_take_another_reply(
    persistence: Callable[[Behavior], Persistence],
) -> None:
    rig = Rig(persistence=persistence)
    writing = rig.manager.report_devices(GPU, [])
    call = next(writing)

    assert not isinstance(call, ReadCheckpoint | LoadState)
    with pytest.raises(TypeError, match="cannot be answered with"):
        writing.send(LOADED)


def test_a_plugin_call_does_not_take_another_reply() -> None:
    rig = Rig(on_allocate=lambda _: PreStartContainerReply())
    rig.plug(GPU, "g0")

    with pytest.raises(TypeError, match=r"AllocateCall.* cannot be answered with PreStart"):
        rig.admit(pod("p1", {GPU: 1}))


def test_a_container_that_the_pod_has_not_is_named() -> None:
    rig = Rig()

    with pytest.raises(KeyError, match="pod p1 has no container 'other'"):
        rig.run(rig.manager.run_options(pod("p1", {GPU: 1}), ContainerName("other")))
