"""manager_test.go as facts, part 2: allocation and container start (upstream-tests.md 1)."""

from dataclasses import replace

import pytest

from simulator.core.allocate_response import AllocateResponse, DeviceSpec, Mount, encode
from simulator.core.behavior import Behavior
from simulator.core.calls import (
    AllocateCall,
    AllocateReply,
    PluginReply,
    PreferredAllocationCall,
    PreferredAllocationReply,
    PreStartContainerCall,
)
from simulator.core.facts import ActivePods
from simulator.core.instants import MINUTE, Duration
from simulator.core.panics import KubeletPanic
from simulator.core.pods import Container, ContainerKind, ContainerName, Pod, PodUid
from simulator.core.resources import ResourceName
from tests.core.driving import MAIN, Rig, container, device, ids, pod

R1 = ResourceName("domain1.com/resource1")
R2 = ResourceName("domain2.com/resource2")
R3 = ResourceName("domain2.com/resource3")
CPU = ResourceName("cpu")

A1 = {
    "dev1": AllocateResponse(
        devices=tuple(DeviceSpec(path, path, "mrw") for path in ("/dev/aaa", "/dev/bbb")),
        mounts=(Mount("/container_dir1/file1", "host_dir1/file1", read_only=True),),
    ),
    "dev2": AllocateResponse(
        devices=(DeviceSpec("/dev/ccc", "/dev/ccc", "mrw"),),
        mounts=(Mount("/container_dir1/file2", "host_dir1/file2", read_only=True),),
        envs={"key1": "val1"},
    ),
}
"""What upstream's first stub answers for each id."""

A2 = {
    "dev3": AllocateResponse(envs={"key2": "val2"}),
    "dev4": AllocateResponse(envs={"key2": "val3"}),
}


def answer_as_stubs(call: AllocateCall) -> PluginReply:
    parts = [(A1 | A2)[each] for each in call.devices]
    return AllocateReply(
        encode(
            AllocateResponse(
                envs={name: value for part in parts for name, value in part.envs.items()},
                mounts=tuple(mount for part in parts for mount in part.mounts),
                devices=tuple(spec for part in parts for spec in part.devices),
            )
        )
    )


def stubbed() -> Rig:
    """Return a node with R1 {dev1, dev2} on node 0 and R2 {dev3, dev4} without topology."""
    rig = Rig(on_allocate=answer_as_stubs)
    rig.plug(R1, device("dev1", nodes=[0]), device("dev2", nodes=[0]))
    rig.plug(R2, "dev3", "dev4")
    return rig


def options(rig: Rig, created: Pod) -> tuple[int, int, int] | None:
    """Return how many devices, mounts and env variables the container is started with."""
    result = rig.run(rig.manager.run_options(created, MAIN))
    assert result.error == ""
    found = result.options
    return None if found is None else (len(found.devices), len(found.mounts), len(found.envs))


def allocated(rig: Rig) -> tuple[int, int]:
    return len(rig.allocated(R1) or ()), len(rig.allocated(R2) or ())


def test_pod_container_device_allocation__TestPodContainerDeviceAllocation() -> None:
    rig = stubbed()
    first, second, third = (
        pod("pod1", {R1: 2, R2: 1, CPU: 2}),
        pod("pod2", {R1: 1}),
        pod("pod3", {R2: 1}),
    )

    assert rig.admit(first).admitted
    assert options(rig, first) == (3, 2, 2)
    assert allocated(rig) == (2, 1)

    assert rig.admit(second).message == rig.message(
        "requested number of devices unavailable for domain1.com/resource1. "
        "Requested: 1, Available: 0"
    )
    assert options(rig, second) is None
    assert allocated(rig) == (2, 1)

    assert rig.admit(third).admitted
    assert options(rig, third) == (0, 0, 1)
    assert allocated(rig) == (2, 2)


def test_recorded_devices_that_are_not_there__TestPodContainerDeviceToAllocate() -> None:
    """R1 has no healthy device, R2 is not registered any more, R3 lists other devices."""
    rig = Rig()
    for resource in (R1, R2, R3):
        rig.plug(resource, "dev1", "dev2")
    pods = {resource: pod(f"pod-{resource}", {resource: 1}) for resource in (R1, R2, R3)}
    for created in pods.values():
        assert rig.admit(created).admitted
    rig.manager.disconnect(R2)
    rig.pass_time(Duration(6 * MINUTE))
    rig.run(rig.manager.expire_endpoints())
    rig.report(R1)
    rig.report(R3, "dev7", "dev8")

    assert {resource: rig.run(rig.manager.allocate(pods[resource], MAIN)) for resource in pods} == {
        R1: f"no healthy devices present; cannot allocate unhealthy devices {R1}",
        R2: f"cannot allocate unregistered device {R2}",
        R3: "previously allocated devices are no longer healthy; "
        f"cannot allocate unhealthy devices {R3}",
    }


@pytest.mark.parametrize("version_crashes", [False, True])
def test_a_rebuild_while_the_plugin_is_asked__DevicesToAllocateConflictWithUpdateAllocatedDevices(
    *, version_crashes: bool
) -> None:
    """TestDevicesToAllocateConflictWithUpdateAllocatedDevices; before PR 119561 a crash (R107)."""
    behavior = replace(Behavior(), rebuild_during_preference_crashes=version_crashes)
    rig = Rig(behavior=behavior)
    rig.plug(R1, "dev1", preferred=True)
    rig.plug(R2, "dev3")
    rig.admit(pod("removed", {R2: 1}))

    def release_meanwhile(call: PreferredAllocationCall) -> PluginReply:
        rig.end("removed")
        rig.run(rig.manager.release_inactive())
        assert rig.allocated(R1) is None
        return PreferredAllocationReply(call.available)

    rig.on_preferred = release_meanwhile
    if version_crashes:
        with pytest.raises(KubeletPanic):
            rig.admit(pod("p1", {R1: 1}))
        return

    assert rig.admit(pod("p1", {R1: 1})).admitted
    assert rig.held("p1", resource=R1) == ["dev1"]
    assert rig.allocated(R1) == ["dev1"]


