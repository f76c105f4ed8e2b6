"""Live nodes that are measured: real sockets, a plugin in a process of its own, a real database.

What is timed is what the device manager does for a pod: Allocate over gRPC, then the commit. The
delays that stand for an API server and a container runtime are left out.
"""

from __future__ import annotations

import asyncio
import subprocess
import tempfile
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

from typing_extensions import override

from benchmarks import workload
from benchmarks.plugin_process import Order
from simulator.core.instants import SECOND, Duration
from simulator.core.refusals import Admission
from simulator.core.resources import ResourceName
from simulator.core.transitions import NodeName, Transition
from simulator.engine.api_objects import ApiPod, PodStatus
from simulator.engine.kubelet import Kubelet
from simulator.engine.local_pods import LocalPod, Stage
from simulator.engine.spec import NodeSpec, PodSpec, SimulationSpec
from simulator.live.settings import LiveSettings
from simulator.live.world import LiveWorld
from simulator.ports import Outcome
from store.committer import COMMIT_BATCH
from store.sql_store import SqlStore

WITHIN: Final = Duration(60 * SECOND)
"""How long a condition may take to come true, on whatever machine."""

T = TypeVar("T")


class TimedStore(SqlStore):
    """A store that notes how long it writes.

    Attributes:
        writing_ns: Time spent in `apply`.
        commits: Number of calls.
    """

    writing_ns = 0
    commits = 0

    @override
    def apply(self, transitions: Sequence[Transition]) -> list[Outcome]:
        """Write a batch."""
        started = time.perf_counter_ns()
        try:
            return super().apply(transitions)
        finally:
            self.writing_ns += time.perf_counter_ns() - started
            self.commits += 1


class LiveNodes:
    """Some live nodes with a database of their own.

    Args:
        loop: Drives them.
        root: Their folder; short, since it holds sockets.
        nodes: How many.
        commit_batch: Most commits that are made one.
        persistence: Where their state goes.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        root: Path,
        *,
        nodes: int,
        commit_batch: int = COMMIT_BATCH,
        persistence: str = "database",
    ) -> None:
        self.loop = loop
        self.store = TimedStore(f"sqlite:///{root / 'rebind.db'}")
        self.names = [NodeName(f"n{number}") for number in range(nodes)]
        self._commit_batch = commit_batch
        self._spec = SimulationSpec(
            nodes=tuple(NodeSpec(name) for name in self.names), persistence=persistence
        )
        self._root = root
        self._pods = 0
        self._bound: list[tuple[Kubelet, LocalPod]] = []
        self.world = self.turn(self._begin())

    def turn(self, work: Coroutine[Any, Any, T]) -> T:
        """Let the loop turn until some work is done."""
        return self.loop.run_until_complete(work)

    def until(self, condition: Callable[[], bool]) -> None:
        """Let the loop turn until something is true.

        Raises:
            TimeoutError: It does not become true.
        """
        if not self.turn(self.world.until(condition, WITHIN)):
            raise TimeoutError

    def folder(self, node: NodeName) -> Path:
        """Return the plugin directory of a node."""
        return self.world.settings.folder(node).device_plugins

    def kubelet(self, node: NodeName) -> Kubelet:
        """Return the kubelet of a node.

        Raises:
            LookupError: None runs.
        """
        kubelet = self.world.nodes[node].kubelet
        if kubelet is None:
            message = f"no kubelet runs on {node}"
            raise LookupError(message)
        return kubelet

    def listed(self, resource: ResourceName, devices: int) -> bool:
        """Tell whether every node has this many devices of a resource."""
        allocatable = [self.kubelet(name).manager.capacity().allocatable for name in self.names]
        return all(each.get(resource) == devices for each in allocatable)

    async def admit(self, node: NodeName) -> None:
        """Admit a pod that wants one device.

        Raises:
            RuntimeError: It is refused.
        """
        kubelet = self.kubelet(node)
        self._pods += 1
        pod = workload.pod(self._pods)
        local = LocalPod(ApiPod(PodSpec(pod.name, pod), pod, node), PodStatus())
        decided: asyncio.Future[Admission] = self.loop.create_future()

        def begin() -> None:
            kubelet.pods.add(local)
            kubelet.pods.move(local, Stage.DECIDING)
            kubelet.driver.run(kubelet.manager.admit(pod), decided.set_result)

        self.world.enter(begin)
        admission = await decided
        if not admission.admitted:
            raise RuntimeError(admission.message)
        kubelet.pods.move(local, Stage.ADMITTED)
        self._bound.append((kubelet, local))

    async def admit_everywhere(self, pods: int) -> None:
        """Admit pods on all nodes, on each one after the other."""

        async def on(node: NodeName) -> None:
            for _ in range(pods):
                await self.admit(node)

        await asyncio.gather(*(on(name) for name in self.names))

    def release(self) -> None:
        """Take the pods away again and free their devices, durably."""

        async def released(kubelet: Kubelet) -> None:
            done: asyncio.Future[object] = self.loop.create_future()
            release = kubelet.manager.release_inactive()
            self.world.enter(lambda: kubelet.driver.run_store(release, done.set_result))
            await done

        async def everywhere() -> None:
            for kubelet, local in self._bound:
                kubelet.pods.drop(local)
            self._bound.clear()
            await asyncio.gather(*(released(self.kubelet(name)) for name in self.names))

        self.turn(everywhere())

    def close(self) -> None:
        """End the nodes."""
        self.turn(self.world.close())
        self.store.close()

    async def _begin(self) -> LiveWorld:
        settings = LiveSettings(root=self._root, commit_batch=self._commit_batch)
        world = LiveWorld(self._spec, settings, self.store)
        world.begin()
        if not await world.until(lambda: all(n.settled for n in world.nodes.values()), WITHIN):
            raise TimeoutError
        return world


@contextmanager
def plugins(order: Order) -> Iterator[None]:
    """Run a process with plugins."""
    with subprocess.Popen(order.command()) as process:  # noqa: S603 - our own module
        try:
            yield
        finally:
            process.kill()


@contextmanager
def loop_of_its_own() -> Iterator[asyncio.AbstractEventLoop]:
    """Give a loop that turns only when it is told to."""
    loop = asyncio.new_event_loop()
    try:
        yield loop
    finally:
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()


@contextmanager
def live_nodes(
    loop: asyncio.AbstractEventLoop,
    *,
    nodes: int,
    devices: int,
    commit_batch: int = COMMIT_BATCH,
) -> Iterator[LiveNodes]:
    """Run live nodes, each with a plugin of so many devices."""
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="rb"))
        made = LiveNodes(loop, Path(folder), nodes=nodes, commit_batch=commit_batch)
        stack.callback(made.close)
        if devices:
            folders = tuple(str(made.folder(name)) for name in made.names)
            stack.enter_context(plugins(Order(folders, workload.RESOURCE, devices)))
            made.until(lambda: made.listed(workload.RESOURCE, devices))
        yield made
