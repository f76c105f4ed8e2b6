"""How plugins register with a live node, by kubelet version (S1.1 to S1.16)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import grpc
import grpc.aio
import pytest
from typing_extensions import override

from simulator.core.endpoints import DIAL_TIMEOUT, PluginOptions
from simulator.core.instants import SECOND, Duration
from simulator.core.records import KubeletStarted, KubeletStartFailed, RegistrationRefused
from simulator.engine.actions import CreatePod, RestartKubelet
from simulator.live.world import LiveWorld
from simulator.protocol import rebind_deviceplugin_pb2 as device_plugin
from simulator.wire.pod_resources_client import list_pods
from tests.live.real_plugins import (
    allocatable,
    beside,
    capacity,
    on_a_node,
    records_of,
    until,
)
from tests.live.worlds import NODE, done

UNKNOWN = "rpc error: code = Unknown desc = "


class Stranger(grpc.GenericRpcHandler):
    """A plugin that knows method names and bytes alone, as one in another language would."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    @override
    def service(self, call: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler[bytes, bytes] | None:
        self.asked.append(call.method)

        async def answer(request: bytes, context: object) -> bytes:
            del request, context
            options = b"\x08\x01\x10\x01"  # Both optional calls are wanted.
            allocated = b"\x0a\x08\x0a\x06\x0a\x01A\x12\x01b"  # One container: A=b.
            answers = {"GetDevicePluginOptions": options, "Allocate": allocated}
            return answers.get(call.method.rpartition("/")[2], b"")

        async def lists(request: bytes, context: object) -> AsyncIterator[bytes]:
            del request, context
            yield b"\x0a\x0d\x0a\x02d0\x12\x07Healthy\x0a\x0d\x0a\x02d1\x12\x07Healthy"
            await asyncio.Event().wait()

        if call.method.endswith("ListAndWatch"):
            return grpc.unary_stream_rpc_method_handler(lists)
        return grpc.unary_unary_rpc_method_handler(answer)


def test_a_plugin_that_knows_names_and_bytes_alone_is_served() -> None:
    """S1.1, S1.2, S1.3, S1.4, S1.7: package v1beta1, without a domain."""

    async def test(world: LiveWorld) -> None:
        folder = world.settings.folder(NODE)
        stranger, server = Stranger(), grpc.aio.server()
        server.add_generic_rpc_handlers([stranger])
        server.add_insecure_port(f"unix:{folder.device_plugins / 's.sock'}")
        await server.start()
        async with grpc.aio.insecure_channel(f"unix:{folder.registration_socket}") as channel:
            request = b"\x0a\x07v1beta1\x12\x06s.sock\x1a\x0fexample.com/gpu"
            call: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes]
            call = channel.unary_unary("/v1beta1.Registration/Register")
            assert await call(request) == b""
        await until(world, lambda: allocatable(world) == 2)
        await done(world, CreatePod("a", NODE), "pod")
        names = ("GetDevicePluginOptions", "ListAndWatch", "GetPreferredAllocation", "Allocate")
        assert stranger.asked == [
            f"/v1beta1.DevicePlugin/{name}" for name in (*names, "PreStartContainer")
        ]
        await server.stop(None)

    on_a_node(test)


def test_a_kubelet_that_cannot_listen_ends() -> None:
    """S1.8: a folder is in the place of its socket, which no cleaning removes."""

    async def test(world: LiveWorld) -> None:
        socket = world.settings.folder(NODE).registration_socket
        world.enter(lambda: world.nodes[NODE].stop_kubelet("stopped"))
        await until(world, lambda: not socket.exists() or world.nodes[NODE].kubelet is None)
        socket.unlink(missing_ok=True)
        (socket / "in-the-way").mkdir(parents=True)
        world.enter(world.nodes[NODE].start_kubelet)
        await until(world, lambda: bool(records_of(world, KubeletStartFailed)))
        assert world.nodes[NODE].kubelet is None

    on_a_node(test)


