"""Plugins in `plugins_registry` over real sockets (S1.29 to S1.38; upstream-tests.md 6)."""

from __future__ import annotations

import asyncio
import os
import socket
import stat
from contextlib import AsyncExitStack

import grpc
import grpc.aio
import pytest

from simulator.protocol import rebind_pluginregistration_pb2 as messages
from simulator.wire.registry_tree import look
from tests.wire.registry_plugin import GPU, SOON, announcing, kubelet, plugin

REFUSED = "RegisterPlugin error -- "


def test_a_socket_that_appears_is_registered_and_one_that_goes_is_unregistered() -> None:
    """S1.31, S1.33, S1.36; TestPluginManager."""

    async def scenario() -> None:
        async with kubelet() as node, node.watching() as watcher:
            assert stat.S_IMODE(node.directory.stat().st_mode) & 0o007 == 0
            async with plugin(node) as gpu:
                await node.until(lambda: gpu.notified != [])
                assert gpu.notified == [(True, "")]
                await node.passed()
                await node.until_said(f"+ {GPU} plugins_registry/gpu.sock")
                assert sorted(watcher.totals()) == [
                    (str(gpu.path), "actual_state_of_world"),
                    (str(gpu.path), "desired_state_of_world"),
                ]
            await node.until_said(f"+ {GPU} plugins_registry/gpu.sock", f"- {GPU}")
            assert watcher.totals() == []

    asyncio.run(scenario())


def test_an_endpoint_is_used_as_it_is() -> None:
    """S1.33: it may be anywhere; left empty it is the registration socket itself."""

    async def scenario() -> None:
        async with kubelet() as node, node.watching():
            info = announcing(endpoint="/somewhere/else/gpu.sock")
            async with plugin(node, info=info):
                await node.until_said(f"+ {GPU} /somewhere/else/gpu.sock")

    asyncio.run(scenario())


def test_sockets_that_are_there_at_the_start_are_registered_at_every_start() -> None:
    """S1.31, S1.37; TestPluginRegistrationAtKubeletStart: no plugin does anything for it."""

    async def scenario() -> None:
        async with kubelet() as node, AsyncExitStack() as stack:
            for number in range(10):
                name = f"example.com/r{number}"
                info = announcing(name)
                await stack.enter_async_context(plugin(node, f"{number}.sock", info))
            for restarts in (1, 2):
                async with node.watching() as watcher:
                    await node.until(lambda: len(watcher.totals()) == 20)
                    assert len(node.said) == 10 * restarts
                assert len(list(node.directory.iterdir())) == 10
            assert sorted(node.said[:10]) == sorted(node.said[10:])

    asyncio.run(scenario())


def test_sub_directories_are_watched_and_dots_and_other_files_are_ignored() -> None:
    """S1.31."""

    async def scenario() -> None:
        async with kubelet() as node, node.watching() as watcher, AsyncExitStack() as stack:
            (node.directory / "notes.txt").touch()
            (node.directory / "link.sock").symlink_to(node.directory / "nothing")
            for name in (".hidden.sock", ".dir/a.sock"):
                await stack.enter_async_context(plugin(node, name))
            await stack.enter_async_context(plugin(node, "vendor/model/deep.sock"))
            await node.until_said(f"+ {GPU} plugins_registry/vendor/model/deep.sock")
            await node.passed()
            assert len(watcher.totals()) == 2

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("info", "error"),
    [
        (
            announcing(versions=("v1alpha1", "v2")),
            (
                "plugin validation failed with err: manager version, v1beta1, is not among plugin "
                "supported versions [v1alpha1 v2]"
            ),
        ),
        (
            announcing("gpu"),
            (
                "plugin validation failed with err: invalid name of device plugin socket: "
                'the ResourceName "gpu" is invalid'
            ),
        ),
        (
            announcing("csi.example.com", kind="CSIPlugin"),
            "no handler registered for plugin type: CSIPlugin at socket {path}",
        ),
    ],
    ids=["version", "name", "type"],
)
def test_a_plugin_that_cannot_be_registered_is_told_why_and_asked_again(
    info: messages.PluginInfo, error: str
) -> None:
    """S1.30, S1.34, S1.35."""

    async def scenario() -> None:
        async with kubelet() as node, node.watching() as watcher, plugin(node, info=info) as one:
            await node.until(lambda: len(one.notified) >= 2)
            text = REFUSED + error.format(path=one.path)
            assert set(one.notified) == {(False, text)}
            assert node.refused[0] == (info.name, text)
            assert node.said == []
            assert [state for _, state in watcher.totals()] == ["desired_state_of_world"]

    asyncio.run(scenario())


