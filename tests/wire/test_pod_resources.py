"""PodResources over a real socket (S8; upstream-tests.md 5, device parts, and 8)."""

from __future__ import annotations

import asyncio
import stat

import grpc
import grpc.aio
import pytest

from simulator.core.instants import MILLISECOND, SECOND, Duration
from simulator.core.persistence.database import DatabasePersistence
from simulator.core.pod_resources import PodResourcesGates
from simulator.core.pods import ContainerKind
from simulator.protocol import rebind_podresources_v1_pb2 as v1
from simulator.protocol import rebind_podresources_v1alpha1_pb2 as v1alpha1
from simulator.protocol import services
from tests.core.driving import GPU, container, device, pod
from tests.wire.pod_resources_node import Node, serving

ALPHA_LIST = v1alpha1.ListPodResourcesRequest()


def ids(response: v1.ListPodResourcesResponse | v1alpha1.ListPodResourcesResponse) -> object:
    """Return pod to container to ids."""
    return {
        each.name: {
            found.name: [id_ for entry in found.devices for id_ in entry.device_ids]
            for found in each.containers
        }
        for each in response.pod_resources
    }


async def refused(
    node: Node, name: str, request: bytes = b""
) -> tuple[grpc.StatusCode, str | None]:
    """Call a method, and return the status with which it is refused."""
    call: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = node.channel.unary_unary(name)
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call(request, timeout=60)
    return caught.value.code(), caught.value.details()


def test_the_socket_takes_the_place_of_an_older_one_and_is_its_owners() -> None:
    """S8.1; the mode of a kubelet is what its umask leaves."""

    async def scenario() -> None:
        async with serving("1.36.2") as node:
            assert [path.name for path in node.path.parent.iterdir()] == ["kubelet.sock"]
            assert stat.S_ISSOCK(node.path.stat().st_mode)
            assert stat.S_IMODE(node.path.stat().st_mode) == 0o600
            assert stat.S_IMODE(node.path.parent.stat().st_mode) & 0o007 == 0
        async with serving("1.36.2", socket_mode=None) as node:
            assert stat.S_IMODE(node.path.stat().st_mode) != 0o600

    asyncio.run(scenario())


def test_list_shows_sidecars_before_containers_and_one_entry_for_each_numa_node() -> None:
    """R42, S8.4, S8.7, S8.9; TestListPodResourcesV1, ...WithInitContainersV1."""

    async def scenario() -> None:
        async with serving("1.36.2") as node:
            assert list((await node.list_pods()).pod_resources) == []
            node.kubelet.rig.plug(
                GPU, device("dev0", nodes=[0, 1]), "devA", device("dev1", nodes=[1])
            )
            node.kubelet.admit(
                pod(
                    "p1",
                    container("setup", {GPU: 1}, ContainerKind.INIT),
                    container("proxy", {GPU: 1}, ContainerKind.SIDECAR),
                    container("main", {GPU: 2}),
                )
            )
            node.kubelet.admit(pod("p2", {}))
            node.owner.changes += 1
            [first, second] = (await node.list_pods()).pod_resources

        assert (first.name, first.namespace) == ("name-p1", "default")
        assert [each.name for each in first.containers] == ["proxy", "main"]
        assert [(each.name, list(each.devices)) for each in second.containers] == [("main", [])]
        entries = [
            (entry.resource_name, list(entry.device_ids), [n.ID for n in entry.topology.nodes])
            for each in first.containers
            for entry in each.devices
        ]
        assert entries == [
            (GPU, ["dev0"], [0]),
            (GPU, ["dev0"], [1]),
            (GPU, ["dev1"], [1]),
            (GPU, ["devA"], []),
        ]
        assert [entry.HasField("topology") for entry in first.containers[1].devices] == [
            True,
            False,
        ]

    asyncio.run(scenario())


def test_before_1_29_list_leaves_sidecars_out() -> None:
    """R42."""

    async def scenario() -> object:
        async with serving("1.28.15") as node:
            sidecar = container("proxy", {}, ContainerKind.SIDECAR)
            node.kubelet.admit(pod("p1", sidecar, container("main", {})))
            return ids(await node.list_pods())

    assert asyncio.run(scenario()) == {"name-p1": {"main": []}}


