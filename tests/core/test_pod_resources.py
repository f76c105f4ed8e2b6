"""What the device manager answers a PodResources List or GetAllocatableResources with (S8).

List first runs the release step, then reads each container's devices; the driver does both.
"""

from __future__ import annotations

import pytest

from simulator.core.pods import ContainerKind, PodUid
from simulator.core.switches import behavior_for
from tests.core.driving import GPU, Rig, container, device, pod


def listed(rig: Rig) -> None:
    """Do to the device manager what List does before it reads."""
    if rig.behavior.pod_resources_releases:
        rig.run(rig.manager.release_inactive())


def rig_of(version: str) -> Rig:
    return Rig(behavior=behavior_for(version))


def test_the_devices_of_a_sidecar_are_those_of_its_own_container() -> None:
    """R42: from 1.29 on they are dedicated, so that List can show them (PR 120461, 120718)."""
    rig = rig_of("1.29.0")
    rig.plug(GPU, "g0", "g1", "g2")
    rig.admit(
        pod(
            "p1",
            container("setup", {GPU: 1}, ContainerKind.INIT),
            container("proxy", {GPU: 1}, ContainerKind.SIDECAR),
            container("main", {GPU: 2}),
        )
    )

    assert rig.held("p1", "proxy") == ["g0"]
    assert rig.held("p1", "main") == ["g1", "g2"]


def test_before_1_29_a_sidecar_hands_its_devices_on() -> None:
    """R42."""
    rig = rig_of("1.28.0")
    rig.plug(GPU, "g0")
    rig.admit(
        pod("p1", container("proxy", {GPU: 1}, ContainerKind.SIDECAR), container("main", {GPU: 1}))
    )

    assert rig.held("p1", "proxy") == rig.held("p1", "main") == ["g0"]


@pytest.mark.parametrize(
    ("version", "shown"), [("1.19.16", ["g0"]), ("1.20.0", []), ("1.26.2", []), ("1.36.2", [])]
)
def test_a_pod_that_ended_is_listed_without_devices(version: str, shown: list[str]) -> None:
    """R46: up to 1.19 List does not release, and shows them until another pod is admitted."""
    rig = rig_of(version)
    rig.plug(GPU, "g0")
    rig.admit(pod("job", {GPU: 1}))
    rig.end("job")
    listed(rig)
    assert rig.held("job") == shown

    assert rig.admit(pod("next", {GPU: 1})).admitted
    assert rig.held("job") == []
    assert rig.held("next") == ["g0"]


def test_a_pod_shows_no_devices_twice_however_often_it_is_listed() -> None:
    """R49: the release is done once; listing again frees nothing of the next holder."""
    rig = rig_of("1.36.2")
    rig.plug(GPU, "g0")
    rig.admit(pod("first", {GPU: 1}))
    rig.end("first")
    listed(rig)
    rig.admit(pod("second", {GPU: 1}))
    listed(rig)

    assert rig.manager.bindings_of(PodUid("first")) == []
    assert rig.held("second") == ["g0"]


def test_health_is_no_part_of_what_a_pod_holds() -> None:
    """S8.9, S8.10: a sick device is listed for its pod and is not allocatable."""
    rig = rig_of("1.36.2")
    rig.plug(GPU, "g0", "g1")
    rig.admit(pod("p1", {GPU: 1}))
    rig.report(GPU, device("g0", "Unhealthy"), "g1")

    assert rig.held("p1") == ["g0"]
    assert list(rig.manager.allocatable_devices()[GPU]) == ["g1"]