def identity(path: Path) -> tuple[int, int]:
    """Return what tells a file from one made later; a number alone may be given again."""
    found = path.stat()
    return found.st_ino, found.st_ctime_ns


@pytest.mark.parametrize(
    ("version", "kept"),
    [
        ("1.32.10", {"folder", "kubelet.sock", "kubelet_internal_checkpoint"}),
        ("1.36.2", {"DEPRECATION", "folder", "kubelet.sock", "kubelet_internal_checkpoint"}),
    ],
)
def test_a_kubelet_start_cleans_the_plugin_directory(version: str, kept: set[str]) -> None:
    """S1.9, S1.9a, S1.10: sockets go, and up to 1.35 everything that is no folder."""

    async def test(world: LiveWorld) -> None:
        directory = world.settings.folder(NODE).device_plugins
        async with beside(world) as plugin:
            assert await plugin.register() == ""
            await plugin.lists("d0")
            await until(world, (directory / "kubelet_internal_checkpoint").exists)
            (directory / "DEPRECATION").write_text("use the watcher")
            (directory / "folder").mkdir()
            before = identity(directory / "kubelet.sock")
            await done(world, RestartKubelet(NODE, Duration(0)), "restart")
            assert {path.name for path in directory.iterdir()} == kept
            assert identity(directory / "kubelet.sock") != before
            assert capacity(world) == 0  # It was told nothing, and has not come back.

    on_a_node(test, version)


async def is_not_served(world: LiveWorld, endpoint: str) -> None:
    """Let the time pass in which a plugin may come to serve the socket that is dialed (S1.12)."""

    def is_dialed() -> bool:
        sockets = world.parts.sockets_of(NODE).present
        return sockets is not None and bool(sockets.peers_at(endpoint))

    await until(world, is_dialed)
    world.put_forward(Duration(DIAL_TIMEOUT + SECOND))


def test_what_is_wrong_with_a_request_is_told_in_this_order() -> None:
    """S1.12, S1.13, S1.15: version, name, dial, options; then the plugin is asked for its list."""

    async def test(world: LiveWorld) -> None:
        async with beside(world) as plugin:
            supported = 'is not supported by kubelet. Supported version is ["v1beta1"]'
            assert await plugin.register("gpu", version="v2") == (
                f'{UNKNOWN}requested API version "v2" {supported}'
            )
            for name in ("gpu", "kubernetes.io/gpu", "x.kubernetes.io/gpu", "requests.foo/x"):
                assert await plugin.register(name) == (
                    f'{UNKNOWN}the ResourceName "{name}" is invalid'
                )
            registering = asyncio.create_task(plugin.register(endpoint="nobody.sock"))
            await is_not_served(world, "nobody.sock")
            assert await registering == (
                f"{UNKNOWN}failed to dial device plugin: context deadline exceeded"
            )
            plugin.plugin.error = "not yet"
            assert await plugin.register() == (
                f"{UNKNOWN}failed to get device plugin options: {UNKNOWN}not yet"
            )
            plugin.plugin.error = ""
            assert capacity(world) is None
            assert await plugin.register() == ""
            await plugin.lists("d0")
            assert len(records_of(world, RegistrationRefused)) == 7
            assert len(plugin.plugin.calls) == 3  # Options twice, and ListAndWatch.

    on_a_node(test)


def test_up_to_1_24_a_request_is_answered_before_the_plugin_is_dialed() -> None:
    """S1.12, S1.13: issue 112395; the error is told to nobody."""

    async def test(world: LiveWorld) -> None:
        async with beside(world) as plugin:
            assert await plugin.register(endpoint="nobody.sock") == ""
            await is_not_served(world, "nobody.sock")
            await until(world, lambda: bool(records_of(world, RegistrationRefused)))
            assert capacity(world) is None

    on_a_node(test, "1.24.17")


