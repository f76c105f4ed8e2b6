"""Which XIDs and lost GPUs make which devices unhealthy."""

from __future__ import annotations

import pytest

from plugins.nvml.gpus import Gpu, MigDevice
from plugins.nvml.health import HealthLedger, XidEvent
from plugins.nvml.resources import Unit, ids_of
from simulator.core.devices import NumaNode

MIGS = (MigDevice("MIG-a", "1g.5gb", 7, 0), MigDevice("MIG-b", "1g.5gb", 8, 0))
WHOLE = Gpu(0, "GPU-0", numa_node=NumaNode(0))
SPLIT = Gpu(1, "GPU-1", mig_enabled=True, mig_devices=MIGS)
UNITS = (
    Unit(WHOLE, None, ids_of("GPU-0", 2)),
    *(Unit(SPLIT, mig, ids_of(mig.uuid, 1)) for mig in MIGS),
)


def unhealthy(ledger: HealthLedger) -> list[str]:
    return [device.id for device in ledger.devices(UNITS) if not device.is_healthy]


@pytest.mark.parametrize("xid", [13, 31, 43, 45, 68, 109])
def test_an_application_s_error_leaves_the_gpu_healthy(xid: int) -> None:
    ledger = HealthLedger()

    assert ledger.note(XidEvent(xid, gpu=0), UNITS) == ()
    assert unhealthy(ledger) == []


def test_any_other_xid_makes_every_share_of_the_gpu_unhealthy_for_good() -> None:
    ledger = HealthLedger()

    assert ledger.note(XidEvent(79, gpu=0), UNITS) == ("GPU-0",)
    assert ledger.note(XidEvent(48, gpu=0), UNITS) == (), "it is no news"
    assert unhealthy(ledger) == ["GPU-0::0", "GPU-0::1"]
    assert ledger.failed == {"GPU-0": 79}


def test_what_is_ignored_can_be_chosen() -> None:
    ledger = HealthLedger(ignored_xids=frozenset({79}))

    assert ledger.note(XidEvent(79, gpu=0), UNITS) == ()
    assert ledger.note(XidEvent(13, gpu=0), UNITS) == ("GPU-0",)


@pytest.mark.parametrize(
    ("event", "struck"),
    [
        (XidEvent(79, gpu=1, gpu_instance=8, compute_instance=0), ("MIG-b",)),
        (XidEvent(79, gpu=1, gpu_instance=8), ("MIG-b",)),
        (XidEvent(79, gpu=1), ("MIG-a", "MIG-b")),
        (XidEvent(79, gpu=1, gpu_instance=3, compute_instance=0), ("MIG-a", "MIG-b")),
        (XidEvent(79, gpu=None), ("GPU-0", "MIG-a", "MIG-b")),
    ],
    ids=["an instance", "a GPU instance", "the whole GPU", "an unknown instance", "who knows"],
)
def test_an_event_strikes_what_it_happened_in(event: XidEvent, struck: tuple[str, ...]) -> None:
    assert HealthLedger().note(event, UNITS) == struck


def test_a_gpu_offered_whole_is_struck_by_what_happens_in_an_instance() -> None:
    whole = Unit(SPLIT, None, ids_of("GPU-1", 1))

    assert HealthLedger().note(XidEvent(79, gpu=1, gpu_instance=7), [whole]) == ("GPU-1",)


def test_a_lost_gpu_is_unhealthy_until_it_is_found() -> None:
    ledger = HealthLedger()

    assert ledger.note_lost(["GPU-1"])
    assert not ledger.note_lost(["GPU-1"]), "it is no news"
    assert unhealthy(ledger) == ["MIG-a", "MIG-b"]
    assert ledger.note_lost([])
    assert unhealthy(ledger) == []


def test_the_list_has_the_numa_node_where_there_is_one() -> None:
    """S1.4: without one there is no topology message."""
    topologies = [device.topology for device in HealthLedger().devices(UNITS)]

    assert topologies == [(0,), (0,), None, None]
