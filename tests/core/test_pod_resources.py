"""What PodResources answers, without its socket (S8; upstream-tests.md 5, device parts)."""

from __future__ import annotations

import pytest

from simulator.core.behavior import ServedMethod
from simulator.core.pod_resources import (
    DISABLED,
    LookupFailed,
    PodResources,
    PodResourcesGates,
    served_methods,
)
from simulator.core.pods import ContainerKind
from simulator.core.switches import behavior_for
from tests.core.driving import GPU, NIC, container, device, pod
from tests.core.kubelet_pods import Kubelet, containers_of

WITHOUT_GATE = PodResourcesGates(active_pods=False)


def with_three_containers(version: str) -> Kubelet:
    kubelet = Kubelet(version)
    kubelet.rig.plug(GPU, "g0", "g1", "g2")
    kubelet.admit(
        pod(
            "p1",
            container("setup", {GPU: 1}, ContainerKind.INIT),
            container("proxy", {GPU: 1}, ContainerKind.SIDECAR),
            container("main", {GPU: 2}),
        )
    )
    return kubelet


def entries(found: PodResources) -> list[tuple[str, tuple[str, ...], tuple[int, ...] | None]]:
    return [
        (entry.resource, entry.ids, entry.numa_nodes)
        for each in found.containers
        for entry in each.devices
    ]


def test_a_plain_init_container_is_never_listed_and_a_sidecar_comes_first() -> None:
    """R42, S8.7; TestListPodResourcesWithInitContainersV1."""
    assert with_three_containers("1.29.0").listed() == {
        "name-p1": {"proxy": ["g0"], "main": ["g1", "g2"]}
    }


def test_before_1_29_a_sidecar_is_not_listed() -> None:
    """R42, PR 120718."""
    assert list(with_three_containers("1.28.15").listed()["name-p1"]) == ["main"]


def test_v1alpha1_lists_regular_containers_without_topology() -> None:
    """S8.5; TestListPodResourcesV1alpha1."""
    kubelet = Kubelet("1.36.2")
    kubelet.rig.plug(GPU, device("g0", nodes=[1]))
    kubelet.admit(
        pod("p1", container("proxy", {}, ContainerKind.SIDECAR), container("main", {GPU: 1}))
    )

    [found] = kubelet.list_pods("v1alpha1")
    assert [each.name for each in found.containers] == ["main"]
    assert entries(found) == [(GPU, ("g0",), None)]


def test_without_pods_the_list_is_empty() -> None:
    """TestListPodResourcesV1, TestListPodResourcesV1alpha1."""
    kubelet = Kubelet("1.36.2")

    assert kubelet.list_pods() == kubelet.list_pods("v1alpha1") == ()


def test_a_pod_without_devices_is_listed_with_its_containers() -> None:
    """S8.7; TestListPodResourcesV1, TestGetPodResourcesV1."""
    kubelet = Kubelet("1.36.2")
    kubelet.admit(pod("p1", {}))

    assert kubelet.listed() == kubelet.listed("v1alpha1") == {"name-p1": {"main": []}}
    assert kubelet.view.pod("default", "name-p1") == kubelet.list_pods()[0]


def test_only_the_active_pods_of_those_known_are_listed() -> None:
    """TestListPodResourcesUsesOnlyActivePodsV1."""
    kubelet = Kubelet("1.36.2")
    for number in range(1, 8):
        kubelet.admit(pod(f"p{number}", {}))
    kubelet.finish("p2")
    kubelet.finish("p7")

    assert list(kubelet.listed()) == ["name-p1", "name-p3", "name-p4", "name-p5", "name-p6"]
    assert len(kubelet.listed("v1alpha1")) == 7