@pytest.mark.parametrize(
    ("version", "gates", "ended"),
    [
        ("1.33.9", None, {"name-job": {"main": []}}),
        ("1.36.2", None, {}),
        ("1.34.0", PodResourcesGates(active_pods=False), {"name-job": {"main": []}}),
        ("1.36.2", PodResourcesGates(active_pods=False), {}),
    ],
)
def test_list_frees_the_devices_of_ended_pods_before_it_answers(
    version: str, gates: PodResourcesGates | None, ended: dict[str, object]
) -> None:
    """R46, S6.2, S8.7, S8.8."""

    async def scenario() -> None:
        async with serving(version, gates=gates) as node:
            node.kubelet.rig.plug(GPU, "g0")
            node.kubelet.admit(pod("job", {GPU: 1}))
            node.kubelet.finish("job")
            assert ids(await node.list_pods()) == ended
            assert node.kubelet.rig.held("job") == []

            node.kubelet.admit(pod("next", {GPU: 1}))
            node.owner.changes += 1
            assert ids(await node.list_pods()) == ended | {"name-next": {"main": ["g0"]}}

    asyncio.run(scenario())


def test_up_to_1_19_there_is_v1alpha1_alone_and_list_frees_nothing() -> None:
    """R46, S8.5, S8.6."""

    async def scenario() -> None:
        async with serving("1.19.16") as node:
            node.kubelet.rig.plug(GPU, "g0")
            node.kubelet.admit(pod("job", {GPU: 1}))
            node.kubelet.finish("job")

            listed = await node.call(services.LIST_V1ALPHA1, ALPHA_LIST)
            assert ids(listed) == {"name-job": {"main": ["g0"]}}
            assert await refused(node, services.LIST.path) == (
                grpc.StatusCode.UNIMPLEMENTED,
                "unknown service v1.PodResourcesLister",
            )

    asyncio.run(scenario())


def test_before_1_15_there_is_no_socket() -> None:
    """S8.6."""

    async def scenario() -> None:
        async with serving("1.14.0") as node:
            assert not node.path.parent.exists()

    asyncio.run(scenario())


def test_v1alpha1_lists_names_and_ids_of_all_pods() -> None:
    """S8.5; TestListPodResourcesV1alpha1."""

    async def scenario() -> None:
        async with serving("1.36.2") as node:
            node.kubelet.rig.plug(GPU, device("dev0", nodes=[1]), "dev1")
            node.kubelet.admit(pod("p1", {GPU: 2}))
            node.kubelet.admit(pod("p2", {}))
            node.kubelet.finish("p2")
            listed = await node.call(services.LIST_V1ALPHA1, ALPHA_LIST)

        assert ids(listed) == {"name-p1": {"main": ["dev0", "dev1"]}, "name-p2": {"main": []}}

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("version", "gates", "healthy"),
    [
        ("1.22.0", PodResourcesGates(get_allocatable=True), ["g0", "g1", "g2", "g3"]),
        ("1.23.0", None, ["g0", "g1", "g2"]),
        ("1.36.2", None, ["g0", "g1", "g2"]),
    ],
)
def test_allocatable_are_the_healthy_devices_used_or_not(
    version: str, gates: PodResourcesGates | None, healthy: list[str]
) -> None:
    """R106, S8.10; TestAllocatableResources."""

    async def scenario() -> None:
        async with serving(version, gates=gates) as node:
            node.kubelet.rig.plug(GPU, "g0", "g1", "g2", device("g3", "Unhealthy"))
            node.kubelet.admit(pod("p1", {GPU: 1}))
            found = (await node.allocatable()).devices
            assert [id_ for entry in found for id_ in entry.device_ids] == healthy

            node.kubelet.rig.report(GPU, device("g0", "Unhealthy"))
            assert len((await node.allocatable()).devices) == (gates is not None)

    asyncio.run(scenario())


