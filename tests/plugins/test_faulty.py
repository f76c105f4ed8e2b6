"""Every fault as a kubelet sees it, over real sockets."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest

from plugins.conduct import Pace
from plugins.faulty.modes import MODES
from plugins.kinds import PluginGroup, Setting, build_plugin
from simulator.core.instants import MILLISECOND, SECOND, Duration
from simulator.errors import ConfigError, MalformedReplyError
from simulator.protocol import rebind_deviceplugin_pb2 as device_plugin
from simulator.protocol import services
from tests.plugins.kubelet import Registered, RegistrationServer, in_loop, kubelet

QUICK = Pace(
    look=Duration(5 * MILLISECOND),
    first_retry=Duration(10 * MILLISECOND),
    last_retry=Duration(20 * MILLISECOND),
)
FAULTY = "example.com/faulty"
GOOD = {f"faulty-{number}": ("Healthy", None) for number in range(4)}


class Clock:
    """Time that passes when a test lets it."""

    def __init__(self) -> None:
        self._now = 0
        self._ends: list[int] = []
        self._changed = asyncio.Condition()
        self._flies = False

    async def sleep(self, span: Duration) -> None:
        end = self._now + span
        async with self._changed:
            self._ends.append(end)
            self._changed.notify_all()
            await self._changed.wait_for(lambda: self._now >= end or self._flies)

    async def pass_(self, span: int, *, sleepers: int = 1) -> None:
        """Let time pass once so many are asleep."""
        async with self._changed:
            await self._changed.wait_for(
                lambda: sum(end > self._now for end in self._ends) >= sleepers
            )
            self._now += span
            self._changed.notify_all()

    async def fly(self) -> None:
        """Let all sleep end at once from now on."""
        async with self._changed:
            self._flies = True
            self._changed.notify_all()


class Stage:
    """A kubelet and a faulty plugin."""

    def __init__(self, node: RegistrationServer, group: PluginGroup, clock: Clock) -> None:
        self.node = node
        self.group = group
        self.clock = clock
        self.server = group.servers[0]

    @property
    def sockets(self) -> list[str]:
        return sorted(path.name for path in self.node.directory.iterdir() if path.is_socket())

    async def refusal(self) -> str:
        """Wait for a registration that is refused."""
        await self.server.until(lambda it: it.refusal != "")
        return self.server.refusal


@asynccontextmanager
async def staged(mode: str, **options: str) -> AsyncIterator[Stage]:
    clock = Clock()
    async with kubelet() as node:
        setting = Setting(
            plugin_dir=node.directory,
            registry_dir=node.directory,
            pace=QUICK,
            sleep=clock.sleep,
        )
        async with build_plugin("faulty", [("mode", mode), *options.items()], setting) as group:
            yield Stage(node, group, clock)
            await clock.fly()


async def code_of(call: Awaitable[object]) -> str:
    """Return the status with which a call fails."""
    with pytest.raises(grpc.aio.AioRpcError) as failed:
        await call
    return str(failed.value.code().name)


async def hangs(call: Awaitable[object], stage: Stage, name: str) -> bool:
    """Tell whether a call has arrived and is not answered."""
    asked = asyncio.ensure_future(call)
    await stage.server.until(lambda it: it.calls[name] > 0)
    done, _ = await asyncio.wait([asked], timeout=0.02)
    asked.cancel()
    await asyncio.gather(asked, return_exceptions=True)
    return not done


async def pre_start(plugin: Registered) -> None:
    request = device_plugin.PreStartContainerRequest(devices_ids=["faulty-0"])
    await plugin.call(services.PRE_START_CONTAINER, request)


# Registration


async def late() -> None:
    async with staged("late", after="90s") as stage:
        await stage.clock.pass_(90 * SECOND - 1)
        early = stage.sockets
        await stage.clock.pass_(1)
        await stage.node.plugin()

        assert early == ["kubelet.sock"]


async def needs_kubelet() -> None:
    async with staged("needs-kubelet") as stage:
        await stage.node.plugin()
    async with kubelet() as node:
        await node.stop()
        (node.directory / "kubelet.sock").unlink(missing_ok=True)
        setting = Setting(plugin_dir=node.directory, registry_dir=node.directory, pace=QUICK)
        async with build_plugin("faulty", [("mode", "needs-kubelet")], setting) as group:
            (life,) = [
                task for task in asyncio.all_tasks() if task.get_name() == f"plugin of {FAULTY}"
            ]
            await life
            await node.start()

            assert group.servers[0].registrations == 0


async def no_socket() -> None:
    async with staged("no-socket") as stage:
        assert "failed to get device plugin options" in await stage.refusal()
        assert stage.sockets == ["kubelet.sock"]


async def wrong_version() -> None:
    async with staged("wrong-version") as stage:
        assert (await stage.node.plugin()).request.version == "v1alpha"


async def bad_name() -> None:
    async with staged("bad-name") as stage:
        assert (await stage.node.plugin()).request.resource_name == "faulty"


async def two_resources() -> None:
    async with staged("two-resources") as stage:
        first = await stage.node.plugin_of(FAULTY)
        second = await stage.node.plugin_of(f"{FAULTY}-too")

        assert first.request.endpoint == second.request.endpoint
        await stage.node.hang_up(second)
        await stage.node.until(lambda: len(stage.node.requests) == 4)  # One of two is missed.


async def two_instances() -> None:
    async with staged("two-instances", after="1s") as stage:
        old = await stage.node.plugin(0)
        await stage.clock.pass_(SECOND, sleepers=2)
        new = await stage.node.plugin(1)
        both = stage.sockets
        await stage.clock.pass_(SECOND)
        await stage.node.until(lambda: old.ended)

        assert old.request.resource_name == new.request.resource_name
        assert both == [
            "faulty-example.com_faulty-2.sock",
            "faulty-example.com_faulty.sock",
            "kubelet.sock",
        ]
        assert stage.sockets == ["faulty-example.com_faulty-2.sock", "kubelet.sock"]
        assert new.ended is None


async def hanging_options() -> None:
    async with staged("hanging-options") as stage:
        await stage.server.until(lambda it: it.calls["GetDevicePluginOptions"] > 0)

        assert stage.server.registrations == 0
        assert not stage.server.refusal


async def failing_options() -> None:
    async with staged("failing-options") as stage:
        assert await stage.refusal() == (
            "rpc error: code = Unknown desc = failed to get device plugin options: not now"
        )


# Lists and streams


async def silent() -> None:
    async with staged("silent") as stage:
        await stage.server.until(lambda it: it.registrations > 0 and it.streams > 0)

        assert stage.node.registered[0].lists == []
        assert stage.node.registered[0].ended is None


async def list_fails() -> None:
    async with staged("list-fails") as stage:
        await stage.node.until(lambda: stage.node.registered and stage.node.registered[0].ended)

        assert stage.node.registered[0].ended == "UNKNOWN: no driver"
        assert stage.node.registered[0].lists == []


async def empty_list() -> None:
    async with staged("empty-list") as stage:
        assert (await stage.node.plugin()).devices() == {}


async def never_healthy() -> None:
    async with staged("never-healthy") as stage:
        assert {health for health, _ in (await stage.node.plugin()).devices().values()} == {
            "Unhealthy"
        }


async def oversize_list() -> None:
    async with staged("oversize-list") as stage:
        await stage.node.until(lambda: stage.node.registered and stage.node.registered[0].ended)
        ended = stage.node.registered[0].ended or ""
        sizes = [int(number) for number in re.findall(r"\d{7}", ended)]

        assert ended.startswith("RESOURCE_EXHAUSTED")
        assert sizes == [4_680_000, 4_194_304]  # 60,000 devices of 78 bytes (R62).


async def duplicate_ids() -> None:
    async with staged("duplicate-ids") as stage:
        (listed,) = (await stage.node.plugin()).lists

        assert [(device.ID, device.health) for device in listed.devices] == [
            *[(id_, "Healthy") for id_ in GOOD],
            ("faulty-0", "Unhealthy"),
        ]


async def empty_id() -> None:
    async with staged("empty-id") as stage:
        assert "" in (await stage.node.plugin()).devices()


async def long_id() -> None:
    async with staged("long-id") as stage:
        assert max(len(id_) for id_ in (await stage.node.plugin()).devices()) == 64


async def odd_health() -> None:
    async with staged("odd-health") as stage:
        assert {health for health, _ in (await stage.node.plugin()).devices().values()} == {
            "healthy"
        }


async def flooding() -> None:
    async with staged("flooding") as stage:
        plugin = await stage.node.plugin()
        await stage.node.until(lambda: len(plugin.lists) >= 20)

        assert {each.devices[0].health for each in plugin.lists} == {"Healthy", "Unhealthy"}


async def stream_ends() -> None:
    async with staged("stream-ends") as stage:
        plugin = await stage.node.plugin()
        await stage.clock.pass_(SECOND)
        await stage.node.until(lambda: plugin.ended)

        assert plugin.ended == "EOF"
        assert plugin.devices() == GOOD
        assert stage.server.registrations == 1


async def ignores_stream_end() -> None:
    async with staged("ignores-stream-end") as stage:
        await stage.node.hang_up(await stage.node.plugin())
        await stage.server.until(lambda it: it.streams == 0)
        await stage.node.restart()
        await stage.node.plugin(1)

        assert len(stage.node.requests) == 2


async def server_stops() -> None:
    async with staged("server-stops") as stage:
        plugin = await stage.node.plugin()
        await stage.node.hang_up(plugin)
        await stage.server.until(lambda it: not it.is_serving)
        endpoint = plugin.request.endpoint
        refused = Registered(plugin.request, plugin.options, stage.node.dial(endpoint))
        code = await code_of(refused.allocate("faulty-0"))
        await refused.channel.close()
        left = stage.sockets
        await stage.node.restart()
        await stage.node.plugin(1)

        assert code == "UNAVAILABLE"
        assert left == [endpoint, "kubelet.sock"]


# Allocate


async def hanging_allocate() -> None:
    async with staged("hanging-allocate") as stage:
        plugin = await stage.node.plugin()

        assert await hangs(plugin.allocate("faulty-0"), stage, "Allocate")


async def slow_allocate() -> None:
    async with staged("slow-allocate", after="60s") as stage:
        plugin = await stage.node.plugin()
        answer = asyncio.create_task(plugin.allocate("faulty-0"))
        await stage.server.until(lambda it: it.calls["Allocate"] > 0)
        await stage.clock.pass_(60 * SECOND)

        assert (await answer).envs


async def failing_allocate() -> None:
    async with staged("failing-allocate") as stage:
        plugin = await stage.node.plugin()
        with pytest.raises(grpc.aio.AioRpcError, match="out of memory"):
            await plugin.allocate("faulty-0")


async def empty_allocate() -> None:
    async with staged("empty-allocate") as stage:
        assert await (await stage.node.plugin()).allocate_bytes("faulty-0") == b""


async def malformed_allocate() -> None:
    async with staged("malformed-allocate") as stage:
        plugin = await stage.node.plugin()
        with pytest.raises(MalformedReplyError):
            await plugin.allocate("faulty-0")


async def oversize_allocate() -> None:
    async with staged("oversize-allocate") as stage:
        plugin = await stage.node.plugin()

        assert await code_of(plugin.allocate("faulty-0")) == "RESOURCE_EXHAUSTED"


async def unusable_allocate() -> None:
    async with staged("unusable-allocate") as stage:
        answer = await (await stage.node.plugin()).allocate("faulty-0")

        assert "A=B" in answer.envs
        assert not answer.mounts[0].container_path.startswith("/")


async def dies_in_allocate() -> None:
    async with staged("dies-in-allocate") as stage:
        plugin = await stage.node.plugin()

        assert await code_of(plugin.allocate("faulty-0")) in ("UNAVAILABLE", "CANCELLED")
        assert plugin.request.endpoint in stage.sockets


async def vanishing_device() -> None:
    async with staged("vanishing-device") as stage:
        plugin = await stage.node.plugin()
        answer = asyncio.create_task(plugin.allocate("faulty-1"))
        await stage.node.until(lambda: len(plugin.lists) == 2)
        answered_before = answer.done()
        await stage.clock.pass_(SECOND)
        await answer

        assert not answered_before
        assert set(plugin.devices()) == {"faulty-0", "faulty-2", "faulty-3"}


async def lost_device() -> None:
    async with staged("lost-device") as stage:
        plugin = await stage.node.plugin()
        await plugin.allocate("faulty-0")
        with pytest.raises(grpc.aio.AioRpcError, match="faulty-3 is lost"):
            await plugin.allocate("faulty-3")


async def allocate_once() -> None:
    async with staged("allocate-once") as stage:
        plugin = await stage.node.plugin()
        await plugin.allocate("faulty-0")
        with pytest.raises(grpc.aio.AioRpcError, match="faulty-0 is in use"):
            await plugin.allocate("faulty-0", "faulty-1")
        await plugin.allocate("faulty-1")


# Other calls


async def hanging_preferred() -> None:
    async with staged("hanging-preferred") as stage:
        plugin = await stage.node.plugin()

        assert plugin.options.get_preferred_allocation_available
        assert await hangs(plugin.prefer(list(GOOD), 1), stage, "GetPreferredAllocation")


async def failing_preferred() -> None:
    async with staged("failing-preferred") as stage:
        plugin = await stage.node.plugin()
        with pytest.raises(grpc.aio.AioRpcError, match="no link"):
            await plugin.prefer(list(GOOD), 1)


async def stray_preferred() -> None:
    async with staged("stray-preferred") as stage:
        assert not set(await (await stage.node.plugin()).prefer(list(GOOD), 1)) & set(GOOD)


async def few_preferred() -> None:
    async with staged("few-preferred") as stage:
        assert await (await stage.node.plugin()).prefer(list(GOOD), 2) == ["faulty-0"]


async def oversize_preferred() -> None:
    async with staged("oversize-preferred") as stage:
        plugin = await stage.node.plugin()

        assert await code_of(plugin.prefer(list(GOOD), 1)) == "RESOURCE_EXHAUSTED"


async def hanging_pre_start() -> None:
    async with staged("hanging-pre-start") as stage:
        plugin = await stage.node.plugin()

        assert plugin.options.pre_start_required
        assert await hangs(pre_start(plugin), stage, "PreStartContainer")


async def failing_pre_start() -> None:
    async with staged("failing-pre-start") as stage:
        plugin = await stage.node.plugin()
        with pytest.raises(grpc.aio.AioRpcError, match="busy"):
            await pre_start(plugin)


# Kubelet restarts and the end


async def ignores_restart() -> None:
    async with staged("ignores-restart") as stage:
        await stage.node.plugin()
        (life,) = [task for task in asyncio.all_tasks() if task.get_name() == f"plugin of {FAULTY}"]
        await stage.node.restart()
        await life

        assert len(stage.node.requests) == 1
        assert stage.sockets == ["kubelet.sock"]


async def impatient() -> None:
    async with staged("impatient") as stage:
        await stage.node.plugin()
        await stage.node.restart()
        await stage.node.plugin(1)
        (life,) = [task for task in asyncio.all_tasks() if task.get_name() == f"plugin of {FAULTY}"]
        await stage.node.stop()
        (stage.node.directory / "kubelet.sock").unlink(missing_ok=True)
        await life
        await stage.node.start()

        assert len(stage.node.requests) == 2


async def leaves_socket() -> None:
    async with staged("leaves-socket") as stage:
        await stage.node.plugin()
        await stage.group.stop()

        assert stage.sockets == ["faulty-example.com_faulty.sock", "kubelet.sock"]


async def lingers() -> None:
    async with staged("lingers", after="60s") as stage:
        await stage.node.plugin()
        end = asyncio.create_task(stage.group.stop())
        await asyncio.wait([end], timeout=0.02)
        ended_before = end.done()
        await stage.clock.pass_(60 * SECOND)
        await end

        assert not ended_before
        assert stage.sockets == ["kubelet.sock"]


SEEN: dict[str, Callable[[], Coroutine[Any, Any, None]]] = {
    sight.__name__.replace("_", "-"): sight
    for sight in (
        late, needs_kubelet, no_socket, wrong_version, bad_name, two_resources, two_instances,
        hanging_options, failing_options, silent, list_fails, empty_list, never_healthy,
        oversize_list, duplicate_ids, empty_id, long_id, odd_health, flooding, stream_ends,
        ignores_stream_end, server_stops, hanging_allocate, slow_allocate, failing_allocate,
        empty_allocate, malformed_allocate, oversize_allocate, unusable_allocate, dies_in_allocate,
        vanishing_device, lost_device, allocate_once, hanging_preferred, failing_preferred,
        stray_preferred, few_preferred, oversize_preferred, hanging_pre_start, failing_pre_start,
        ignores_restart, impatient, leaves_socket, lingers,
    )
}  # fmt: skip


def test_every_mode_is_looked_at() -> None:
    assert set(SEEN) == set(MODES)


@pytest.mark.parametrize("mode", MODES)
def test_a_fault_is_what_its_row_says(mode: str) -> None:
    in_loop(SEEN[mode])()


ABOUT = ("register", "options", "list", "ids", "health", "start", "devices")
DONE_WELL = [
    name
    for name, mode in MODES.items()
    if name != "flooding" and not any(word in check for check in mode.fails for word in ABOUT)
]


@pytest.mark.parametrize("mode", DONE_WELL)
@in_loop
async def test_a_fault_elsewhere_leaves_registration_and_lists_alone(mode: str) -> None:
    async with staged(mode) as stage:
        assert (await stage.node.plugin()).devices() == GOOD


def test_each_mode_names_where_it_was_seen() -> None:
    for mode in MODES.values():
        assert mode.sources
        assert all(re.fullmatch(r"[RS]\d+(\.\d+)?", source) for source in mode.sources)


def test_a_mode_must_be_named() -> None:
    setting = Setting(plugin_dir=Path("x"), registry_dir=Path("x"))
    with pytest.raises(ConfigError, match="name one with --mode"):
        build_plugin("faulty", (), setting)
    with pytest.raises(ConfigError, match="--mode: 'x' is not one of late, "):
        build_plugin("faulty", [("mode", "x")], setting)
