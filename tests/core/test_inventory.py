"""Device lists, endpoints and capacity (S1.17 to S1.23, S2)."""

import pytest

from simulator.core.behavior import Behavior, DisconnectMatch
from simulator.core.devices import Device, DeviceId
from simulator.core.endpoints import PluginOptions
from simulator.core.instants import MINUTE, SECOND, Duration
from simulator.core.pods import PodUid
from simulator.core.records import (
    DevicesListed,
    HealthUpdated,
    ManagerStarted,
    PluginDisconnected,
    PluginRegistered,
    Record,
    ResourceExpired,
)
from simulator.core.switches import behavior_for
from tests.core.driving import GPU, NIC, Rig, device, ids, pod


def capacity(rig: Rig) -> tuple[int | None, int | None]:
    found = rig.manager.capacity()
    return found.total.get(GPU), found.allocatable.get(GPU)


def records_of(rig: Rig, *kinds: type[Record]) -> list[Record]:
    return [record for record in rig.manager.take_records() if isinstance(record, kinds)]


def test_an_id_listed_with_both_healths_counts_twice() -> None:
    """S1.18, X17: g0 is healthy and unhealthy, `healthy` and the empty text are unhealthy."""
    rig = Rig()
    rig.plug(GPU, "g0", device("g0", "Unhealthy"), device("g1", "healthy"), device("g2", ""))

    assert capacity(rig) == (4, 1)


def test_of_an_id_listed_twice_the_later_record_stays() -> None:
    """S1.18."""
    rig = Rig()
    rig.plug(GPU, device("g0", nodes=[0]), device("g0", nodes=[1]))

    assert rig.manager.snapshot().listed[GPU] == {"g0": device("g0", nodes=[1])}
    assert capacity(rig) == (1, 1)


def test_an_empty_list_keeps_the_resource_registered() -> None:
    """S1.20, X19."""
    rig = Rig()
    rig.plug(GPU, "g0")
    rig.report(GPU)

    assert capacity(rig) == (0, 0)
    assert rig.manager.capacity().removed == ()


def test_every_message_is_written_even_if_nothing_changed() -> None:
    """S1.19."""
    rig = Rig()
    rig.plug(GPU, "g0")
    rig.report(GPU, "g0")

    assert len(rig.writes) == 2
    assert rig.writes[0] == rig.writes[1]


def test_a_failed_write_after_a_message_is_told_and_harms_nothing() -> None:
    """S1.19."""
    rig = Rig(write_error="no space left on device")
    rig.manager.register(GPU, PluginOptions())

    assert rig.report(GPU, "g0") == (
        'failed to write checkpoint file "kubelet_internal_checkpoint": no space left on device'
    )
    assert capacity(rig) == (1, 1)


def test_registering_does_not_touch_the_devices() -> None:
    """S1.14."""
    rig = Rig()
    rig.plug(GPU, "g0", "g1")
    rig.manager.register(GPU, PluginOptions())

    assert capacity(rig) == (2, 2)


def test_a_disconnected_plugins_devices_are_unhealthy_but_still_listed_as_healthy() -> None:
    """S2.6; nothing is written."""
    rig = Rig()
    rig.plug(GPU, "g0", device("g1", "Unhealthy"))
    written = len(rig.writes)

    rig.manager.disconnect(GPU)

    assert capacity(rig) == (2, 0)
    assert rig.manager.snapshot().unhealthy == {GPU: ids("g0", "g1")}
    assert rig.manager.snapshot().listed[GPU][DeviceId("g0")].is_healthy
    assert len(rig.writes) == written


def test_a_disconnect_without_endpoint_does_nothing() -> None:
    rig = Rig()
    rig.manager.disconnect(GPU)

    assert rig.manager.snapshot().unhealthy == {}
    assert records_of(rig, PluginDisconnected) == []


def test_a_stream_that_ends_before_its_first_message_leaves_capacity_zero() -> None:
    """S2.6: the resource is then no device plugin resource, and a pod gets no devices."""
    rig = Rig()
    rig.manager.register(GPU, PluginOptions())
    rig.manager.disconnect(GPU)

    assert capacity(rig) == (0, None)
    assert rig.admit(pod("p1", {GPU: 1})).admitted
    assert rig.held("p1") == []


def test_the_end_of_a_replaced_plugin_disconnects_the_new_one_by_resource_name() -> None:
    """S1.22, X7."""
    rig = Rig()
    old = rig.manager.register(GPU, PluginOptions())
    rig.plug(GPU, "g0", "g1")

    rig.manager.disconnect(GPU, old)

    assert capacity(rig) == (2, 0)
    assert rig.manager.snapshot().endpoints == {GPU: "stopped"}


@pytest.mark.parametrize("version", ["1.20.2", "1.37.0"])
def test_the_end_of_a_replaced_plugin_does_nothing_where_instances_are_known(version: str) -> None:
    """PR 135437; 1.20.2/DIFFERENCES 20."""
    rig = Rig(behavior=behavior_for(version))
    assert rig.behavior.disconnect_match is DisconnectMatch.OWN_ENDPOINT
    old = rig.manager.register(GPU, PluginOptions())
    new = rig.manager.register(GPU, PluginOptions())
    rig.report(GPU, "g0", "g1")

    rig.manager.disconnect(GPU, old)
    assert capacity(rig) == (2, 2)

    rig.manager.disconnect(GPU, new)
    assert capacity(rig) == (2, 0)
    rig.pass_time(MINUTE)
    rig.manager.disconnect(GPU)
    rig.pass_time(Duration(4 * MINUTE + SECOND))
    assert rig.manager.capacity().removed == (GPU,)


