"""Which hardware an id stands for."""

from __future__ import annotations

import pytest

from simulator.core.physical_ids import stands_for


@pytest.mark.parametrize(
    ("device", "ids"),
    [
        ("gpu-0", ("gpu-0",)),
        ("GPU-1a::0", ("GPU-1a::0", "GPU-1a")),
        ("GPU-1a::x", ("GPU-1a::x",)),
        ("::3", ("::3",)),
        ("MIG-GPU-1a/7/0", ("MIG-GPU-1a/7/0", "GPU-1a")),
        ("MIG-GPU-1a/7/0::12", ("MIG-GPU-1a/7/0::12", "MIG-GPU-1a/7/0", "GPU-1a")),
        ("MIG-41b36014", ("MIG-41b36014",)),
    ],
)
def test_an_id_stands_for_itself_and_for_what_it_is_a_part_of(
    device: str, ids: tuple[str, ...]
) -> None:
    assert stands_for(device) == ids
