"""manager_test.go as facts, part 1: registration, capacity, lists, health (upstream-tests.md 1).

Tests that need a socket upstream are driven at the device manager here.
"""

import pytest

from simulator.core.checkpoint.bindings import read_bindings
from simulator.core.checkpoint.parse import parse
from simulator.core.devices import NO_NUMA_NODE, Device, DeviceId, NumaNode, device_ids
from simulator.core.endpoints import PluginOptions
from simulator.core.facts import ContainerInstance
from simulator.core.instants import MINUTE, SECOND, Duration
from simulator.core.pods import PodUid
from simulator.core.records import HealthUpdated
from simulator.core.resource_health import ResourceStatus
from simulator.core.resources import ResourceName
from simulator.core.transitions import DeviceBinding
from tests.core.driving import MAIN, Rig, container, device, ids, pod

R1 = ResourceName("domain1.com/resource1")
R2 = ResourceName("domain2.com/resource2")
R3 = ResourceName("domain2.com/resource3")
OTHER = ResourceName("other.domain2.org/resource2")
GRACE = Duration(5 * MINUTE)

FLAGS = [(pre_start, preferred) for pre_start in (False, True) for preferred in (False, True)]


Counts = tuple[dict[ResourceName, int], dict[ResourceName, int], tuple[ResourceName, ...]]


def counts(rig: Rig) -> Counts:
    """Return capacity, allocatable and what is removed."""
    capacity = rig.manager.capacity()
    return dict(capacity.total), dict(capacity.allocatable), capacity.removed


def test_construction__TestNewManagerImpl() -> None:
    assert Rig().manager.violations() == []


@pytest.mark.parametrize("name", ["TestNewManagerImplStart", "TestNewManagerImplStartProbeMode"])
def test_a_plugin_without_devices_starts_and_stops_twice(name: str) -> None:
    assert name
    rig = Rig()
    rig.plug(R1)

    rig.manager.disconnect(R1)
    rig.manager.disconnect(R1)

    assert counts(rig) == ({R1: 0}, {R1: 0}, ())


@pytest.mark.parametrize(
    "name", ["TestDevicePluginReRegistration", "TestDevicePluginReRegistrationProbeMode"]
)
@pytest.mark.parametrize("flags", FLAGS)
def test_the_newest_registration_owns_the_resource(name: str, flags: tuple[bool, bool]) -> None:
    """Devices of the earlier plugin are gone with the third one's message."""
    assert name
    rig = Rig()
    rig.plug(R1, "Dev1", "Dev2")
    assert counts(rig) == ({R1: 2}, {R1: 2}, ())

    rig.manager.register(R1, PluginOptions(*flags))
    rig.report(R1, "Dev1", "Dev2")
    assert counts(rig) == ({R1: 2}, {R1: 2}, ())

    rig.manager.register(R1, PluginOptions(*flags))
    rig.report(R1, "Dev3")
    assert counts(rig) == ({R1: 1}, {R1: 1}, ())


@pytest.mark.parametrize(
    ("listed", "total", "allocatable"),
    [
        (["D1 H", "D2 H", "D3 U"], 3, 2),
        (["D1 H", "D2 H"], 2, 2),
        (["D1 H", "D2 U", "D3 U"], 3, 1),
        (["D2 U", "D3 U"], 2, 0),
    ],
)
def test_capacity_follows_the_list__TestUpdateCapacityAllocatable(
    listed: list[str], total: int, allocatable: int
) -> None:
    rig = Rig()
    rig.plug(R1, "D1", "D7")

    rig.report(R1, *map(as_device, listed))

    assert counts(rig) == ({R1: total}, {R1: allocatable}, ())


def as_device(text: str) -> Device:
    name, health = text.split()
    return device(name, {"H": "Healthy", "U": "Unhealthy"}[health])