@pytest.mark.parametrize(("version", "asked"), [("1.24.17", True), ("1.25.0", False)])
def test_the_options_of_the_request_count_up_to_1_24(version: str, *, asked: bool) -> None:
    """S1.12.6, S1.26: from 1.25 on they are ignored, and the plugin's own answer counts."""

    async def test(world: LiveWorld) -> None:
        async with beside(world) as plugin:
            assert await plugin.register(wants=PluginOptions(pre_start_required=True)) == ""
            await plugin.lists("d0")
            await done(world, CreatePod("a", NODE), "pod")
            kinds = [type(call) for call in plugin.plugin.calls]
            assert (device_plugin.PreStartContainerRequest in kinds) is asked

    on_a_node(test, version)


def test_the_newest_registration_wins_and_the_older_ones_lists_still_count() -> None:
    """S1.14, S1.17, S1.23: until its first list the older one's devices stay."""

    async def test(world: LiveWorld) -> None:
        async with beside(world, "old.sock") as old, beside(world, "new.sock") as new:
            assert await old.register() == ""
            await old.lists("d0", "d1")
            assert await new.register() == ""
            assert (capacity(world), allocatable(world)) == (2, 2)
            await new.lists("d0")
            await old.lists("d0", "d1", "d2")
            assert allocatable(world) == 3
            await done(world, CreatePod("a", NODE), "pod")
            assert [len(each.plugin.calls) for each in (old, new)] == [2, 3]  # Allocate: the new.

    on_a_node(test)


def test_a_failed_registration_takes_the_place_of_the_plugin_that_was_there() -> None:
    """S1.16: later the end of its stream is noticed by nobody, and its devices stay healthy."""

    async def test(world: LiveWorld) -> None:
        async with beside(world, "new.sock") as new:
            async with beside(world, "old.sock") as old:
                assert await old.register() == ""
                await old.lists("d0", "d1")
                new.plugin.error = "no"
                assert "failed to get device plugin options" in await new.register()
            sockets = world.parts.sockets_of(NODE).present
            assert sockets is not None
            await until(
                world, lambda: all(not peer.stream for peer in sockets.peers_at("old.sock"))
            )
            assert (capacity(world), allocatable(world)) == (2, 2)
            assert len(records_of(world, KubeletStarted)) == 1

    on_a_node(test)


def test_one_that_registers_anew_has_no_stop_time() -> None:
    """S1.20, S2.6, S2.7: its devices are all unhealthy while it is away, then as it lists them."""

    async def test(world: LiveWorld) -> None:
        async with beside(world) as plugin:
            assert await plugin.register() == ""
            await plugin.lists("d0", "d1")
            plugin.plugin.lists.put_nowait(None)
            await until(world, lambda: allocatable(world) == 0)
            assert capacity(world) == 2
            assert await plugin.register() == ""
            await until(world, lambda: len(plugin.plugin.calls) == 4)
            plugin.plugin.send()
            await until(world, lambda: capacity(world) == 0)
            assert allocatable(world) == 0
            await plugin.lists("d0")
            assert (capacity(world), allocatable(world)) == (1, 1)

    on_a_node(test)


def test_a_metric_has_no_series_before_it_was_used() -> None:
    """S11.1, S1.12, S8.3, S8.12: a Register call counts before anything of it is looked at."""

    async def test(world: LiveWorld) -> None:
        def lines(start: str) -> list[str]:
            page = world.metering.pages.everything().decode()
            return [line for line in page.splitlines() if line.startswith(start)]

        registrations, requests = "kubelet_device_plugin", "kubelet_pod_resources_endpoint"
        assert lines(registrations) == lines(requests) == []
        async with beside(world) as plugin:
            assert await plugin.register("gpu", version="v2") != ""
            await list_pods(world.settings.folder(NODE).pod_resources_socket)
        name = f"{registrations}_registration_total"
        assert lines(registrations) == [f'{name}{{resource_name="gpu"}} 1.0']
        assert lines(requests) == [
            f'{requests}_{name}{{server_api_version="v1"}} 1.0'
            for name in ("requests_total", "requests_list")
        ]

    on_a_node(test)
