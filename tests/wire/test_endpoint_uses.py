"""Two resources behind one socket are noticed (conventions.md §4, trap 2)."""

from __future__ import annotations

from pathlib import Path

from simulator.core.resources import ResourceName
from simulator.wire.endpoint_uses import EndpointUses

GPU, NIC, FPGA = (ResourceName(f"example.com/{name}") for name in ("gpu", "nic", "fpga"))
ONE, OTHER = Path("/run/a.sock"), Path("/run/b.sock")


def test_the_other_resources_of_an_endpoint_are_told() -> None:
    uses = EndpointUses()

    assert uses.add(ONE, GPU) == ()
    assert uses.add(OTHER, FPGA) == ()
    assert uses.add(ONE, NIC) == (GPU,)
    assert uses.add(ONE, FPGA) == (GPU, NIC)


def test_a_resource_that_registers_again_is_not_another_one() -> None:
    uses = EndpointUses()

    assert uses.add(ONE, GPU) == ()
    assert uses.add(ONE, GPU) == ()
    uses.remove(ONE, GPU)
    assert uses.add(ONE, NIC) == ()


def test_what_is_no_longer_served_is_forgotten() -> None:
    uses = EndpointUses()
    uses.add(ONE, GPU)
    uses.add(ONE, NIC)

    uses.remove(ONE, GPU)
    uses.remove(ONE, GPU)
    uses.remove(OTHER, GPU)

    assert uses.add(ONE, FPGA) == (NIC,)
