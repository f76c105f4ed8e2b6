"""Sets of ids as masks over a sorted table say what plain sets of the same ids say."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from simulator.core.devices import DeviceId
from simulator.core.slot_set import SlotSet, slots_in

IDS = st.sets(st.integers(0, 40)).map(lambda numbers: {DeviceId(f"gpu-{n:02}") for n in numbers})


@given(listed=IDS, chosen=IDS, others=IDS)
def test_a_slot_set_agrees_with_a_plain_set(
    listed: set[DeviceId], chosen: set[DeviceId], others: set[DeviceId]
) -> None:
    table = sorted(listed)
    slots = SlotSet(table, slots_in(table, chosen))

    assert list(slots) == sorted(listed & chosen)
    assert len(slots) == len(listed & chosen)
    assert list(slots[:2]) == sorted(listed & chosen)[:2]
    assert list(slots.only(others)) == sorted(listed & chosen & others)
    assert list(slots.without(others)) == sorted((listed & chosen) - others)


@given(listed=IDS, later=IDS, chosen=IDS)
def test_a_slot_set_is_compared_by_id_with_one_of_another_table(
    listed: set[DeviceId], later: set[DeviceId], chosen: set[DeviceId]
) -> None:
    # The plugin sent another list while it was asked: the same slot is another device now.
    before, after = sorted(listed), sorted(later)
    old = SlotSet(before, slots_in(before, chosen))
    new = SlotSet(after, slots_in(after, later))

    assert list(old.only(new)) == sorted(listed & chosen & later)
    assert list(old.only(old)) == list(old)