@pytest.mark.parametrize(
    ("version", "gates", "listed"),
    [
        ("1.20.0", PodResourcesGates(), True),
        ("1.33.9", PodResourcesGates(), True),
        ("1.34.0", PodResourcesGates(), False),
        ("1.36.2", PodResourcesGates(), False),
        ("1.34.6", WITHOUT_GATE, True),
        ("1.35.3", WITHOUT_GATE, True),
        ("1.34.7", WITHOUT_GATE, False),
        ("1.35.4", WITHOUT_GATE, False),
        ("1.36.2", WITHOUT_GATE, False),
    ],
)
def test_a_pod_that_ended_is_listed_without_devices_or_not_at_all(
    version: str, gates: PodResourcesGates, *, listed: bool
) -> None:
    """R46, S8.8; PR 132028, PR 135485 for the gate that is off."""
    kubelet = Kubelet(version, gates)
    kubelet.rig.plug(GPU, "g0")
    kubelet.admit(pod("job", {GPU: 1}))
    kubelet.finish("job")
    ended: dict[str, dict[str, list[str]]] = {"name-job": {"main": []}} if listed else {}
    assert kubelet.listed() == ended

    assert kubelet.admit(pod("next", {GPU: 1})).admitted
    assert kubelet.listed() == ended | {"name-next": {"main": ["g0"]}}


def test_up_to_1_19_list_does_not_release() -> None:
    """R46: what ended is shown with its devices until another pod is admitted."""
    kubelet = Kubelet("1.19.16")
    kubelet.rig.plug(GPU, "g0")
    kubelet.admit(pod("job", {GPU: 1}))
    kubelet.finish("job")
    assert kubelet.listed("v1alpha1") == {"name-job": {"main": ["g0"]}}

    kubelet.admit(pod("next", {GPU: 1}))
    assert kubelet.listed("v1alpha1") == {"name-job": {"main": []}, "name-next": {"main": ["g0"]}}


def test_the_gate_hides_only_pods_that_have_ended_not_those_that_are_inactive() -> None:
    """S8.8: a rejected pod that has no final status yet is known and not terminal."""
    kubelet = Kubelet("1.36.2", WITHOUT_GATE)
    kubelet.rig.plug(GPU, "g0")
    assert not kubelet.admit(pod("refused", {GPU: 2})).admitted

    assert kubelet.listed() == {"name-refused": {"main": []}}


def test_until_all_sources_are_ready_nothing_is_released() -> None:
    """S6.8: before 1.34 the ended pod keeps its devices on paper as long."""
    kubelet = Kubelet("1.33.0")
    kubelet.rig.plug(GPU, "g0")
    kubelet.admit(pod("job", {GPU: 1}))
    kubelet.finish("job")
    kubelet.rig.facts.sources_ready = False
    assert kubelet.listed() == {"name-job": {"main": ["g0"]}}

    kubelet.rig.facts.sources_ready = True
    assert kubelet.listed() == {"name-job": {"main": []}}


def test_a_pod_shows_no_devices_twice_however_often_it_is_listed() -> None:
    """R49: the release is done once; listing again frees nothing of the next holder."""
    kubelet = Kubelet("1.33.0")
    kubelet.rig.plug(GPU, "g0")
    kubelet.admit(pod("first", {GPU: 1}))
    kubelet.finish("first")
    kubelet.listed()
    kubelet.admit(pod("second", {GPU: 1}))

    assert kubelet.listed() == {"name-first": {"main": []}, "name-second": {"main": ["g0"]}}
    assert kubelet.listed() == {"name-first": {"main": []}, "name-second": {"main": ["g0"]}}


def test_a_device_is_an_entry_for_each_of_its_numa_nodes() -> None:
    """S8.9; the shapes of TestAllocatableResources."""
    kubelet = Kubelet("1.36.2")
    kubelet.rig.plug(GPU, device("dev0", nodes=[0]), "devA", device("devMM", nodes=[0, 1]))
    kubelet.admit(pod("p1", {GPU: 3}))
    expected = [
        (GPU, ("dev0",), (0,)),
        (GPU, ("devA",), None),
        (GPU, ("devMM",), (0,)),
        (GPU, ("devMM",), (1,)),
    ]

    assert entries(kubelet.list_pods()[0]) == expected
    assert [(e.resource, e.ids, e.numa_nodes) for e in kubelet.view.allocatable()] == expected


