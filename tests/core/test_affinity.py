"""Aligned, unaligned, without topology (S3.19)."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from simulator.core.affinity import AlignedDevices, split_by_affinity
from simulator.core.behavior import Behavior
from simulator.core.devices import NumaNode
from tests.core.hint_notation import devices, hint, ids

DECISIVE = Behavior()
ARBITRARY = replace(DECISIVE, node_order_is_arbitrary=True)


def as_they_are(nodes: Sequence[NumaNode]) -> Sequence[NumaNode]:
    return nodes


def backwards(nodes: Sequence[NumaNode]) -> Sequence[NumaNode]:
    return nodes[::-1]


def split(listed: str, mask: str, available: str | None = None) -> AlignedDevices:
    found = devices(listed)
    return split_by_affinity(
        sorted(found) if available is None else ids(available),
        affinity=hint(f"{mask}P").mask,
        devices=found,
        behavior=DECISIVE,
        node_order=as_they_are,
    )


def groups(aligned: str = "", unaligned: str = "", no_affinity: str = "") -> AlignedDevices:
    return AlignedDevices(ids(aligned), ids(unaligned), ids(no_affinity))


@pytest.mark.parametrize(
    ("available", "expected"),
    [
        ("dev1 dev2", groups("dev2", "dev1")),
        ("dev1 dev2 dev3 dev4", groups("dev2 dev3 dev4", "dev1")),
    ],
)
def test_free_devices_by_stored_hint__TestFilterByAffinity(
    available: str, expected: AlignedDevices
) -> None:
    listed = "dev1@1 dev2@1,2 dev3@2 dev4@2 dev5"

    found = split(listed, "{2}", available)

    assert [set(group) for group in (expected.aligned, expected.unaligned)] == [
        set(group) for group in (found.aligned, found.unaligned)
    ]
    assert found.no_affinity == ()


def test_devices_fall_into_three_groups() -> None:
    assert groups("a", "b", "c d") == split("a@0 b@1 c d@", "{0}")


def test_a_device_on_a_node_inside_and_one_outside_the_mask_is_aligned() -> None:
    assert groups("a b", "c") == split("a@0,1 b@1 c@0", "{1}")


def test_without_a_mask_no_device_is_aligned() -> None:
    assert groups(no_affinity="a b") == split("a@0 b@1", "any")


def test_without_topology_on_any_device_no_device_is_aligned() -> None:
    assert groups(no_affinity="a b") == split("a@ b", "{0}")


def test_the_topology_of_a_device_that_is_not_free_counts() -> None:
    """S3.19 asks for any device of the resource, free or not."""
    assert groups("", "", "b") == split("a@0 b", "{0}", available="b")


def test_a_group_is_ordered_by_free_devices_of_the_node_then_node_then_id() -> None:
    listed = "a@1 b@1 c@0 d@0 e@2 f@3,3"

    assert groups("e f c d a b") == split(listed, "{0,1,2,3}")


@pytest.mark.parametrize("node", [-2, 64, 99])
def test_a_node_that_no_mask_can_hold_is_outside_every_mask(node: int) -> None:
    """S7.17."""
    assert groups("a", "b") == split(f"a@0 b@{node}", "{0}")


def test_a_device_on_node_minus_one_has_no_node() -> None:
    """Node -1 is where the kubelet files devices without topology (S2.2)."""
    assert groups("a", "", "b") == split("a@0 b@-1", "{0}")


def test_chance_decided_about_devices_on_two_nodes_in_1_20() -> None:
    """1.20.2/DIFFERENCES 12: devices with the same nodes share the fate of one call."""
    found = devices("a@0,1 b@0,1 c@1 d@0 e")

    lowest, highest = (
        split_by_affinity(
            sorted(found),
            affinity=hint("{1}P").mask,
            devices=found,
            behavior=ARBITRARY,
            node_order=order,
        )
        for order in (as_they_are, backwards)
    )

    assert groups("c", "a b d", "e") == lowest
    assert groups("a b c", "d", "e") == highest
