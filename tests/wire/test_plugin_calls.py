"""Allocate, GetPreferredAllocation and PreStartContainer over a real socket."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from simulator.core.calls import (
    AllocateReply,
    CallFailed,
    PreferredAllocationCall,
    PreferredAllocationReply,
    PreStartContainerReply,
)
from simulator.core.instants import SECOND, Duration
from simulator.protocol import rebind_deviceplugin_pb2 as device_plugin
from simulator.wire.connections import ConnectionSettings
from simulator.wire.plugin_client import PluginClient
from tests.wire.plugin import Plugin
from tests.wire.stories import CONTAINER, GPU, POD, PRE_START, SETTINGS, allocate, ids, run, until


def test_allocate_has_one_container_and_the_answer_of_the_first_counts(folder: Path) -> None:
    """S1.24."""
    first = device_plugin.ContainerAllocateResponse(
        envs={"VISIBLE": "g0"},
        devices=[device_plugin.DeviceSpec(container_path="/dev/g0", host_path="/dev/g0")],
    )

    async def story(plugin: Plugin, client: PluginClient) -> None:
        plugin.allocated = device_plugin.AllocateResponse(
            container_responses=[first, device_plugin.ContainerAllocateResponse(envs={"B": "c"})]
        )
        reply = await client.call(allocate("g1", "g0"))
        assert reply == AllocateReply(first.SerializeToString())
        assert plugin.calls == [
            device_plugin.AllocateRequest(
                container_requests=[
                    device_plugin.ContainerAllocateRequest(devices_ids=["g1", "g0"])
                ]
            )
        ]

    run(folder, story)


def test_fields_that_no_kubelet_knows_survive_in_the_answer(folder: Path) -> None:
    """S4.2: the checkpoint keeps the bytes of the answer."""
    inner = b"\x0a\x06\x0a\x01A\x12\x01b" + b"\xa2\x06\x03new"

    async def story(plugin: Plugin, client: PluginClient) -> None:
        plugin.allocated = b"\x0a" + bytes([len(inner)]) + inner
        assert await client.call(allocate("g0")) == AllocateReply(inner)

    run(folder, story)


def test_an_answer_without_containers_is_told_as_such(folder: Path) -> None:
    """S3.13."""

    async def story(plugin: Plugin, client: PluginClient) -> None:
        del plugin
        assert await client.call(allocate("g0")) == AllocateReply(None)

    run(folder, story)


@pytest.mark.parametrize(
    ("content", "lenient", "cause"),
    [
        (b"\x0a\x05\x0a", True, "unexpected EOF"),
        (b"\x0a\x04\x2a\x02\x0a\xff", True, "unexpected EOF"),
        (b"\x0a\x06\x0a\x04\x0a\x02\xff\xfe", True, "string field contains invalid UTF-8"),
    ],
)
def test_bytes_that_are_no_answer_fail_the_call(
    folder: Path, content: bytes, cause: str, *, lenient: bool
) -> None:
    async def story(plugin: Plugin, client: PluginClient) -> None:
        plugin.allocated = content
        assert await client.call(allocate("g0")) == CallFailed(
            "rpc error: code = Internal desc = grpc: failed to unmarshal the received message: "
            f"proto: {cause}"
        )

    run(folder, story, replace(SETTINGS, lenient=lenient))


def test_older_kubelets_take_answers_that_are_not_utf_8(folder: Path) -> None:
    """1.32.10/DIFFERENCES, "AllocResp bytes"."""
    inner = b"\x0a\x04\x0a\x02\xff\xfe"

    async def story(plugin: Plugin, client: PluginClient) -> None:
        plugin.allocated = b"\x0a\x06" + inner
        assert await client.call(allocate("g0")) == AllocateReply(inner)

    run(folder, story, replace(SETTINGS, lenient=False))


def test_a_failed_allocate_is_a_reply_with_the_text_as_go_has_it(folder: Path) -> None:
    """S3.12."""

    async def story(plugin: Plugin, client: PluginClient) -> None:
        plugin.error = "out of memory"
        reply = await client.call(allocate("g0"))
        assert reply == CallFailed("rpc error: code = Unknown desc = out of memory")

    run(folder, story)


def test_an_answer_larger_than_may_be_received_fails_the_call(folder: Path) -> None:
    """S1.21."""

    async def story(plugin: Plugin, client: PluginClient) -> None:
        response = device_plugin.ContainerAllocateResponse(envs={"A": "b" * 200})
        plugin.allocated = device_plugin.AllocateResponse(container_responses=[response])
        size = plugin.allocated.ByteSize()
        assert await client.call(allocate("g0")) == CallFailed(
            "rpc error: code = ResourceExhausted desc = "
            f"grpc: received message larger than max ({size} vs. 100)"
        )

    run(folder, story, replace(SETTINGS, connection=ConnectionSettings(receive_bytes_max=100)))


PREFERENCE: Final = PreferredAllocationCall(
    GPU, ids("g0", "g1", "g2"), ids("g1"), 2, POD, CONTAINER
)


@pytest.mark.parametrize(
    ("containers", "preferred"), [([], ()), ([[]], ()), ([["g2", "g1"], ["g0"]], ("g2", "g1"))]
)
def test_a_preference_is_that_of_the_first_container(
    folder: Path, containers: Sequence[Sequence[str]], preferred: Sequence[str]
) -> None:
    """S1.25."""

    async def story(plugin: Plugin, client: PluginClient) -> None:
        plugin.preferred = device_plugin.PreferredAllocationResponse(
            container_responses=[
                device_plugin.ContainerPreferredAllocationResponse(deviceIDs=each)
                for each in containers
            ]
        )
        assert await client.call(PREFERENCE) == PreferredAllocationReply(ids(*preferred))
        assert plugin.calls == [
            device_plugin.PreferredAllocationRequest(
                container_requests=[
                    device_plugin.ContainerPreferredAllocationRequest(
                        available_deviceIDs=["g0", "g1", "g2"],
                        must_include_deviceIDs=["g1"],
                        allocation_size=2,
                    )
                ]
            )
        ]

    run(folder, story)


def test_get_preferred_allocation(folder: Path) -> None:
    """Upstream TestGetPreferredAllocation (endpoint_test.go): passed through, whatever is asked."""

    async def story(plugin: Plugin, client: PluginClient) -> None:
        container = device_plugin.ContainerPreferredAllocationResponse(
            deviceIDs=["device0", "device1", "device2"]
        )
        plugin.preferred = device_plugin.PreferredAllocationResponse(
            container_responses=[container]
        )
        asked = PreferredAllocationCall(GPU, (), (), -1, POD, CONTAINER)
        assert await client.call(asked) == PreferredAllocationReply(
            ids("device0", "device1", "device2")
        )
        (request,) = plugin.calls
        assert isinstance(request, device_plugin.PreferredAllocationRequest)
        assert request.container_requests[0].allocation_size == -1

    run(folder, story)


def test_allocate(folder: Path) -> None:
    """Upstream TestAllocate (endpoint_test.go): the answer is what the plugin sent."""
    sent = device_plugin.ContainerAllocateResponse(
        devices=[
            device_plugin.DeviceSpec(container_path=name, host_path=name, permissions="mrw")
            for name in ("/dev/aaa", "/dev/bbb")
        ],
        mounts=[
            device_plugin.Mount(
                container_path="/container_dir1/file1", host_path="host_dir1/file1", read_only=True
            )
        ],
    )

    async def story(plugin: Plugin, client: PluginClient) -> None:
        plugin.allocated = device_plugin.AllocateResponse(container_responses=[sent])
        reply = await client.call(allocate("ADeviceId"))
        assert isinstance(reply, AllocateReply)
        assert device_plugin.ContainerAllocateResponse.FromString(reply.response or b"") == sent

    run(folder, story)


def test_pre_start_has_the_ids(folder: Path) -> None:
    """S1.26; upstream TestDevicePreStartContainer."""

    async def story(plugin: Plugin, client: PluginClient) -> None:
        assert await client.call(PRE_START) == PreStartContainerReply()
        assert plugin.calls == [device_plugin.PreStartContainerRequest(devices_ids=["g0", "g1"])]

    run(folder, story)


def test_pre_start_fails_at_its_deadline(folder: Path) -> None:
    """S1.5, S1.26."""

    async def story(plugin: Plugin, client: PluginClient) -> None:
        plugin.hangs = True
        assert await client.call(PRE_START) == CallFailed(
            "rpc error: code = DeadlineExceeded desc = context deadline exceeded"
        )
        await until(lambda: plugin.abandoned == 1)

    assert SETTINGS.pre_start_timeout == 30 * SECOND
    run(folder, story, replace(SETTINGS, pre_start_timeout=Duration(SECOND)))