def test_options_of_an_inactive_pod_are_gone__TestGetDeviceRunContainerOptions() -> None:
    rig = stubbed()
    first, second = pod("pod1", {R1: 2, R2: 1}), pod("pod2", {R2: 1})
    rig.admit(first)
    rig.admit(second)
    assert options(rig, first) == (3, 2, 2)

    rig.facts.active_pods.pop(first.uid)
    assert rig.run(rig.manager.release_inactive()) == (first.uid,)
    calls = len(rig.calls)

    assert options(rig, first) is None
    assert len(rig.calls) == calls


def init(name: str, limits: dict[ResourceName, int]) -> Container:
    return container(name, limits, ContainerKind.INIT)


def sidecar(name: str, limits: dict[ResourceName, int]) -> Container:
    return container(name, limits, ContainerKind.SIDECAR)


def test_init_containers_hand_their_devices_on__TestInitContainerDeviceAllocation() -> None:
    rig = stubbed()
    created = pod(
        "p1",
        init("init1", {R1: 1}),
        init("init2", {R1: 2}),
        container("app1", {R1: 1, R2: 1}),
        container("app2", {R1: 1, R2: 1}),
    )

    assert rig.admit(created).admitted
    held = {name: set(rig.held("p1", name, R1)) for name in ("init1", "init2", "app1", "app2")}

    assert [len(found) for found in held.values()] == [1, 2, 1, 1]
    assert held["init1"] <= held["init2"]
    assert held["app1"] | held["app2"] <= held["init2"]
    assert not held["app1"] & held["app2"]
    assert not set(rig.held("p1", "app1", R2)) & set(rig.held("p1", "app2", R2))


def test_sidecars_keep_their_devices__TestRestartableInitContainerDeviceAllocation() -> None:
    rig = Rig()
    rig.plug(R1, *(f"dev{number}" for number in range(1, 7)))
    created = pod(
        "p1",
        init("init1", {R1: 3}),
        sidecar("init2", {R1: 1}),
        sidecar("init3", {R1: 2}),
        container("app1", {R1: 1}),
        container("app2", {R1: 2}),
    )

    assert rig.admit(created).admitted
    names = ("init1", "init2", "init3", "app1", "app2")
    held = [set(rig.held("p1", name, R1)) for name in names]

    assert [len(found) for found in held] == [3, 1, 2, 1, 2]
    assert held[1] <= held[0]
    assert held[2] <= held[0]
    assert len(set.union(*held[1:])) == 1 + 2 + 1 + 2


def test_allocatable_is_raised_never_lowered__TestUpdatePluginResources() -> None:
    rig = Rig()
    rig.plug(R1, "dev1", "dev2")
    rig.plug(R2, "dev2", "dev3")
    created = pod("p1", {R1: 1, R2: 1})
    rig.admit(created)

    assert rig.manager.raise_allocatable(created, {R2: 2}) == {R1: 1, R2: 2}
    assert rig.manager.raise_allocatable(pod("other", {R1: 1}), {R2: 0}) == {R2: 0}


def test_pre_start_gets_the_recorded_ids__TestDevicePreStartContainer() -> None:
    rig = Rig(on_allocate=answer_as_stubs)
    rig.plug(R1, "dev1", "dev2", pre_start=True)
    first, second = pod("pod1", {R1: 2}), pod("pod2", {R1: 0})
    rig.admit(first)
    rig.calls.clear()

    assert options(rig, first) == (3, 2, 1)
    assert rig.calls == [PreStartContainerCall(R1, ids("dev1", "dev2"), first.uid, MAIN)]

    rig.calls.clear()
    assert rig.admit(second).admitted
    assert options(rig, second) is None
    assert rig.calls == []


@pytest.mark.parametrize("skipped", [True, False])
def test_resources_of_a_claim_are_skipped__TestAdmitPodWithDRAResources(*, skipped: bool) -> None:
    """R1 has an allocated device but no list; with the gate on a claim serves it (S3.6)."""
    rig = Rig(behavior=replace(Behavior(), claimed_resources_skipped=skipped))
    rig.plug(R1, "Dev")
    rig.admit(pod("holder", {R1: 1}))
    rig.manager.disconnect(R1)
    rig.pass_time(Duration(6 * MINUTE))
    rig.run(rig.manager.expire_endpoints())
    claimed = Container(ContainerName("container1"), ((R1, 1),), claimed_resources=frozenset({R1}))
    created = Pod(PodUid("p1"), "p1", containers=(claimed,))

    assert rig.admit(created).admitted is skipped


def test_active_pods_remember_who_left_until_told() -> None:
    active = ActivePods([pod("a"), pod("b"), pod("c")])
    del active[PodUid("a")]
    del active[PodUid("b")]
    active.add(pod("b"))

    assert list(active) == ["c", "b"]
    assert active.take_departed() == ("a",)
    assert active.take_departed() == ()
    assert len(active) == 2
    assert active[PodUid("b")].name == "name-b"