def test_a_second_disconnect_by_name_renews_the_stop_time() -> None:
    """S2.6 sets the stop time whenever there is an endpoint."""
    rig = Rig()
    rig.plug(GPU, "g0")
    rig.manager.disconnect(GPU)
    rig.pass_time(MINUTE)
    rig.manager.disconnect(GPU)
    rig.pass_time(Duration(4 * MINUTE + SECOND))

    assert rig.manager.capacity().removed == ()


def test_a_reconnected_plugin_is_not_removed() -> None:
    """S2.7."""
    rig = Rig()
    rig.plug(GPU, "g0")
    rig.manager.disconnect(GPU)
    rig.manager.register(GPU, PluginOptions())
    rig.pass_time(Duration(10 * MINUTE))

    assert capacity(rig) == (1, 0)


def test_a_resource_without_endpoint_is_removed_at_once() -> None:
    """S2.9: the old stream of a removed resource may still deliver (S1.23)."""
    rig = Rig()
    rig.report(GPU, "g0")

    assert rig.manager.capacity().removed == (GPU,)
    assert rig.run(rig.manager.expire_endpoints()) == (GPU,)


def test_several_resources_are_removed_with_one_write() -> None:
    """S2.10."""
    rig = Rig()
    rig.plug(GPU, "g0")
    rig.plug(NIC, "n0")
    rig.manager.disconnect(GPU)
    rig.manager.disconnect(NIC)
    rig.pass_time(Duration(6 * MINUTE))
    written = len(rig.writes)
    rig.manager.take_records()

    assert rig.run(rig.manager.expire_endpoints()) == (GPU, NIC)
    assert len(rig.writes) == written + 1
    assert records_of(rig, ResourceExpired) == [ResourceExpired(GPU), ResourceExpired(NIC)]


def test_a_removed_resource_keeps_its_list_and_what_pods_hold() -> None:
    """S2.10, X14."""
    rig = Rig()
    rig.plug(GPU, "g0")
    rig.admit(pod("p1", {GPU: 1}))
    rig.manager.disconnect(GPU)
    rig.pass_time(Duration(6 * MINUTE))
    rig.run(rig.manager.expire_endpoints())

    seen = rig.manager.snapshot()
    assert (seen.healthy, seen.unhealthy, seen.endpoints) == ({}, {}, {})
    assert list(seen.listed[GPU]) == ["g0"]
    assert rig.allocated() == ["g0"]
    assert rig.admit(pod("p2", {GPU: 1})).message == rig.message(
        "cannot allocate unregistered device example.com/gpu"
    )


def test_ids_held_before_a_list_names_them_are_in_use() -> None:
    """S5.13: what the checkpoint says is taken before the plugin is back."""
    rig = Rig()
    rig.plug(GPU, "g1")
    rig.admit(pod("p1", {GPU: 1}))
    rig.start()
    rig.plug(GPU, "g0", "g1", "g2")

    assert rig.admit(pod("p2", {GPU: 2})).admitted
    assert rig.held("p2") == ["g0", "g2"]
    assert rig.manager.violations() == []


def test_before_1_23_unhealthy_devices_are_allocatable_too() -> None:
    """S8.10, PR 104123."""
    listed = ("g0", device("g1", "Unhealthy"))
    old, new = Rig(behavior=behavior_for("1.22")), Rig(behavior=behavior_for("1.23"))
    for rig in (old, new):
        rig.plug(GPU, *listed)

    assert list(old.manager.allocatable_devices()[GPU]) == ["g0", "g1"]
    assert list(new.manager.allocatable_devices()[GPU]) == ["g0"]


def test_all_devices_unhealthy_leaves_the_resource_with_none() -> None:
    """X18."""
    rig = Rig()
    rig.plug(GPU, "g0")
    rig.manager.disconnect(GPU)

    assert rig.manager.allocatable_devices() == {GPU: {}}


@pytest.mark.parametrize(
    ("listed", "updated"),
    [
        ([device("g0", "Unhealthy"), device("g1")], ["p1"]),
        ([device("g1")], []),
        ([device("g0"), device("g1", "Unhealthy")], []),
        ([device("g0"), device("g1")], []),
    ],
)
def test_pods_are_synced_for_a_changed_listed_device_only(
    listed: list[Device], updated: list[str]
) -> None:
    """S9.6; p1 holds g0."""
    rig = Rig()
    rig.plug(GPU, "g0", "g1")
    rig.admit(pod("p1", {GPU: 1}))
    rig.manager.take_records()

    rig.report(GPU, *listed)

    expected = [HealthUpdated(tuple(PodUid(uid) for uid in updated))] if updated else []
    assert records_of(rig, HealthUpdated) == expected


def test_no_pod_is_synced_where_status_has_no_health() -> None:
    """S9.1: the gate is off before 1.36."""
    rig = Rig(behavior=behavior_for("1.35"))
    rig.plug(GPU, "g0")
    rig.admit(pod("p1", {GPU: 1}))
    rig.report(GPU, device("g0", "Unhealthy"))

    assert records_of(rig, HealthUpdated) == []


def test_what_happened_is_recorded_in_order() -> None:
    rig = Rig()
    rig.plug(GPU, "g0")
    rig.manager.disconnect(GPU)

    kinds = (ManagerStarted, PluginRegistered, DevicesListed, PluginDisconnected)
    assert records_of(rig, *kinds) == [
        ManagerStarted(source="nothing", bindings=0),
        PluginRegistered(GPU),
        DevicesListed(GPU, (device("g0"),)),
        PluginDisconnected(GPU),
    ]
    assert rig.manager.take_records() == []


def test_nothing_is_healthy_in_a_new_manager() -> None:
    rig = Rig(behavior=Behavior())

    assert rig.manager.capacity().removed == ()
    assert rig.run(rig.manager.expire_endpoints()) == ()
    assert rig.writes == []
