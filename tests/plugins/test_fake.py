"""The fake plugin: what it lists, answers and prefers."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from pathlib import Path

import pytest

from plugins.conduct import Pace
from plugins.fake.inventory import DeviceLayout, IdStyle, NumaLayout
from plugins.fake.plugin import FakePlugin, FakeSettings, Flaps
from plugins.fake.preferences import Preference, preferred_devices
from plugins.kinds import PluginGroup, Setting, build_plugin, pairs_of
from simulator.core.allocate_response import container_responses
from simulator.core.calls import (
    AllocateCall,
    AllocateReply,
    PreferredAllocationCall,
    PreferredAllocationReply,
)
from simulator.core.devices import Device, DeviceId, NumaNode
from simulator.core.instants import MILLISECOND, SECOND, Duration
from simulator.core.pods import ContainerName, PodUid
from simulator.core.resources import ResourceName
from simulator.core.transitions import NodeName
from simulator.engine.plugin_answers import answer_of
from simulator.engine.spec import PluginSpec
from simulator.errors import ConfigError, ServerError
from tests.plugins.kubelet import in_loop, kubelet

GPU = "example.com/gpu"
QUICK = Pace(look=Duration(5 * MILLISECOND), first_retry=Duration(10 * MILLISECOND))


def fake(where: Path, *pairs: tuple[str, str]) -> PluginGroup:
    setting = Setting(plugin_dir=where, registry_dir=where, pace=QUICK)
    return build_plugin("fake", pairs, setting)


def ids(*texts: str) -> tuple[DeviceId, ...]:
    return tuple(DeviceId(text) for text in texts)


def listed(layout: DeviceLayout) -> list[tuple[str, tuple[int, ...] | None]]:
    return [(device.id, device.topology) for device in layout.devices(GPU)]


# Devices


def test_ids_are_the_resources_name_and_a_number() -> None:
    assert listed(DeviceLayout(count=2)) == [("gpu-0", None), ("gpu-1", None)]


def test_shared_devices_are_called_as_nvidias_plugin_calls_them() -> None:
    layout = DeviceLayout(count=1, id_style=IdStyle.UUID, replicas=2)
    first, second = (device.id for device in layout.devices(GPU))

    assert first.startswith("GPU-")
    assert len(first) == len("GPU-1f0a7c3e-52b4-4d19-9e6a-0c8d3b7a51e0::0")  # F03
    assert (first[-3:], second[-3:]) == ("::0", "::1")
    assert first[:-3] == second[:-3]


def test_uuids_are_the_same_each_time_and_others_for_another_seed_resource_or_device() -> None:
    layout = DeviceLayout(count=2, id_style=IdStyle.UUID)
    again = DeviceLayout(count=2, id_style=IdStyle.UUID)
    other = DeviceLayout(count=2, id_style=IdStyle.UUID, seed=1)
    all_ids = [
        device.id
        for devices in (layout.devices(GPU), other.devices(GPU), layout.devices("example.com/nic"))
        for device in devices
    ]

    assert layout.devices(GPU) == again.devices(GPU)
    assert len(set(all_ids)) == 6


@pytest.mark.parametrize(
    ("numa_layout", "expected"),
    [
        (NumaLayout.SPREAD, [(0,), (1,), (0,), (1,)]),
        (NumaLayout.BLOCKS, [(0,), (0,), (1,), (1,)]),
        (NumaLayout.ALL, [(0, 1)] * 4),
        (NumaLayout.EMPTY, [()] * 4),
    ],
)
def test_devices_are_laid_out_on_numa_nodes(
    numa_layout: NumaLayout, expected: list[tuple[int, ...]]
) -> None:
    layout = DeviceLayout(count=4, numa_nodes=2, numa_layout=numa_layout)

    assert [device.topology for device in layout.devices(GPU)] == expected


# Preferences: eight shares of four GPUs, on two NUMA nodes

SHARES = {
    device.id: device
    for device in DeviceLayout(
        count=4, replicas=2, numa_nodes=2, numa_layout=NumaLayout.BLOCKS
    ).devices(GPU)
}
ALL = tuple(SHARES)


@pytest.mark.parametrize(
    ("preference", "available", "chosen", "size", "expected"),
    [
        (Preference.NONE, ALL, (), 2, ()),
        (Preference.FIRST, ids("gpu-3::1", "gpu-0::0"), (), 1, ids("gpu-3::1")),
        (Preference.PACKED, ALL, (), 2, ids("gpu-0::0", "gpu-0::1")),
        # One share is left of gpu-1: it suffices, and keeps the others whole.
        (Preference.PACKED, ids("gpu-0::0", "gpu-0::1", "gpu-1::1"), (), 1, ids("gpu-1::1")),
        (Preference.PACKED, ALL, ids("gpu-2::1"), 2, ids("gpu-2::1", "gpu-2::0")),
        (Preference.SPREAD, ALL, (), 3, ids("gpu-0::0", "gpu-1::0", "gpu-2::0")),  # R85
        (Preference.SPREAD, ALL, ids("gpu-0::0"), 2, ids("gpu-0::0", "gpu-1::0")),
        (Preference.SPREAD, ids("gpu-0::0", "gpu-0::1", "gpu-1::1"), (), 1, ids("gpu-0::0")),
        (Preference.NUMA, ALL, ids("gpu-3::0"), 2, ids("gpu-3::0", "gpu-2::0")),
        (
            Preference.NUMA,
            ids("gpu-0::0", "gpu-2::0", "gpu-2::1"),
            (),
            2,
            ids("gpu-2::0", "gpu-2::1"),
        ),
        (Preference.SPREAD, ids("gpu-0::0"), (), 2, ids("gpu-0::0")),
        (Preference.PACKED, ids("gpu-0::0"), (), 2, ids("gpu-0::0")),
    ],
)
def test_preferences(
    preference: Preference,
    available: tuple[DeviceId, ...],
    chosen: tuple[DeviceId, ...],
    size: int,
    expected: tuple[DeviceId, ...],
) -> None:
    assert preferred_devices(preference, SHARES, available, chosen, size) == expected


def test_the_tenth_device_comes_after_the_second() -> None:
    ten = {device.id: device for device in DeviceLayout(count=11).devices(GPU)}

    assert preferred_devices(Preference.SPREAD, ten, tuple(ten), (), 3) == ids(
        "gpu-0", "gpu-1", "gpu-2"
    )


def test_preferences_among_many_devices_are_found_in_no_time() -> None:
    """Time that grows with the square would be minutes here."""
    many = {device.id: device for device in DeviceLayout(count=10_000).devices(GPU)}
    for preference in (Preference.SPREAD, Preference.PACKED):
        assert preferred_devices(preference, many, tuple(many), (), 10_000) == tuple(many)


# On a socket


@in_loop
async def test_an_answer_has_the_same_bytes_as_the_simulated_plugins() -> None:
    call = AllocateCall(ResourceName(GPU), ids("gpu-1", "gpu-0"), PodUid("u"), ContainerName("c"))
    spec = PluginSpec("gpu", NodeName("n0"), ResourceName(GPU), ())
    simulated = answer_of(spec, call)
    async with kubelet() as node, fake(node.directory):
        plugin = await node.plugin()
        answer = await plugin.allocate_bytes("gpu-1", "gpu-0")

    assert isinstance(simulated, AllocateReply)
    assert container_responses(answer) == (simulated.response,)


@in_loop
async def test_a_preference_is_the_simulated_plugins() -> None:
    offered = ids("gpu-1", "gpu-2", "gpu-3")
    call = PreferredAllocationCall(
        ResourceName(GPU), offered, ids("gpu-2"), 2, PodUid("u"), ContainerName("c")
    )
    spec = PluginSpec("gpu", NodeName("n0"), ResourceName(GPU), ())
    simulated = answer_of(spec, call)
    async with kubelet() as node, fake(node.directory, ("preferred", "first")):
        plugin = await node.plugin()
        preferred = await plugin.prefer(list(offered), 2, ("gpu-2",))

    assert simulated == PreferredAllocationReply(ids(*preferred))


@in_loop
async def test_several_resources_have_a_socket_each() -> None:
    pairs = (("resource-name", "example.com/gpu"), ("resource-name", "example.org/nic"))
    async with kubelet() as node, fake(node.directory, *pairs, ("count", "1")):
        first = await node.plugin_of("example.com/gpu")
        second = await node.plugin_of("example.org/nic")

        assert first.request.endpoint == "fake-example.com_gpu.sock"
        assert second.request.endpoint == "fake-example.org_nic.sock"
        assert second.devices() == {"nic-0": ("Healthy", None)}


@in_loop
async def test_options_reach_the_kubelet() -> None:
    pairs = (
        ("count", "2"),
        ("unhealthy", "gpu-1"),
        ("pre-start", "true"),
        ("preferred", "packed"),
        ("socket-name", "own.sock"),
        ("allocate-latency", "1ms"),
        ("pre-start-latency", "1ms"),
    )
    async with kubelet() as node, fake(node.directory, *pairs):
        plugin = await node.plugin()
        await plugin.allocate_bytes("gpu-0")

        assert plugin.request.endpoint == "own.sock"
        assert plugin.options.pre_start_required
        assert plugin.options.get_preferred_allocation_available
        assert plugin.devices() == {"gpu-0": ("Healthy", None), "gpu-1": ("Unhealthy", None)}


@in_loop
async def test_a_hanging_plugin_answers_what_has_come_in_when_it_recovers() -> None:
    async with kubelet() as node, fake(node.directory) as group:
        plugin = await node.plugin()
        model = group.servers[0].model
        assert isinstance(model, FakePlugin)
        model.hang()
        answer = asyncio.create_task(plugin.allocate_bytes("gpu-0"))
        await group.servers[0].until(lambda it: it.calls["Allocate"] == 1)

        assert not answer.done()
        model.recover()
        assert await answer


@in_loop
async def test_a_change_of_health_is_sent() -> None:
    async with kubelet() as node, fake(node.directory, ("count", "2")) as group:
        plugin = await node.plugin()
        model = group.servers[0].model
        assert isinstance(model, FakePlugin)
        model.set_health("gpu-1", "Unhealthy")
        await node.until(lambda: len(plugin.lists) == 2)

        assert plugin.devices()["gpu-1"] == ("Unhealthy", None)
        with pytest.raises(KeyError):
            model.set_health("gpu-2", "Unhealthy")


async def illnesses(seed: int) -> list[tuple[str, ...]]:
    """Return who is ill, after each change of twenty."""
    seen: list[tuple[str, ...]] = []
    enough = asyncio.Event()
    plugin = FakePlugin(
        GPU,
        DeviceLayout(count=4).devices(GPU),
        FakeSettings(flaps=Flaps(period=SECOND, illness=SECOND, seed=seed)),
    )

    async def sleep(_: Duration) -> None:
        seen.append(tuple(each.id for each in plugin.devices() if not each.is_healthy))
        if len(seen) == 20:
            enough.set()
        await asyncio.sleep(0)

    plugin.sleep = sleep
    flapping = asyncio.create_task(plugin.run())
    await enough.wait()
    flapping.cancel()
    return seen


@in_loop
async def test_devices_fall_ill_one_at_a_time_and_recover_as_the_seed_says() -> None:
    first, again, other = await illnesses(1), await illnesses(1), await illnesses(2)

    assert first == again != other
    assert [len(ill) for ill in first] == [0, 1] * 10
    assert any(one != two for one, two in pairwise(first[1::2]))


@in_loop
async def test_a_plugin_without_healthy_devices_has_none_that_could_fall_ill() -> None:
    slept: list[Duration] = []
    enough = asyncio.Event()

    async def sleep(span: Duration) -> None:
        slept.append(span)
        if len(slept) == 3:
            enough.set()
        await asyncio.sleep(0)

    flaps = FakeSettings(flaps=Flaps(period=SECOND, illness=Duration(5)))
    plugin = FakePlugin(
        GPU, [Device(DeviceId("d"), "Unhealthy", (NumaNode(0),))], flaps, sleep=sleep
    )
    flapping = asyncio.create_task(plugin.run())
    await enough.wait()
    flapping.cancel()

    assert set(slept) == {SECOND}


# Options


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([("cuont", "1")], "fake plugins have no option 'cuont'; did you mean count?"),
        ([("xyz", "1")], "fake plugins have no option 'xyz'; it has "),
        ([("count", "1"), ("count", "2")], "--count is given twice; a fake plugin takes it once"),
        ([("count", "-1")], "--count: '-1' is not a whole number from 0 to 1000000"),
        ([("count", "٣")], "--count: '٣' is not a whole number"),
        (
            [("count", "1000000"), ("replicas", "2")],
            "--count 1000000 with --replicas 2 are 2000000",
        ),
        ([("id-style", "hex")], "--id-style: 'hex' is not one of index, uuid"),
        ([("answer", "envs,env")], "--answer: 'env' is not one of envs, devices,"),
        ([("pre-start", "yes")], "--pre-start: 'yes' is neither true nor false"),
        ([("flap-period", "0s")], "--flap-period: it must be longer than 0s"),
        ([("allocate-latency", "3")], "--allocate-latency: '3' is not a duration"),
        ([("allocate-latency", "-3s")], "--allocate-latency: '-3s' is negative"),
        ([("resource-name", "")], "--resource-name: the text is empty"),
        ([("unhealthy", "gpu-8")], "--unhealthy: example.com/gpu has no device 'gpu-8'"),
        ([("count", "0"), ("unhealthy", "gpu-8")], "there are none"),
        ([("socket-name", "../p.sock")], "--socket-name: '../p.sock' is not a plain file name"),
        ([("socket-name", "kubelet.sock")], "--socket-name: kubelet.sock is the kubelet's own"),
        ([("socket-name", ".p.sock")], "--socket-name: '.p.sock' is not a plain file name"),
    ],
)
def test_options_that_are_not_usable_are_refused_by_name(
    pairs: list[tuple[str, str]], message: str
) -> None:
    with pytest.raises(ConfigError) as refused:
        fake(Path("x"), *pairs)

    assert message in str(refused.value)


def test_words_of_a_command_line_become_options() -> None:
    words = ["--count", "4", "--pre-start", "--numa-nodes=2", "--unhealthy", "gpu-1"]

    assert pairs_of("fake", words) == [
        ("count", "4"), ("pre-start", "true"), ("numa-nodes", "2"), ("unhealthy", "gpu-1"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["4"], "fake plugins take options such as --resource-name, not '4'"),
        (["--", "4"], "fake plugins take options such as --resource-name, not '--'"),
        (["--count"], "--count has no value"),
    ],
)
def test_words_that_are_no_options_are_refused(words: list[str], message: str) -> None:
    with pytest.raises(ConfigError) as refused:
        pairs_of("fake", words)

    assert str(refused.value) == message


def test_an_unknown_kind_is_refused_with_those_there_are() -> None:
    setting = Setting(plugin_dir=Path("x"), registry_dir=Path("x"))
    with pytest.raises(ConfigError, match=r"no kind of plugin 'fkae'; did you mean fake\?"):
        build_plugin("fkae", (), setting)
    with pytest.raises(ConfigError, match="no kind of plugin 'x'; there are fake, "):
        build_plugin("x", (), setting)


def test_socket_names_are_short_and_differ() -> None:
    long = "a" * 60
    pairs = [("resource-name", f"{long}.example.com/gpu")] * 2
    first, second = fake(Path("x"), *pairs).servers
    own = fake(Path("x"), ("socket-name", "p.sock"), *[("resource-name", GPU)] * 3).servers

    assert len(first.place.socket_name) <= 50
    assert first.place.socket_name != second.place.socket_name
    assert [server.place.socket_name for server in own] == ["p.sock", "p-2.sock", "p-3.sock"]


@in_loop
async def test_a_plugin_that_cannot_start_whole_leaves_nothing_behind() -> None:
    two = [("resource-name", GPU), ("resource-name", "example.com/nic")]
    async with kubelet() as node, fake(node.directory, *two[1:]):
        await node.plugin()
        with pytest.raises(ServerError, match="is served by another plugin"):
            await fake(node.directory, *two).start()

        assert not (node.directory / "fake-example.com_gpu.sock").exists()
