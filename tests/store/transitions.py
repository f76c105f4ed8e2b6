"""Random transitions over a small world, so that names, devices and pods meet often."""

from __future__ import annotations

from hypothesis import strategies as st

from simulator.core.devices import Device, DeviceId, NumaNode
from simulator.core.instants import Instant
from simulator.core.migration.phases import Phase
from simulator.core.pods import ContainerName, PodUid
from simulator.core.resources import ResourceName
from simulator.core.transitions import (
    CheckpointImported,
    DeviceBinding,
    DevicesReported,
    NodeBooted,
    NodeName,
    OnConflict,
    PhaseChanged,
    PodAdmitted,
    PodIdentity,
    PodRejected,
    PodsReleased,
    ResourceRemoved,
    Transition,
)

NODES = st.sampled_from([NodeName("n0"), NodeName("n1")])
RESOURCES = st.sampled_from([ResourceName("example.com/gpu"), ResourceName("example.com/nic")])
DEVICES = st.sampled_from([DeviceId(f"d{number}") for number in range(4)])
UIDS = st.sampled_from([PodUid(f"uid-{number}") for number in range(4)])
CONTAINERS = st.sampled_from([ContainerName("init"), ContainerName("main")])
NUMA = st.sampled_from([NumaNode(-1), NumaNode(0), NumaNode(1), NumaNode(10)])
INSTANTS = st.integers(0, 10**13).map(Instant)
PODS = st.builds(
    PodIdentity,
    uid=UIDS,
    namespace=st.sampled_from(["", "default"]),
    name=st.sampled_from(["", "trainer", "zähler"]),
)
GROUPS = st.dictionaries(NUMA, st.lists(DEVICES, max_size=3).map(tuple), max_size=3)
RESPONSES = st.none() | st.binary(max_size=4)
REPORTED = st.builds(
    Device,
    id=DEVICES,
    health=st.sampled_from(["Healthy", "Unhealthy", "odd"]),
    topology=st.none() | st.lists(NUMA, max_size=2).map(tuple),
)


def bindings_of(uids: st.SearchStrategy[PodUid]) -> st.SearchStrategy[DeviceBinding]:
    return st.builds(
        DeviceBinding,
        pod=uids,
        container=CONTAINERS,
        resource=RESOURCES,
        devices=GROUPS,
        response=RESPONSES,
    )


def _admission(pod: PodIdentity) -> st.SearchStrategy[PodAdmitted]:
    return st.builds(
        PodAdmitted,
        node=NODES,
        at=INSTANTS,
        pod=st.just(pod),
        bindings=st.lists(bindings_of(st.just(pod.uid)), max_size=3).map(tuple),
    )


ADMISSIONS = PODS.flatmap(_admission)
IMPORTS = st.builds(
    CheckpointImported,
    node=NODES,
    at=INSTANTS,
    content=st.sampled_from([b"{}", b"[]"]),
    bindings=st.lists(bindings_of(UIDS), max_size=4).map(tuple),
    registered=st.dictionaries(RESOURCES, st.lists(DEVICES, max_size=3).map(tuple)).map(
        lambda listed: tuple(listed.items())
    ),
    on_conflict=st.sampled_from(OnConflict),
    replace=st.booleans(),
    pods=st.lists(PODS, max_size=2, unique_by=lambda pod: pod.uid).map(tuple),
    phase=st.none() | st.sampled_from(Phase),
)
TRANSITIONS: st.SearchStrategy[Transition] = st.one_of(
    ADMISSIONS,
    ADMISSIONS,
    st.builds(PodsReleased, node=NODES, at=INSTANTS, pods=st.lists(UIDS, max_size=3).map(tuple)),
    st.builds(
        DevicesReported,
        node=NODES,
        at=INSTANTS,
        resource=RESOURCES,
        devices=st.lists(REPORTED, max_size=4).map(tuple),
    ),
    st.builds(
        PodRejected,
        node=NODES,
        at=INSTANTS,
        pod=PODS,
        reason=st.just("UnexpectedAdmissionError"),
        message=st.sampled_from(["no healthy devices", "x"]),
    ),
    st.builds(NodeBooted, node=NODES, at=INSTANTS, boot_id=st.sampled_from(["b0", "b1"])),
    st.builds(ResourceRemoved, node=NODES, at=INSTANTS, resource=RESOURCES),
    IMPORTS,
    st.builds(
        PhaseChanged,
        node=NODES,
        at=INSTANTS,
        phase=st.sampled_from(Phase),
        content=st.none() | st.sampled_from([b"{}", b"[]"]),
    ),
)
BATCHES = st.lists(st.lists(TRANSITIONS, min_size=1, max_size=6), max_size=8)