def test_an_expired_resource_is_removed_alone__TestUpdateCapacityAllocatable() -> None:
    rig = Rig()
    rig.plug(R1, device("D2", "Unhealthy"), device("D3", "Unhealthy"))
    rig.plug(R2, "D1", device("D2", "Unhealthy"), device("D3", "Unhealthy"))
    assert counts(rig) == ({R1: 2, R2: 3}, {R1: 0, R2: 1}, ())

    rig.manager.disconnect(R1)
    rig.pass_time(Duration(GRACE + 10 * SECOND))
    assert counts(rig) == ({R2: 3}, {R2: 1}, (R1,))
    assert rig.run(rig.manager.expire_endpoints()) == (R1,)

    seen = rig.manager.snapshot()
    assert list(seen.healthy) == list(seen.unhealthy) == list(seen.endpoints) == [R2]
    assert counts(rig) == ({R2: 3}, {R2: 1}, ())


def test_a_stopped_endpoint_fails_calls__TestUpdateCapacityAllocatable() -> None:
    """The old stream may still deliver lists (S1.23), so such calls are possible."""
    rig = Rig()
    rig.plug(R2, "D1", pre_start=True)
    bound = pod("bound", {R2: 1})
    rig.admit(bound)
    rig.manager.disconnect(R2)
    assert counts(rig) == ({R2: 1}, {R2: 0}, ())

    rig.report(R2, "D1", "D2")
    admission = rig.admit(pod("late", {R2: 1}))
    options = rig.run(rig.manager.run_options(bound, MAIN))

    assert admission.message.endswith(" has been stopped, which is unexpected")
    assert options.error.startswith("device plugin PreStartContainer rpc failed with err: ")
    assert options.error.endswith(" has been stopped")
    assert rig.allocated(R2) == ["D1"]


def test_a_read_checkpoint_leaves_a_stopped_endpoint__TestUpdateCapacityAllocatable() -> None:
    rig = Rig()
    rig.plug(R2, "D1", device("D2", "Unhealthy"), device("D3", "Unhealthy"))

    rig.start()

    assert counts(rig) == ({R2: 0}, {R2: 0}, ())
    assert rig.manager.snapshot().endpoints == {R2: "stopped"}
    assert rig.admit(pod("p1", {R2: 1})).message == rig.message(
        f"no healthy devices present; cannot allocate unhealthy devices {R2}"
    )


def test_healthy_devices_of_all_resources__TestGetAllocatableDevicesMultipleResources() -> None:
    rig = Rig()
    rig.plug(R1, "R1Device1", "R1Device2", device("R1Device3", "Unhealthy"))
    rig.plug(OTHER, "R2Device1")

    found = rig.manager.allocatable_devices()

    assert {resource: list(devices) for resource, devices in found.items()} == {
        R1: ["R1Device1", "R1Device2"],
        OTHER: ["R2Device1"],
    }


def test_a_healed_device_is_listed__TestGetAllocatableDevicesHealthTransition() -> None:
    rig = Rig()
    rig.plug(R1, "R1Device1", "R1Device2", device("R1Device3", "Unhealthy"))
    before = len(rig.manager.allocatable_devices()[R1])

    rig.report(R1, "R1Device1", "R1Device2", "R1Device3")

    assert (before, len(rig.manager.allocatable_devices()[R1])) == (2, 3)


def test_what_is_written_is_what_is_read__TestCheckpoint() -> None:
    """Ids of registered resources are not compared: reading empties the healthy sets."""
    rig = Rig()
    rig.plug(R1, *(device(f"dev{number}", nodes=[0]) for number in range(1, 6)))
    rig.plug(R2, device("dev1", nodes=[0]), device("dev2", nodes=[0]))
    rig.plug(R3, "dev5")
    rig.admit(pod("pod1", container("con1", {R1: 2, R2: 2}), container("con2", {R1: 1})))
    rig.admit(pod("pod2", container("con1", {R1: 1})))
    rig.admit(pod("pod3", container("con3", {R3: 1})))
    before = rig.manager.snapshot()
    assert rig.file is not None

    rig.start()
    after = rig.manager.snapshot()

    assert sorted_bindings(after.bindings) == sorted_bindings(before.bindings)
    assert after.allocated == before.allocated
    assert list(after.healthy) == list(before.healthy) == [R1, R2, R3]
    assert {binding.pod: device_ids(binding.devices) for binding in after.bindings}[
        PodUid("pod3")
    ] == (DeviceId("dev5"),)
    assert {binding.pod: list(binding.devices) for binding in after.bindings} == {
        "pod1": [NumaNode(0)],
        "pod2": [NumaNode(0)],
        "pod3": [NO_NUMA_NODE],
    }
    read = parse(rig.file, rig.behavior.checkpoints_read)
    assert len(read_bindings(read, lenient=True).bindings) == 5


