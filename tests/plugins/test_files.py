"""The files plugin: paths and patterns as devices, their health, and what containers get."""

from __future__ import annotations

from pathlib import Path

import grpc
import pytest

from plugins.conduct import Pace
from plugins.files.patterns import FilePattern, device_id_of
from plugins.files.plugin import FilesPlugin
from plugins.kinds import PluginGroup, Setting, build_plugin
from simulator.core.allocate_response import AllocateResponse, DeviceSpec, Mount
from simulator.core.devices import DeviceId
from simulator.core.instants import MILLISECOND, Duration
from simulator.errors import ConfigError, PluginCallError
from tests.plugins.kubelet import in_loop, kubelet

QUICK = Pace(look=Duration(5 * MILLISECOND), first_retry=Duration(10 * MILLISECOND))


def files(where: Path, *devices: str, **options: str) -> PluginGroup:
    setting = Setting(plugin_dir=where, registry_dir=where, pace=QUICK)
    pairs = [*(("device", each) for each in devices), *options.items()]
    return build_plugin("files", pairs, setting)


def plugin_of(*patterns: str, permissions: str = "rw", shares: int = 1) -> FilesPlugin:
    found = [FilePattern(pattern, "example.com/file") for pattern in patterns]
    return FilesPlugin(
        "example.com/file",
        found,
        permissions=permissions,
        shares=shares,
        poll=Duration(MILLISECOND),
    )


def health(plugin: FilesPlugin) -> dict[str, str]:
    return {device.id: device.health for device in plugin.devices()}


def test_a_path_is_unhealthy_while_nothing_is_there(tmp_path: Path) -> None:
    tty = tmp_path / "ttyUSB0"
    plugin = plugin_of(str(tty))
    (id_,) = health(plugin)
    seen = [health(plugin)[id_]]
    for act in (tty.touch, tty.unlink):
        act()
        assert plugin.look()
        seen.append(health(plugin)[id_])

    assert seen == ["Unhealthy", "Healthy", "Unhealthy"]
    assert not plugin.look()


def test_what_a_pattern_has_found_stays_a_device(tmp_path: Path) -> None:
    plugin = plugin_of(str(tmp_path / "tty*"))
    nothing = health(plugin)
    (tmp_path / "tty1").touch()
    (tmp_path / "tty0").touch()
    plugin.look()
    (tmp_path / "tty0").unlink()
    plugin.look()

    assert nothing == {}
    assert sorted(health(plugin).values()) == ["Healthy", "Unhealthy"]


def test_a_dangling_link_is_nothing(tmp_path: Path) -> None:
    (tmp_path / "tty0").symlink_to(tmp_path / "gone")

    assert health(plugin_of(str(tmp_path / "tty*"))) == {}


def test_a_path_that_cannot_be_looked_at_is_nothing() -> None:
    impossible = ["/" + "x" * 300, "/a\0b"]

    assert list(health(plugin_of(*impossible)).values()) == ["Unhealthy", "Unhealthy"]


def test_ids_are_names_below_dev_and_paths_elsewhere() -> None:
    deep = "/" + "d" * 100 + "/ttyUSB0"

    assert device_id_of("/dev/ttyUSB0") == "ttyUSB0"
    assert device_id_of("/dev/nvidia0/vgpu3") == "nvidia0/vgpu3"
    assert device_id_of("/srv/key") == "/srv/key"
    assert len(device_id_of(deep)) <= 56
    assert device_id_of(deep).endswith("/ttyUSB0")
    assert device_id_of(deep) != device_id_of("/e" + deep[2:])


def test_shares_of_a_file_are_devices_of_their_own() -> None:
    assert health(plugin_of("/dev/null", shares=2)) == {"null::0": "Healthy", "null::1": "Healthy"}


@in_loop
async def test_a_container_gets_device_nodes_and_mounts_once_each(tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.touch()
    plugin = plugin_of("/dev/null", str(key), permissions="r", shares=2)
    everything = tuple(DeviceId(each) for each in health(plugin))

    assert await plugin.allocate(everything) == AllocateResponse(
        devices=(DeviceSpec("/dev/null", "/dev/null", "r"),),
        mounts=(Mount(str(key), str(key), read_only=True),),
    )


@in_loop
async def test_what_is_not_there_is_not_allocated(tmp_path: Path) -> None:
    plugin = plugin_of(str(tmp_path / "gone"))
    (id_,) = health(plugin)
    with pytest.raises(PluginCallError, match="gone: No such file"):
        await plugin.allocate((DeviceId(id_),))
    with pytest.raises(PluginCallError, match="there is no device ttyUSB7"):
        await plugin.allocate((DeviceId("ttyUSB7"),))


@in_loop
async def test_files_come_and_go_before_the_kubelets_eyes(tmp_path: Path) -> None:
    serial = tmp_path / "ttyUSB0"
    serial.touch()
    device = f"{tmp_path}/ttyUSB*=example.com/serial"
    async with kubelet() as node, files(node.directory, device, poll="5ms", permissions="rw"):
        plugin = await node.plugin()
        (id_,) = plugin.devices()
        answer = await plugin.allocate(id_)
        serial.unlink()
        await node.until(lambda: len(plugin.lists) == 2)

        assert plugin.request.endpoint == "files-example.com_serial.sock"
        assert answer.mounts == (Mount(str(serial), str(serial)),)
        assert plugin.devices() == {id_: ("Unhealthy", None)}
        with pytest.raises(grpc.aio.AioRpcError, match="No such file"):
            await plugin.allocate(id_)


@in_loop
async def test_patterns_of_one_resource_are_one_plugin() -> None:
    two = ("/dev/null=example.com/a", "/dev/zero=example.com/b", "/dev/full=example.com/a")
    async with kubelet() as node, files(node.directory, *two):
        first = await node.plugin_of("example.com/a")
        second = await node.plugin_of("example.com/b")

        assert set(first.devices()) == {"null", "full"}
        assert set(second.devices()) == {"zero"}


@pytest.mark.parametrize(
    ("device", "message"),
    [
        ("/dev/null", "--device: '/dev/null' is not PATH=RESOURCE"),
        ("=example.com/a", "--device: '=example.com/a' is not PATH=RESOURCE"),
        ("dev/null=example.com/a", "--device: the path 'dev/null' is not absolute"),
        ("/dev/null=serial", "--device: 'serial' is not an extended resource name"),
    ],
)
def test_devices_that_are_not_usable_are_refused(device: str, message: str) -> None:
    with pytest.raises(ConfigError) as refused:
        files(Path("x"), device)

    assert str(refused.value).startswith(message)


@pytest.mark.parametrize("text", ["", "x", "rr"])
def test_permissions_are_made_of_r_w_and_m(text: str) -> None:
    with pytest.raises(ConfigError, match=r"--permissions: '.*' is not made of r, w and m"):
        files(Path("x"), "/dev/null=example.com/a", permissions=text)


def test_a_plugin_without_files_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"name one with --device PATH=RESOURCE"):
        files(Path("x"))