def test_get_answers_for_one_pod_or_says_that_it_is_not_there() -> None:
    """S8.11; TestGetPodResourcesV1."""

    async def scenario() -> None:
        async with serving("1.36.2") as node:
            node.kubelet.rig.plug(GPU, device("g0", nodes=[0]))
            node.kubelet.admit(pod("p1", {GPU: 1}))
            found = await node.pod("name-p1")
            [entry] = found.containers[0].devices
            assert (entry.resource_name, list(entry.device_ids)) == (GPU, ["g0"])
            assert [node.ID for node in entry.topology.nodes] == [0]

            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await node.pod("name-p1", "other")
            assert caught.value.code() is grpc.StatusCode.UNKNOWN
            assert caught.value.details() == "pod name-p1 in namespace other not found"
            assert node.owner.requested == {"v1/Get": 2}
            assert node.owner.failed == {"v1/Get": 1}

    asyncio.run(scenario())


def test_methods_behind_a_gate_or_not_yet_there_say_so() -> None:
    """S8.6: the gate's own text is UNKNOWN and counted, a missing method is neither."""

    async def scenario() -> None:
        async with serving("1.32.10") as node:
            assert await refused(node, services.GET.path) == (
                grpc.StatusCode.UNKNOWN,
                "PodResources API Get method disabled",
            )
            assert node.owner.failed == node.owner.requested == {"v1/Get": 1}
        async with serving("1.20.2") as node:
            assert await refused(node, services.GET_ALLOCATABLE_RESOURCES.path) == (
                grpc.StatusCode.UNIMPLEMENTED,
                "unknown method GetAllocatableResources for service v1.PodResourcesLister",
            )
            assert node.owner.requested == {}

    asyncio.run(scenario())


def test_all_clients_and_methods_share_one_limit_and_refused_calls_are_not_counted() -> None:
    """S8.2, S8.3: ten at once, one more every 10 ms."""

    async def scenario() -> None:
        async with serving("1.36.2") as node:
            async with grpc.aio.insecure_channel(f"unix:{node.path}") as channel:
                other = Node(node.kubelet, node.owner, node.path, channel)
                for _ in range(5):
                    await node.allocatable()
                    await other.call(services.LIST_V1ALPHA1, ALPHA_LIST)
                for each in (node, other):
                    assert await refused(each, services.LIST.path) == (
                        grpc.StatusCode.RESOURCE_EXHAUSTED,
                        "rejected by rate limit",
                    )
            node.pass_time(Duration(10 * MILLISECOND))
            await node.list_pods()
            assert (await refused(node, services.GET.path))[1] == "rejected by rate limit"

            assert node.owner.requested == {
                "v1/GetAllocatableResources": 5,
                "v1alpha1/List": 5,
                "v1/List": 1,
            }
            assert node.owner.failed == {}

    asyncio.run(scenario())


@pytest.mark.parametrize(("version", "served"), [("1.26.15", 200), ("1.27.0", 10)])
def test_two_hundred_lists_in_a_tight_loop(version: str, served: int) -> None:
    """Upstream's throttling test; up to 1.26 there is no limit."""

    async def scenario() -> list[str]:
        async with serving(version) as node:
            answers = []
            for _ in range(200):
                try:
                    await node.list_pods()
                    answers.append("ok")
                except grpc.aio.AioRpcError as error:
                    answers.append(error.details() or "")
            return answers

    answers = asyncio.run(scenario())
    assert answers[:served] == ["ok"] * served
    assert set(answers[served:]) <= {"rejected by rate limit"}


def test_names_and_numbers_on_the_wire_are_those_of_the_api() -> None:
    """S8.2, S8.4: written out by hand; NUMA node 0 is a message without content."""
    gpu = b"example.com/gpu"
    node_0, node_1 = b"\x1a\x02\x0a\x00", b"\x1a\x04\x0a\x02\x08\x01"
    devices = [
        b"\x0a" + bytes([len(gpu)]) + gpu + b"\x12\x02" + id_ + topology
        for id_, topology in ((b"g0", node_0), (b"g1", node_1), (b"g2", b""))
    ]
    container_ = b"\x0a\x04main" + b"".join(
        b"\x12" + bytes([len(entry)]) + entry for entry in devices
    )
    pod_ = b"\x0a\x07name-p1\x12\x07default\x1a" + bytes([len(container_)]) + container_

    async def scenario() -> None:
        async with serving("1.36.2") as node:
            listed = (device("g0", nodes=[0]), device("g1", nodes=[1]), "g2")
            node.kubelet.rig.plug(GPU, *listed)
            node.kubelet.admit(pod("p1", {GPU: 3}))
            whole = b"\x0a" + len(pod_).to_bytes(1, "big") + pod_
            assert len(pod_) < 128
            for name, request, answer in (
                ("/v1.PodResourcesLister/List", b"", whole),
                ("/v1.PodResourcesLister/Get", b"\x0a\x07name-p1\x12\x07default", whole),
                (
                    "/v1.PodResourcesLister/GetAllocatableResources",
                    b"",
                    b"".join(b"\x0a" + bytes([len(entry)]) + entry for entry in devices),
                ),
            ):
                call: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = node.channel.unary_unary(
                    name
                )
                assert await call(request, timeout=60) == answer

    asyncio.run(scenario())