def sorted_bindings(bindings: tuple[DeviceBinding, ...]) -> list[DeviceBinding]:
    return sorted(bindings, key=lambda each: (each.pod, each.container, each.resource))


def test_lists_during_hints_do_no_harm__TestGetTopologyHintsWithUpdates() -> None:
    """1,000 devices on node 0; the machine has no threads here, so calls take turns."""
    rig = Rig()
    listed = [device(f"dev{number:04}", nodes=[0]) for number in range(1000)]
    rig.plug(R1, *listed)
    created = pod("p1", {R1: 1})

    for _ in range(10):
        before = rig.run(rig.manager.topology_hints(created, MAIN))
        rig.report(R1, *listed)
        assert rig.run(rig.manager.pod_topology_hints(created)) == before


def test_health_of_recorded_devices__TestUpdateAllocatedResourcesStatus() -> None:
    resource = ResourceName("example.com/test-resource")
    rig = Rig()
    rig.plug(resource, "dev1", "dev2")
    created = pod("p1", container("test-container", {resource: 2}))
    rig.admit(created)

    rig.report(resource, "dev1", device("dev2", "Unhealthy"))

    assert rig.manager.resource_health(created) == {
        "test-container": (
            ResourceStatus(
                resource,
                ((DeviceId("dev1"), "Healthy"), (DeviceId("dev2"), "Unhealthy")),
            ),
        )
    }


def test_only_changed_health_is_announced__TestFeatureGateResourceHealthStatus() -> None:
    rig = Rig()
    rig.plug(R1, *(f"dev{number}" for number in range(200)))
    owners: list[PodUid] = []
    for number in range(200):
        created = pod(f"pod{number}", container(f"con{number}", {R1: 1}))
        rig.admit(created)
        owners.append(created.uid)
    owner_of = {
        each: binding.pod
        for binding in rig.manager.snapshot().bindings
        for each in device_ids(binding.devices)
    }
    rig.manager.take_records()

    for _ in range(200):
        rig.report(R1, "dev1")
    assert health_updates(rig) == []

    for number in range(200):
        rig.report(R1, device(f"dev{number}", "Unhealthy"))
    assert health_updates(rig) == [(owner_of[DeviceId(f"dev{number}")],) for number in range(200)]


def health_updates(rig: Rig) -> list[tuple[PodUid, ...]]:
    records = rig.manager.take_records()
    return [record.pods for record in records if isinstance(record, HealthUpdated)]


def test_disconnect_of_an_expired_endpoint__TestEndpointSyncOnDisconnect() -> None:
    rig = Rig()
    rig.plug(R1, "Device1", "Device2", device("Device3", "Unhealthy"))
    rig.manager.disconnect(R1)
    rig.pass_time(Duration(10 * MINUTE))
    rig.report(R1, "Device1", "Device2", device("Device3", "Unhealthy"))

    rig.manager.disconnect(R1)
    seen = rig.manager.snapshot()
    assert seen.healthy == {R1: ()}
    assert seen.unhealthy == {R1: ids("Device1", "Device2", "Device3")}
    assert list(seen.endpoints) == [R1]

    rig.pass_time(Duration(GRACE + SECOND))
    rig.run(rig.manager.expire_endpoints())
    seen = rig.manager.snapshot()
    assert (seen.healthy, seen.unhealthy, seen.endpoints) == ({}, {}, {})


def test_several_ids_for_one_container_are_possible__TestContainerMap() -> None:
    """Both are known; one of them running is enough (upstream-tests.md 7, S5.6)."""
    rig = Rig()
    rig.plug(R1, "dev1")
    created = pod("p1", {R1: 1})
    rig.admit(created)

    rig.start(
        ContainerInstance(created.uid, MAIN, "id-1", running=False),
        ContainerInstance(created.uid, MAIN, "id-2", running=True),
        sources_ready=False,
    )

    assert rig.admit(created).admitted
