"""Who holds a device, and who held it, as the database of a simulated node tells."""

from __future__ import annotations

from itertools import pairwise

from simulator.core.pods import ContainerKind
from simulator.core.transitions import NodeName
from simulator.engine.actions import (
    CreatePod,
    DeletePod,
    RebootNode,
    ReportDevices,
    StartPlugin,
)
from simulator.engine.spec import PodSpec
from simulator.ports import Durability, Store
from store.sql_store import SqlStore
from tests.engine.runs import NODE, Run, a_spec, container, devices, pod, seconds, with_plugin


def watched(*pods: PodSpec, count: int) -> tuple[Run, list[Store]]:
    """Return a run and, once it has begun, the store of its node."""
    stores: list[Store] = []

    def open_store(node: NodeName) -> Store:
        del node
        stores.append(SqlStore("sqlite://", durability=Durability.OFF))
        return stores[-1]

    spec = with_plugin(a_spec(*pods, persistence="database"), devices=devices(count))
    run = Run(spec, store_factory=open_store)
    run.do(StartPlugin("gpu"))
    return run, stores


def test_devices_that_only_an_init_container_used_are_seen_as_such() -> None:
    """R39: the pod holds five, of which its app has two; the other three are stranded."""
    greedy = pod("greedy", container("warm-up", 5, ContainerKind.INIT), container("app", 2))
    run, [store] = watched(greedy, count=8)
    run.do(CreatePod("greedy"))
    held = [each.containers for each in store.holders(node=NODE)]

    assert sorted(held) == [("warm-up",)] * 3 + [("warm-up", "app")] * 2


def test_a_device_has_one_holder_at_a_time_in_its_history() -> None:
    """R49: a graph of lists overlaps where one pod ends and the next begins; the history does not.

    The second pod's holding begins with the very commit that ends the first one's, or later (S6.3).
    """
    names = [f"p{number}" for number in range(4)]
    run, [store] = watched(*map(pod, names), count=1)
    for name in names:
        run.do(CreatePod(name))
        run.wait(5)
        run.do(DeletePod(name, force=name == "p1"))
    holdings = store.holders(node=NODE, past=True)

    assert [holding.pod.name for holding in holdings] == names
    for one, following in pairwise(holdings):
        assert one.until_revision is not None
        assert one.until_revision <= following.since_revision
        assert one.until is not None
        assert one.until <= following.since


def test_a_holding_lasts_longer_than_its_pod() -> None:
    """R48: records are released lazily, by the next pod that asks."""
    run, [store] = watched(pod("first"), pod("next"), count=1)
    run.do(CreatePod("first"))
    run.do(DeletePod("first"))
    run.wait(100)
    assert [holding.pod.name for holding in store.holders(node=NODE)] == ["first"]

    deleted = run.simulation.now
    run.do(CreatePod("next"))
    [first, second] = store.holders(node=NODE, past=True)
    assert first.until is not None
    assert first.until >= deleted
    assert first.until - first.since > seconds(100)
    assert second.until is None


def test_a_device_that_is_listed_no_longer_keeps_its_holder_and_is_seen_as_gone() -> None:
    """R72: the second list replaces the first one, and takes nothing away from a pod."""
    run, [store] = watched(pod("trainer"), count=2)
    run.do(CreatePod("trainer"))
    run.do(ReportDevices("gpu", devices(2, prefix="h")))
    run.wait(1)
    found = {
        each.device: (each.listed, [one.name for one in each.holders]) for each in store.devices()
    }

    assert run.simulation.node(NODE).capacity == (("example.com/gpu", 2),)
    assert found == {
        "g0": (False, ["trainer"]),
        "g1": (False, []),
        "h0": (True, []),
        "h1": (True, []),
    }


def test_after_a_reboot_with_other_ids_only_those_are_registered() -> None:
    """R74: the dead id goes with its pod; the next one gets what is there now."""
    spec = with_plugin(
        a_spec(pod("trainer"), pod("next"), persistence="database"),
        devices=devices(1),
        devices_after_reboot=devices(1, prefix="h"),
        starts_after_boot=seconds(0.05),
    )
    stores: list[Store] = []

    def open_store(node: NodeName) -> Store:
        del node
        stores.append(SqlStore("sqlite://", durability=Durability.OFF))
        return stores[-1]

    run = Run(spec, store_factory=open_store)
    run.do(StartPlugin("gpu"))
    run.do(CreatePod("trainer"))
    run.do(RebootNode(NODE, seconds(10)))
    run.wait(5)
    run.do(CreatePod("next"))
    listed = [each.device for each in stores[-1].devices() if each.listed]

    assert run.pod("trainer").phase == "Failed"
    assert listed == ["h0"]
    assert [(each.device, each.pod.name) for each in stores[-1].holders(node=NODE)] == [
        ("h0", "next")
    ]