@pytest.mark.parametrize("retried", [True, False])
def test_a_registration_that_fails_is_tried_again_from_1_36_on(*, retried: bool) -> None:
    """S1.34, S1.35, PR 133335, issue 127457."""

    async def scenario() -> None:
        async with kubelet() as node, node.watching(retried=retried) as watcher:
            node.failure = "failed to dial device plugin: context deadline exceeded"
            async with plugin(node) as gpu:
                await node.until(lambda: gpu.notified != [])
                node.failure = ""
                error = (
                    f"{REFUSED}plugin registration failed with err: failed to dial device plugin: "
                    "context deadline exceeded"
                )
                if retried:
                    await node.until(lambda: len(gpu.notified) >= 2)
                    assert gpu.notified == [(False, error), (True, "")]
                else:
                    await node.passed()
                    assert gpu.notified == [(False, error)]
                assert len(watcher.totals()) == 2

    asyncio.run(scenario())


def test_the_end_of_an_old_socket_disconnects_whoever_has_the_resource_now() -> None:
    """S1.36; TestPluginRegistrationSameName: entries are kept by socket, not by name."""

    async def scenario() -> None:
        async with (
            kubelet() as node,
            node.watching() as watcher,
            plugin(node, "a.sock") as old,
            plugin(node, "b.sock") as new,
        ):
            await node.until(lambda: old.notified != [] and new.notified != [])
            assert len(watcher.totals()) == 4
            await old.stop()
            await node.until_count(3)
            assert node.said[-1] == f"- {GPU}"
            assert {path for path, _ in watcher.totals()} == {str(new.path)}

    asyncio.run(scenario())


def test_a_socket_made_anew_is_unregistered_and_registered() -> None:
    """TestPluginReRegistration, Test_Run_Positive_ReRegister."""

    async def scenario() -> None:
        async with kubelet() as node, node.watching() as watcher, plugin(node) as gpu:
            await node.until_count(1)
            for count in (3, 5):
                await node.passed(2)
                await gpu.stop()
                await gpu.serve()
                await node.until_count(count)
            await node.passed(2)
            registered = f"+ {GPU} plugins_registry/gpu.sock"
            assert node.said == [registered, f"- {GPU}", registered, f"- {GPU}", registered]
            assert len(watcher.totals()) == 2

    asyncio.run(scenario())


def test_a_socket_that_is_made_readable_for_others_is_still_the_same() -> None:
    async def scenario() -> None:
        async with kubelet() as node, node.watching(), plugin(node) as gpu:
            await node.until(lambda: gpu.notified != [])
            gpu.path.chmod(0o666)
            await node.passed()
            assert len(node.said) == 1

    asyncio.run(scenario())


def test_a_plugin_that_hangs_or_is_dead_does_not_hold_the_others_up() -> None:
    """S1.32, S1.33: one operation for a socket at a time; TestOperationExecutor_..."""

    async def scenario() -> None:
        async with kubelet() as node:
            node.directory.mkdir()
            with socket.socket(socket.AF_UNIX) as dead:
                dead.bind(os.fspath(node.directory / "dead.sock"))
            async with plugin(node, "a.sock") as hanging, node.watching(info_timeout=SOON):
                hanging.hangs = True
                async with plugin(node, "z.sock") as living:
                    await node.until(lambda: living.notified != [])
                    assert node.said == [f"+ {GPU} plugins_registry/z.sock"]
                    hanging.hangs = False
                    await node.until(lambda: hanging.notified != [])
                    assert hanging.notified == [(True, "")]

    asyncio.run(scenario())


