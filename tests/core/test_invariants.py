"""The recount notices every way in which the books can be wrong (persistence-designs 3.4)."""

from simulator.core.behavior import Behavior, Reservations
from simulator.core.devices import DeviceId, NumaNode
from simulator.core.invariants import violations
from simulator.core.manager_state import ManagerState
from simulator.core.pods import PodUid
from simulator.core.transitions import DeviceBinding
from tests.core.bare_state import bare_state
from tests.core.driving import GPU, MAIN, device

G0 = DeviceId("g0")


def held_by(state: ManagerState, *pods: str) -> ManagerState:
    """List g0 and have each of these pods hold it."""
    state.pool(GPU).fold([device("g0")], Behavior())
    for uid in pods:
        binding = DeviceBinding(PodUid(uid), MAIN, GPU, {NumaNode(-1): (G0,)}, b"")
        state.pod_devices.insert(binding, state.facts.active_pods)
    return state


def broken(state: ManagerState) -> list[str]:
    return [one.invariant for one in violations(state)]


def test_sound_books_break_nothing() -> None:
    assert violations(held_by(bare_state(), "p1")) == []


def test_a_device_in_two_pods_breaks_i1() -> None:
    state = held_by(bare_state(), "p1", "p2")

    assert broken(state) == ["I1"]
    assert violations(state)[0].detail == "example.com/gpu g0 is held by p1 and p2"


def test_a_holding_without_a_binding_is_noticed() -> None:
    state = held_by(bare_state(), "p1")
    state.pool(GPU).held[DeviceId("g9")] = 1

    assert broken(state) == ["held equals bindings"]


def test_a_slot_in_use_that_nobody_uses_is_noticed() -> None:
    state = held_by(bare_state())
    state.pool(GPU).taken = 1

    assert broken(state) == ["slots agree"]


def test_a_reservation_at_rest_is_the_kubelets_leak_and_otherwise_a_break() -> None:
    """S6.4."""
    leaking = held_by(bare_state())
    strict = held_by(bare_state(reservations=Reservations.TRANSACTIONAL))
    for state in (leaking, strict):
        state.pool(GPU).reserve([G0])

    assert violations(leaking) == []
    assert broken(strict) == ["nothing reserved at rest"]