@pytest.mark.parametrize(
    ("version", "alone"), [("1.20.2", (0,)), ("1.21.14", (0,)), ("1.22.0", None), ("1.24.0", None)]
)
def test_up_to_1_24_the_devices_of_a_numa_node_are_one_entry(
    version: str, alone: tuple[int, ...] | None
) -> None:
    """1.20.2 list 19; R102: without topology they are under node 0, from 1.22 on under none."""
    kubelet = Kubelet(version)
    kubelet.rig.plug(GPU, "a", "b", device("c", nodes=[1]), device("d", nodes=[1]))
    kubelet.admit(pod("p1", {GPU: 4}))

    [found] = kubelet.list_pods()
    assert sorted(entries(found), key=lambda entry: entry[1]) == [
        (GPU, ("a", "b"), alone),
        (GPU, ("c", "d"), (1,)),
    ]


def test_up_to_1_19_the_devices_of_a_resource_are_one_entry() -> None:
    """Their NUMA nodes are not recorded: the checkpoint has a list of ids (S4.15)."""
    kubelet = Kubelet("1.19.16")
    kubelet.rig.plug(GPU, device("g0", nodes=[0]), device("g1", nodes=[1]))
    kubelet.admit(pod("p1", {GPU: 2}))

    [found] = kubelet.list_pods("v1alpha1")
    assert entries(found) == [(GPU, ("g0", "g1"), None)]


def test_what_a_pod_holds_survives_a_restart_whatever_becomes_of_the_plugin() -> None:
    """S8.9, S8.10: from the records, while nothing is allocatable before a list has come."""
    kubelet = Kubelet("1.36.2")
    kubelet.rig.plug(GPU, "g0")
    kubelet.admit(pod("p1", {GPU: 1}))
    kubelet.rig.start()

    assert kubelet.listed() == {"name-p1": {"main": ["g0"]}}
    assert kubelet.view.allocatable() == ()


@pytest.mark.parametrize(("version", "count"), [("1.22.17", 4), ("1.23.0", 3), ("1.36.2", 3)])
def test_unhealthy_devices_are_not_allocatable_from_1_23_on(version: str, count: int) -> None:
    """R106, PR 104123."""
    kubelet = Kubelet(version)
    kubelet.rig.plug(GPU, "g0", "g1", "g2", device("g3", "Unhealthy"))
    ids = [id_ for entry in kubelet.view.allocatable() for id_ in entry.ids]

    assert len(ids) == count


def test_a_resource_without_healthy_devices_has_no_entry() -> None:
    """R106, S8.10: all unhealthy, or the plugin gone."""
    kubelet = Kubelet("1.36.2")
    kubelet.rig.plug(GPU, device("g0", "Unhealthy"))
    kubelet.rig.plug(NIC, "n0")
    kubelet.admit(pod("p1", {NIC: 1}))
    assert [entry.resource for entry in kubelet.view.allocatable()] == [NIC]

    kubelet.rig.manager.disconnect(NIC)
    assert kubelet.view.allocatable() == ()
    assert kubelet.listed() == {"name-p1": {"main": ["n0"]}}


def test_a_topology_message_without_nodes_gives_no_entry_of_what_is_allocatable() -> None:
    """S8.9: one entry for each node."""
    kubelet = Kubelet("1.36.2")
    kubelet.rig.plug(GPU, device("g0", nodes=[]), "g1")

    assert [entry.ids for entry in kubelet.view.allocatable()] == [("g1",)]


