"""Two decisions at once: an admission, and an allocation at the start of another pod's container.

Each waits for plugins while the other goes on, lists change and pods end (S3.11, S3.18, S3.23).
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.core.behavior import Reservations
from simulator.core.calls import Call, CallFailed, Decision, PluginCall, Reply
from simulator.core.endpoints import PluginOptions
from simulator.core.persistence.database import DatabasePersistence
from simulator.core.pods import ContainerKind, ContainerName, Pod, PodUid
from tests.core.driving import GPU, MAIN, Rig, container, device, pod

IDS = tuple(f"d{number}" for number in range(5))
STARTED = pod("started", {GPU: 2})
ADMITTED = pod(
    "admitted", container("init", {GPU: 1}, ContainerKind.INIT), container("app", {GPU: 2})
)

moves = st.lists(
    st.one_of(
        st.sampled_from(["admit", "start", "fail admit", "fail start", "release", "end"]),
        st.sets(st.sampled_from(IDS), min_size=3),
    ),
    max_size=30,
)


class Decided:
    """A decision that is moved on step by step."""

    def __init__(self, rig: Rig, decision: Decision[object]) -> None:
        self._rig = rig
        self._decision = decision
        self._reply: Reply | None = None
        self._asked: Call | None = None
        self.result: object = None
        self.is_over = False

    def move(self, *, failing: bool = False) -> None:
        """Answer the call that it waits for, with an error if `failing`."""
        if self.is_over:
            return
        asks_plugin = isinstance(self._asked, PluginCall)
        reply = CallFailed("rpc error") if failing and asks_plugin else self._reply
        try:
            self._asked = self._decision.send(reply)  # type: ignore[arg-type]  # None starts it
        except StopIteration as stop:
            self.is_over, self.result = True, stop.value
            return
        self._reply = self._rig.answer(self._asked)


def live(rig: Rig, story: Sequence[object]) -> None:
    """Let both decisions and the events of a story take turns, then end both."""
    rig.admit(STARTED)
    rig.manager.register(GPU, PluginOptions(preferred_allocation=True))
    rig.report(GPU, *IDS)
    rig.admit(pod("old", {GPU: 1}))
    rig.facts.active_pods.add(ADMITTED)
    decisions = {
        "admit": Decided(rig, rig.manager.admit(ADMITTED)),
        "start": Decided(rig, rig.manager.run_options(STARTED, MAIN)),
    }
    for move in story:
        if isinstance(move, set):
            healthy = {str(each) for each in move}
            rig.report(
                GPU, *(device(each, "Healthy" if each in healthy else "Bad") for each in IDS)
            )
        elif move == "release":
            rig.run(rig.manager.release_inactive())
        elif move == "end":
            rig.facts.active_pods.pop(PodUid("old"), None)
        else:
            name = str(move).removeprefix("fail ")
            decisions[name].move(failing=name != move)
    for decision in decisions.values():
        while not decision.is_over:
            decision.move()


def held(rig: Rig, created: Pod) -> list[tuple[str, int]]:
    """Return how many devices each container holds."""
    return [(each.name, len(rig.held(created.uid, each.name))) for each in created.all_containers()]


@given(moves)
def test_transactional_never_gives_a_device_twice(story: Sequence[object]) -> None:
    rig = Rig(persistence=lambda _: DatabasePersistence(), reservations=Reservations.TRANSACTIONAL)
    live(rig, story)

    assert rig.manager.violations() == []
    assert held(rig, ADMITTED) in ([("init", 1), ("app", 2)], [("init", 0), ("app", 0)])
    assert held(rig, STARTED) in ([("main", 2)], [("main", 0)])


@given(moves)
def test_upstream_breaks_nothing_but_what_the_kubelet_itself_breaks(
    story: Sequence[object],
) -> None:
    """S3.12, S3.18: what was found free before a call, or was reserved, may be given elsewhere."""
    rig = Rig()
    live(rig, story)

    assert all(each.invariant == "I1" and each.by_kubelet for each in rig.manager.violations())


@pytest.mark.parametrize("reservations", Reservations)
def test_what_an_init_container_hands_on_never_reaches_another_pod(
    reservations: Reservations,
) -> None:
    """Issue 130050: the real map was written to by both; here the other pod's turn ends it.

    The app container, which would have reused d0, has reserved d2 and d3.
    """
    rig = Rig(reservations=reservations)
    started = pod("started", container("main", {GPU: 1}), container("second", {GPU: 1}))
    rig.admit(started)
    rig.plug(GPU, *IDS)
    rig.facts.active_pods.add(ADMITTED)
    admission = Decided(rig, rig.manager.admit(ADMITTED))

    admission.move()
    rig.run(rig.manager.run_options(started, MAIN))
    admission.move()
    admission.move()
    rig.run(rig.manager.run_options(started, ContainerName("second")))

    assert rig.held("admitted", "init") == ["d0"]
    assert rig.held("started", "main") == ["d1"]
    assert rig.allocated() == ["d0", "d1", "d2", "d3", "d4"]
    assert rig.held("started", "second") == ["d4"]