def test_after_a_restart_pods_keep_their_devices_and_nothing_is_allocatable_yet() -> None:
    """S8.9, S8.10: until the plugin's first list."""

    async def scenario() -> None:
        async with serving("1.36.2") as node:
            node.kubelet.rig.plug(GPU, "g0", "g1")
            node.kubelet.admit(pod("p1", {GPU: 1}))
            node.kubelet.rig.start()
            assert ids(await node.list_pods()) == {"name-p1": {"main": ["g0"]}}
            assert list((await node.allocatable()).devices) == []

            node.kubelet.rig.plug(GPU, "g0", "g1")
            found = (await node.allocatable()).devices
            assert [id_ for entry in found for id_ in entry.device_ids] == ["g0", "g1"]

    asyncio.run(scenario())


def test_list_answers_even_when_a_release_cannot_be_made_durable() -> None:
    """S8.12: there is no error path, and no error is counted."""

    async def scenario() -> None:
        async with serving("1.33.0", persistence=lambda _: DatabasePersistence()) as node:
            node.kubelet.rig.plug(GPU, "g0")
            node.kubelet.admit(pod("job", {GPU: 1}))
            node.kubelet.finish("job")
            node.kubelet.rig.write_error = "disk full"
            assert ids(await node.list_pods()) == {"name-job": {"main": ["g0"]}}
            assert node.owner.failed == {}

            node.kubelet.rig.write_error = ""
            node.owner.changes += 1
            assert ids(await node.list_pods()) == {"name-job": {"main": []}}

    asyncio.run(scenario())


def test_a_list_is_made_anew_only_after_a_change() -> None:
    async def scenario() -> None:
        async with serving("1.36.2") as node:
            node.kubelet.rig.plug(GPU, "g0", "g1")
            node.kubelet.admit(pod("p1", {GPU: 1}))
            first = await node.list_pods()
            assert await node.list_pods() == first
            assert node.owner.lists == 1

            node.kubelet.admit(pod("p2", {GPU: 1}))
            node.owner.changes += 1
            node.pass_time(SECOND)
            second = await node.list_pods()
            assert ids(second) == {"name-p1": {"main": ["g0"]}, "name-p2": {"main": ["g1"]}}
            assert node.owner.lists == 2

            await node.call(services.LIST_V1ALPHA1, ALPHA_LIST)
            assert node.owner.lists == 3

    asyncio.run(scenario())


def test_a_list_is_not_kept_when_something_changes_before_it_is_sent() -> None:
    async def scenario() -> None:
        async with serving("1.36.2") as node:
            node.kubelet.rig.plug(GPU, "g0")

            def admit() -> None:
                node.kubelet.admit(pod("p1", {GPU: 1}))
                node.owner.changes += 1

            node.owner.meanwhile = admit
            assert ids(await node.list_pods()) == {}
            for _ in range(2):
                assert ids(await node.list_pods()) == {"name-p1": {"main": ["g0"]}}
            assert node.owner.lists == 2

    asyncio.run(scenario())


def test_a_request_that_cannot_be_read_is_refused_and_not_counted() -> None:
    text = "grpc: error unmarshalling request: proto: cannot parse invalid wire-format data"

    async def scenario() -> None:
        async with serving("1.36.2") as node:
            for name in (services.GET.path, services.LIST.path, services.LIST_V1ALPHA1.path):
                assert await refused(node, name, b"\xff\xff") == (grpc.StatusCode.INTERNAL, text)
            assert node.owner.requested == {}

    asyncio.run(scenario())
