"""What is held and what is reserved of one resource's devices (S3.13, S6.4)."""

from __future__ import annotations

from simulator.core.device_pool import DevicePool
from simulator.core.devices import DeviceId

ONE, OTHER = DeviceId("g0"), DeviceId("g1")


def test_holding_one_device_leaves_the_reservation_of_another() -> None:
    """Two calls in flight: the first one's binding ends its own reservation alone."""
    pool = DevicePool()
    pool.reserve([ONE, OTHER])
    pool.hold([ONE])

    assert list(pool.reserved or ()) == [OTHER]
    assert pool.allocated() == (ONE, OTHER)


def test_the_last_reservation_takes_the_set_along() -> None:
    pool = DevicePool()
    pool.reserve([ONE])
    pool.hold([ONE])

    assert pool.reserved is None
    assert pool.allocated() == (ONE,)