def test_a_plugin_that_takes_no_notification_stays_registered() -> None:
    """S1.33: it was recorded before, and its handler has taken it."""

    async def scenario() -> None:
        async with (
            kubelet() as node,
            node.watching(notify_timeout=SOON) as watcher,
            plugin(node) as gpu,
        ):
            gpu.deaf = True
            await node.until_count(1)
            await node.passed(40)
            assert len(node.said) == 1
            assert node.refused == []
            assert len(watcher.totals()) == 2

    asyncio.run(scenario())


def test_the_registry_may_be_emptied_and_filled_again_with_its_directories() -> None:
    """S1.31; nothing is left of a directory that was removed."""

    async def scenario() -> None:
        async with kubelet() as node, node.watching() as watcher:
            for count in (1, 3):
                async with plugin(node, "vendor/gpu.sock"):
                    await node.until_count(count)
                (node.directory / "vendor").rmdir()
                await node.until_count(count + 1)
            assert watcher.totals() == []

    asyncio.run(scenario())


def test_names_that_are_no_text_and_too_many_sockets_do_no_harm() -> None:
    """A socket in the registry may be anybody's."""

    async def scenario() -> None:
        async with kubelet() as node:
            node.directory.mkdir()
            bound = []
            for name in (b"\xff.sock", *(b"%04d" % number for number in range(1_001))):
                bound.append(socket.socket(socket.AF_UNIX))
                bound[-1].bind(os.fsencode(node.directory) + b"/" + name)
                bound[-1].close()
            tree = look(node.directory)
            assert len(tree.sockets) == 1_000
            assert all(path.endswith(tuple("0123456789")) for path in tree.sockets)

    asyncio.run(scenario())


def test_names_and_numbers_on_the_wire_are_those_of_the_api() -> None:
    """S1.29: written out by hand, by a plugin that knows nothing of our table."""
    said: list[bytes] = []

    async def scenario() -> None:
        async with kubelet() as node, node.watching():

            async def get_info(request: bytes, context: object) -> bytes:
                del context
                said.append(request)
                return b"\x0a\x0cDevicePlugin\x12\x0fexample.com/gpu\x1a\x02/e\x22\x07v1beta1"

            async def notify(request: bytes, context: object) -> bytes:
                del context
                said.append(request)
                node.stirred.set()
                return b""

            server = grpc.aio.server()
            handlers: dict[str, grpc.RpcMethodHandler[bytes, bytes]] = {
                "GetInfo": grpc.unary_unary_rpc_method_handler(get_info),
                "NotifyRegistrationStatus": grpc.unary_unary_rpc_method_handler(notify),
            }
            service = "pluginregistration.Registration"
            server.add_generic_rpc_handlers(
                (grpc.method_handlers_generic_handler(service, handlers),)
            )
            server.add_insecure_port(f"unix:{node.directory}/raw.sock")
            await server.start()
            await node.until(lambda: len(said) == 2)
            await server.stop(None)
            assert node.said[0] == f"+ {GPU} /e"

    asyncio.run(scenario())
    assert said == [b"", b"\x08\x01"]


def test_a_plugin_is_asked_once_at_a_time() -> None:
    """S1.32: however many passes go by while it is silent."""

    async def scenario() -> None:
        async with kubelet() as node, node.watching(), plugin(node) as gpu:
            gpu.hangs = True
            await node.until(lambda: gpu.asked == 1)
            await node.passed(3)
            assert gpu.asked_at_once == 1

    asyncio.run(scenario())
