"""The options of `nvml` plugins, as text."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from plugins.kinds import PluginGroup, Setting, build_plugin
from simulator.errors import ConfigError
from tests.plugins.nvml.stub import Stub, gpu, mig


def build(stub: Stub, *pairs: tuple[str, str]) -> PluginGroup:
    stub.has_file("/dev/nvidiactl")
    setting = Setting(plugin_dir=Path("p"), registry_dir=Path("r"))
    return build_plugin("nvml", [("host-root", str(stub.host_root)), *pairs], setting)


def listed(group: PluginGroup) -> dict[str, tuple[str, ...]]:
    devices: dict[str, tuple[str, ...]] = {
        server.model.resource: tuple(device.id for device in server.model.devices())
        for server in group.servers
    }
    asyncio.run(group.stop())
    return devices


@pytest.fixture
def small(stub: Stub) -> Stub:
    """A machine of two GPUs, the second one with MIG devices."""
    stub.says("count 2")
    return stub


def test_by_default_whole_gpus_are_offered(small: Stub) -> None:
    assert listed(build(small)) == {"nvidia.com/gpu": (gpu(0), gpu(1))}


def test_each_resource_has_a_socket_of_its_own(small: Stub) -> None:
    group = build(small, ("mig-strategy", "mixed"))
    asyncio.run(group.stop())

    assert len({server.place.socket_name for server in group.servers}) == 3


def test_options_choose_what_is_offered(small: Stub) -> None:
    group = build(
        small,
        ("mig-strategy", "mixed"), ("replicas", "2"), ("rename-shared", "true"),
        ("resource-domain", "example.com"),
        ("resource-name", "example.com/gpu.shared"),
        ("resource-name", "example.com/mig-3g.20gb.shared"),
    )  # fmt: skip

    assert listed(group) == {
        "example.com/gpu.shared": (f"{gpu(0)}::0", f"{gpu(0)}::1"),
        "example.com/mig-3g.20gb.shared": (f"{mig(1, 2)}::0", f"{mig(1, 2)}::1"),
    }


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("mig-strategy", "both", "--mig-strategy: 'both' is not one of none, single, mixed"),
        ("replicas", "0", "--replicas: '0' is not a whole number from 1 to 10000"),
        ("device-list", "envvar,cdi", "--device-list: 'cdi' is not one of envvar, device-specs, "),
        ("ignore-xids", "13,x", "--ignore-xids: 'x' is not a whole number from 0 to 9999"),
        ("cdi-kind", "gpu", "--cdi-kind: 'gpu' is no CDI kind; it has the form vendor/class, such"),
        ("host-root", "nowhere", "--host-root: there is no folder nowhere"),
        ("resource-domain", "a b", "'a b/gpu' is no extended resource name; choose another domain"),
        ("resource-name", "x/y", "asked for x/y, but this machine's GPUs make nvidia.com/gpu"),
        ("rename-shared", "true", "asked for resources called `….shared` without replicas"),
    ],
)
def test_unusable_options_say_what_they_want(small: Stub, name: str, text: str, said: str) -> None:
    pairs = [("host-root", str(small.host_root))] if name != "host-root" else []
    small.has_file("/dev/nvidiactl")
    setting = Setting(plugin_dir=Path("p"), registry_dir=Path("r"))

    with pytest.raises(ConfigError) as refused:
        build_plugin("nvml", [*pairs, (name, text)], setting)

    assert str(refused.value).startswith(said)