def test_get_finds_a_pod_by_namespace_and_name() -> None:
    """S8.11; TestGetPodResourcesV1, TestGetPodResourcesWithInitContainersV1."""
    view = with_three_containers("1.36.2").view
    found = view.pod("default", "name-p1")

    assert isinstance(found, PodResources)
    assert containers_of(found) == {"proxy": ["g0"], "main": ["g1", "g2"]}
    missing = LookupFailed("pod name-p1 in namespace other not found")
    assert view.pod("other", "name-p1") == missing
    assert view.pod("default", "p") == LookupFailed("pod p in namespace default not found")


def test_get_finds_an_ended_pod_up_to_1_33_and_frees_nothing() -> None:
    """S8.11, S6.2."""
    found = {}
    for version in ("1.33.9", "1.34.0"):
        kubelet = Kubelet(version)
        kubelet.rig.plug(GPU, "g0")
        kubelet.admit(pod("job", {GPU: 1}))
        kubelet.finish("job")
        found[version] = kubelet.view.pod("default", "name-job")

    old = found["1.33.9"]
    assert isinstance(old, PodResources)
    assert containers_of(old) == {"main": ["g0"]}
    assert found["1.34.0"] == LookupFailed("pod name-job in namespace default not found")


def test_an_entry_is_read_again_only_when_its_pod_has_changed() -> None:
    kubelet = Kubelet("1.36.2")
    kubelet.rig.plug(GPU, "g0", "g1")
    kubelet.admit(pod("p1", {GPU: 1}))
    kubelet.admit(pod("p2", {GPU: 1}))
    first = kubelet.list_pods()
    assert all(old is new for old, new in zip(first, kubelet.list_pods(), strict=True))

    kubelet.delete("p1")
    kubelet.admit(pod("p3", {GPU: 1}))
    second = kubelet.list_pods()
    assert second[0] is first[1]
    assert containers_of(second[1]) == {"main": ["g0"]}


@pytest.mark.parametrize(
    ("version", "methods"),
    [
        ("1.14.0", {}),
        ("1.19.16", {"v1alpha1/List": "on"}),
        ("1.20.2", {"v1alpha1/List": "on", "v1/List": "on"}),
        (
            "1.22.0",
            {"v1alpha1/List": "on", "v1/List": "on", "v1/GetAllocatableResources": "off"},
        ),
        ("1.26.0", {"v1alpha1/List": "on", "v1/List": "on", "v1/GetAllocatableResources": "on"}),
        (
            "1.32.10",
            {
                "v1alpha1/List": "on",
                "v1/List": "on",
                "v1/GetAllocatableResources": "on",
                "v1/Get": "off",
            },
        ),
        (
            "1.34.0",
            {
                "v1alpha1/List": "on",
                "v1/List": "on",
                "v1/GetAllocatableResources": "on",
                "v1/Get": "on",
            },
        ),
    ],
)
def test_what_a_version_serves(version: str, methods: dict[str, str]) -> None:
    """S8.2, S8.6."""
    found = served_methods(behavior_for(version))

    assert {f"{api}/{name}": state.value for (api, name), state in found.items()} == methods


def test_a_gate_turns_on_or_off_what_the_version_has() -> None:
    """S8.6, R106: GetAllocatableResources of 1.22, and Get of 1.32."""
    gates = PodResourcesGates(get_allocatable=True, get=True)
    off = PodResourcesGates(get_allocatable=False, get=False)

    assert served_methods(behavior_for("1.22.0"), gates)["v1", "GetAllocatableResources"] is (
        ServedMethod.ON
    )
    assert served_methods(behavior_for("1.32.10"), gates)["v1", "Get"] is ServedMethod.ON
    assert served_methods(behavior_for("1.34.0"), off)["v1", "Get"] is ServedMethod.OFF
    assert ("v1", "Get") not in served_methods(behavior_for("1.26.0"), gates)
    assert DISABLED["Get"] == "PodResources API Get method disabled"
