"""GPUs of the stub's machine as a kubelet sees them, over real sockets."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace

import grpc
import pytest

from plugins.conduct import Place
from plugins.nvml.answers import AnswerOptions
from plugins.nvml.plugin import NvmlOptions, nvml_plugins
from plugins.nvml.resources import MigStrategy, Naming
from plugins.serving import PluginServer
from simulator.core.allocate_response import decode
from simulator.errors import HardwareError
from simulator.protocol import rebind_deviceplugin_pb2 as device_plugin
from tests.plugins.kubelet import Registered, RegistrationServer, in_loop, kubelet
from tests.plugins.nvml.stub import Stub, gpu, mig

MIXED = NvmlOptions(naming=Naming(mig_strategy=MigStrategy.MIXED))


@asynccontextmanager
async def registered(
    stub: Stub, options: NvmlOptions
) -> AsyncIterator[tuple[RegistrationServer, dict[str, Registered]]]:
    """Serve the plugins of a machine beside a kubelet; gives each resource's registration."""
    async with AsyncExitStack() as stack:
        node = await stack.enter_async_context(kubelet())
        here = replace(options, host_root=stub.host_root)
        plugins = stack.enter_context(nvml_plugins(here))
        for number, plugin in enumerate(plugins):
            place = Place(directory=node.directory, socket_name=f"nvml-{number}.sock")
            await stack.enter_async_context(PluginServer(plugin, place))
        seen = [await node.plugin(number) for number in range(len(plugins))]
        yield node, {plugin.request.resource_name: plugin for plugin in seen}


def unhealthy(plugin: Registered) -> list[str]:
    return [id_ for id_, (health, _) in plugin.devices().items() if health != "Healthy"]


def container(answer: bytes) -> Sequence[bytes]:
    """Return the containers' parts of a serialized AllocateResponse."""
    message = device_plugin.AllocateResponse.FromString(answer)
    return [part.SerializeToString() for part in message.container_responses]


@in_loop
async def test_a_machine_registers_a_resource_for_each_kind_of_device(stub: Stub) -> None:
    async with registered(stub, MIXED) as (_, plugins):
        counts = {name: len(plugin.devices()) for name, plugin in plugins.items()}

        assert counts == {
            "nvidia.com/gpu": 7,
            "nvidia.com/mig-1g.5gb": 2,
            "nvidia.com/mig-3g.20gb": 1,
        }
        assert plugins["nvidia.com/mig-3g.20gb"].devices() == {mig(1, 2): ("Healthy", (0,))}
        assert all(p.options.get_preferred_allocation_available for p in plugins.values())


@in_loop
async def test_a_lost_gpu_is_listed_unhealthy_and_the_others_can_be_had(stub: Stub) -> None:
    """R84."""
    async with registered(stub, NvmlOptions()) as (_, plugins):
        (plugin,) = plugins.values()

        assert unhealthy(plugin) == [gpu(7)]
        assert await plugin.prefer([gpu(4), gpu(2), gpu(3)], 2) == [gpu(2), gpu(3)]
        (part,) = container(await plugin.allocate_bytes(gpu(3), gpu(2)))
        answer = decode(part)
        assert answer.envs == {"NVIDIA_VISIBLE_DEVICES": f"{gpu(2)},{gpu(3)}"}
        assert [spec.host_path for spec in answer.devices] == ["/dev/nvidia2", "/dev/nvidia3"]


@in_loop
async def test_a_gpu_that_is_lost_and_found_is_told_to_the_kubelet(stub: Stub) -> None:
    async with registered(stub, NvmlOptions()) as (node, plugins):
        (plugin,) = plugins.values()

        stub.says("lost 3")
        await node.until(lambda: unhealthy(plugin) == [gpu(3), gpu(7)])
        stub.says("found 3")
        await node.until(lambda: unhealthy(plugin) == [gpu(7)])


@in_loop
async def test_an_xid_in_an_instance_makes_its_shares_unhealthy_and_no_other(stub: Stub) -> None:
    naming = Naming(mig_strategy=MigStrategy.MIXED, replicas=2, rename_shared=True)
    async with registered(stub, NvmlOptions(naming=naming)) as (node, plugins):
        plugin = plugins["nvidia.com/mig-1g.5gb.shared"]
        # A harmless one first; a set of events tells of what happens after it was made.
        while not unhealthy(plugin):
            stub.says("xid 1 31 7 0", "xid 1 94 8 0")
            known = len(plugin.lists)
            try:
                async with asyncio.timeout(0.1):
                    await node.until(lambda: len(plugin.lists) > known)  # noqa: B023 - awaited here
            except TimeoutError:
                continue

        assert unhealthy(plugin) == [f"{mig(1, 1)}::0", f"{mig(1, 1)}::1"]
        others = [p for p in plugins.values() if p is not plugin]
        assert sorted(id_ for other in others for id_ in unhealthy(other)) == [
            f"{gpu(7)}::0",
            f"{gpu(7)}::1",
        ]


@in_loop
async def test_health_can_be_left_unwatched(stub: Stub) -> None:
    async with registered(stub, NvmlOptions(watches_health=False, prefers=False)) as (_, plugins):
        (plugin,) = plugins.values()

        assert unhealthy(plugin) == [gpu(7)], "what was seen at the start is told"
        assert not plugin.options.get_preferred_allocation_available


@in_loop
async def test_a_refused_answer_reaches_the_kubelet_as_an_error(stub: Stub) -> None:
    options = NvmlOptions(
        naming=Naming(replicas=2), answers=AnswerOptions(one_share_each=True), watches_health=False
    )
    async with registered(stub, options) as (_, plugins):
        (plugin,) = plugins.values()

        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await plugin.allocate_bytes(f"{gpu(0)}::0", f"{gpu(0)}::1")

        assert refused.value.code() == grpc.StatusCode.UNKNOWN
        assert (refused.value.details() or "").startswith("asked for 2 of nvidia.com/gpu, which")


@pytest.mark.parametrize(
    ("statements", "said"),
    [
        (["count 0"], "it found 0; there is nothing to offer"),
        (["count 1", "nameless 0"], "it found 1, of them 1 so lost that it has no name for them"),
        (["count 1", "mig 0"], "all 1 GPUs are in MIG mode and none has a MIG device"),
    ],
)
def test_a_machine_with_nothing_to_offer_is_refused(
    stub: Stub, statements: list[str], said: str
) -> None:
    stub.says(*statements)

    with pytest.raises(HardwareError) as refused, nvml_plugins(MIXED):
        pass

    assert said in str(refused.value)
