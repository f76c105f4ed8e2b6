"""What clusters that are measured have in common, whatever their time is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final, TypeVar

from benchmarks.measuring.carried import Shown, WatchedApi
from benchmarks.measuring.clocks import Driver, RealTime
from benchmarks.measuring.cluster import NAMESPACE, cluster, devices_of, plugin_name
from benchmarks.measuring.costs import Instruments
from benchmarks.measuring.following import ApiRole, Follower, Risk
from benchmarks.measuring.lives import Lives
from benchmarks.measuring.phases import Target
from benchmarks.measuring.plugins_here import PartsHere, PluginLatencies
from benchmarks.measuring.readers import reads_sockets
from benchmarks.measuring.room import Room
from benchmarks.profiles.combinations import Combination, Keeper
from benchmarks.profiles.profile import Profile
from benchmarks.results.rows import TimeSource
from simulator.api.client.endpoint import ApiEndpoint
from simulator.core.instants import MILLISECOND, MINUTE, Duration
from simulator.core.persistence.choosing import option_of
from simulator.core.pods import PodUid
from simulator.engine.lossy_api import LossyApi
from simulator.engine.ports import Adapters, ApiTransport
from simulator.engine.streams import RandomStreams
from simulator.engine.timeline import Timeline
from simulator.engine.world import Watching
from simulator.errors import ServerError

T = TypeVar("T")

SHORTEST_GRACE: Final = Duration(MILLISECOND)
"""With a server, containers take so long to end, and their pods' grace period is a second."""
READY_WITHIN: Final = Duration(5 * MINUTE)
"""How long nodes may take to begin, with very many existing pods on a busy machine."""
WATCHING: Final = Watching(invariants=False, records_max=1_000, deleted_pods_max=1_000)


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be made.

    Attributes:
        seed: Of the run.
        folder: Where files are made; None for the usual place of temporary files.
        postgresql: URL of a server's database; None where there is none.
        cluster: The API server of a cluster that is there already, for the persistences with an
            API; None for one of Rebind's own that is made for each combination.
        kubeconfig: The file that names it, for processes of their own; None for none.
        namespace: Of the pods.
    """

    profile: Profile
    combination: Combination
    seed: int
    folder: Path | None = None
    postgresql: str | None = None
    cluster: ApiEndpoint | None = None
    kubeconfig: Path | None = None
    namespace: str = NAMESPACE


class Making:
    """What both kinds of target share."""

    def __init__(self, request: Request, uids: Mapping[str, PodUid] = MappingProxyType({})) -> None:
        self.request = request
        self.spec = cluster(
            request.profile,
            request.combination,
            seed=request.seed,
            uids=uids,
            namespace=request.namespace,
        )
        in_api = request.combination.has_api_server
        is_real = request.combination.clock is TimeSource.REAL
        self.is_read = is_real and reads_sockets(request.profile.reads, has_api=in_api)
        self.calls: Counter[str] = Counter()
        self.lossy: LossyApi | None = None
        self._shown: list[Follower] = []
        plugins = {plugin.name: plugin for plugin in request.profile.plugins}
        latencies = PluginLatencies(plugins, request.seed)
        kinds = {
            plugin_name(plugin, node.name): plugin.name
            for plugin in request.profile.plugins
            for node in self.spec.nodes
        }
        self._latency = lambda spec: latencies.of(kinds[spec.name], spec.name)

    def around(self, inner: Adapters, timeline: Timeline) -> Adapters:
        """Put plugins in this process, and a watched way to the API, around a driver's parts."""
        return PartsHere(
            inner,
            timeline,
            self._latency,
            self.carried,
            is_read=self.is_read,
        )

    def carried(self, inner: ApiTransport) -> ApiTransport:
        """Watch the way to the API server, beyond the place where replies get lost."""
        watched = WatchedApi(inner, self.calls, self._show)
        if all(phase.lost_replies is None for phase in self.request.profile.phases):
            return watched
        self.lossy = LossyApi(watched, RandomStreams(self.request.seed))
        return self.lossy

    def target(self, driver: Driver, risk: Risk, instruments: Instruments) -> Target:
        """Put the load's side together."""
        profile = self.request.profile
        world = driver.world
        follower = Follower(driver.now_ns, risk, api_role(self.request.combination))
        self._shown.append(follower)
        chance = RandomStreams(self.request.seed).stream("placement")
        room = Room(
            list(world.nodes), devices_of(profile), lambda node: world.nodes[node].serves, chance
        )
        is_served = self.request.combination.has_api_server and isinstance(driver, RealTime)
        grace_min = SHORTEST_GRACE if is_served else Duration(0)
        lives = Lives(
            driver,
            profile,
            room,
            follower,
            grace_min=grace_min,
            namespace=self.request.namespace,
        )
        world.watch_records(follower.take)
        world.watch_records(lives.take)
        instruments.calls = self.calls
        instruments.lost = self._lost
        return Target(driver, lives, follower, instruments, self.lossy)

    def _lost(self) -> int | None:
        return None if self.lossy is None else self.lossy.lost

    def _show(self, shown: Shown) -> None:
        for follower in self._shown:
            follower.shown(shown)


def api_role(combination: Combination) -> ApiRole:
    """Return what the API is for the devices of a combination's pods."""
    if Keeper.API not in combination.keepers:
        return ApiRole.NONE
    if Keeper.FILE in combination.keepers:
        return ApiRole.COPY
    waits = option_of(dict(combination.persistence_options), "synchronous")
    return ApiRole.KEEPER if waits else ApiRole.LATE_KEEPER


def each_once(things: Sequence[T], is_ready: Callable[[T], bool]) -> Callable[[], bool]:
    """Return whether each of many things has been ready once; it is asked after every event."""
    left = list(reversed(things))

    def are_ready() -> bool:
        while left and is_ready(left[-1]):
            left.pop()
        return not left

    return are_ready


async def begin(driver: Driver) -> None:
    """Wait until the nodes and their plugins are ready.

    Raises:
        ServerError: They are not in time.
    """
    world = driver.world
    nodes, plugins = list(world.nodes.values()), list(world.plugins.values())
    if await driver.until(each_once(nodes, lambda node: node.settled), READY_WITHIN):
        for plugin in plugins:
            driver.enter(plugin.start)
        if await driver.until(each_once(plugins, lambda plugin: plugin.listed), READY_WITHIN):
            return
    reason = f"the {len(nodes)} nodes of the benchmark were not ready in time; try fewer of them"
    raise ServerError(reason)
