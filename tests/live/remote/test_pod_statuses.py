"""What a node writes into a pod's status, it reads back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kubernetes.client.models import V1PodStatus

from simulator.core.devices import DeviceId, NumaNode
from simulator.core.instants import Instant
from simulator.core.pods import Container, ContainerKind, ContainerName, Pod, PodUid
from simulator.core.resource_health import ResourceStatus
from simulator.core.resources import ResourceName
from simulator.core.transitions import DeviceBinding, NodeName
from simulator.engine.api_objects import ApiPod, PodStatus
from simulator.engine.spec import NodeSpec, PodSpec, SimulationSpec
from simulator.engine.virtual.simulation import Simulation
from simulator.live.pod_statuses import PodSight, pod_status, read_status, read_status_devices
from store.memory.store import MemoryStore

GPU = ResourceName("example.com/gpu")
NODE = NodeName("n0")
UID = PodUid("u-a")
MAIN = ContainerName("main")

TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), max_size=20)


def a_pod() -> ApiPod:
    pod = Pod(
        UID,
        "a",
        init_containers=(Container(ContainerName("setup"), kind=ContainerKind.INIT),),
        containers=(Container(MAIN, ((GPU, 1),)),),
        created=Instant(0),
    )
    return ApiPod(PodSpec("a", pod), pod, NODE)


def a_sight(status: PodStatus, devices: tuple[DeviceBinding, ...] = ()) -> PodSight:
    spec = SimulationSpec(nodes=(NodeSpec(NODE),), persistence="checkpoint")
    node = Simulation(spec, store_factory=lambda _: MemoryStore()).nodes[NODE]
    return PodSight(a_pod(), status, node, devices=devices)


@given(
    phase=st.sampled_from(("Pending", "Running", "Succeeded", "Failed")),
    reason=TEXTS,
    message=TEXTS,
    waiting=st.sampled_from(
        (
            "",
            "CreateContainerConfigError: no such device: gpu-1",
            "Allocate failed",
            "the API server cannot be reached: no route",
            "CreateContainerConfigError",
        )
    ),
)
def test_what_a_kubelet_says_of_a_pod_that_it_has_taken_up_is_read_back(
    phase: str, reason: str, message: str, waiting: str
) -> None:
    status = PodStatus(phase, reason, message, waiting=waiting, taken_up=True)

    assert read_status({"status": pod_status(a_sight(status))}) == status


def test_a_refused_pod_has_no_container_statuses() -> None:  # S13.1
    status = PodStatus("Failed", "UnexpectedAdmissionError", "Allocate failed")
    written = pod_status(a_sight(status))

    assert "containerStatuses" not in written
    assert read_status({"status": written}) == status


def test_the_official_client_reads_the_statuses_of_containers() -> None:
    """It insists on every key that the API always sends, even where there is nothing to say."""
    read = V1PodStatus.from_dict(dict(pod_status(a_sight(PodStatus(taken_up=True)))))

    assert read is not None
    assert [(each.name, each.image_id) for each in read.container_statuses or []] == [("main", "")]
    assert [each.name for each in read.init_container_statuses or []] == ["setup"]


def test_the_devices_that_ride_in_a_status_stand_under_their_containers() -> None:
    bindings = (
        DeviceBinding(UID, MAIN, GPU, {NumaNode(1): (DeviceId("g1"), DeviceId("g0"))}, b"x"),
    )
    written = pod_status(a_sight(PodStatus(taken_up=True), bindings))

    statuses = written["containerStatuses"]
    assert isinstance(statuses, list)
    assert isinstance(statuses[0], dict)
    assert statuses[0]["allocatedResourcesStatus"] == [
        {
            "name": "example.com/gpu",
            "resources": [
                {"resourceID": "g0", "health": "Unknown"},
                {"resourceID": "g1", "health": "Unknown"},
            ],
        }
    ]
    [read] = read_status_devices(UID, {"status": written})
    assert (read.container, read.resource) == (MAIN, GPU)
    assert [*read.devices.values()] == [("g0", "g1")]


def test_health_that_is_known_is_told_beside_the_devices() -> None:  # S9.3
    sight = a_sight(PodStatus(taken_up=True))
    health = {MAIN: (ResourceStatus(GPU, ((DeviceId("g0"), "Unhealthy"),)),)}
    sight = PodSight(sight.pod, sight.status, sight.node, health=health)

    statuses = pod_status(sight)["containerStatuses"]
    assert isinstance(statuses, list)
    assert isinstance(statuses[0], dict)
    assert statuses[0]["allocatedResourcesStatus"] == [
        {"name": GPU, "resources": [{"resourceID": "g0", "health": "Unhealthy"}]}
    ]


@pytest.mark.parametrize("state", [{}, {"running": {}}, {"terminated": {"exitCode": 1}}])
def test_a_container_that_does_not_wait_gives_no_reason(state: dict[str, object]) -> None:
    found = {"status": {"containerStatuses": [{"name": "main", "state": state}]}}

    assert read_status(found).waiting == ""  # type: ignore[arg-type]  # a JSON document
