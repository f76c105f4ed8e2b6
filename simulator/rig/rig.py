"""Live nodes on a thread of their own, from `Rig` to `close`."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from errno import EPERM
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Final, Protocol, Self, TypeVar

from simulator.core.instants import SECOND, Duration
from simulator.core.transitions import NodeName
from simulator.engine.actions import Action
from simulator.engine.spec import SimulationSpec
from simulator.errors import ConfigError
from simulator.live.settings import LiveSettings
from simulator.live.world import LiveWorld
from simulator.namespaces import why_refused
from simulator.rig.kubelet import Kubelet
from simulator.rig.loop_thread import LoopThread
from simulator.rig.outcomes import NotInTimeError
from simulator.rig.processes import PluginProcess
from simulator.rig.tap import Tap

T = TypeVar("T")

__tracebackhide__ = True  # pytest shows the line of the test instead of what is below it

_ROOT_MAX: Final = 40
"""Longest temporary folder that leaves plugins room for the names of their sockets, in bytes."""
_SHORT_ROOT: Final = "/tmp"  # noqa: S108 - a new folder in it, when the usual one is too long
_START_S: Final = 60.0
_STEP_S: Final = 60.0
"""Time, beyond what it takes by itself, for something that is done to a node."""
_LOOK_S: Final = 0.02
"""Between two looks at what the node does not tell by itself, such as files."""


class Opener(Protocol):
    """Opens live nodes, whose kubelets have not started (`simulator.assembly`)."""

    def __call__(
        self, spec: SimulationSpec, settings: LiveSettings, taps: Mapping[NodeName, Tap]
    ) -> AbstractAsyncContextManager[LiveWorld]:
        """Open them, on the running loop."""
        ...


class Rig:
    """Live nodes.

    Args:
        spec: What they start from.
        opener: Opens them.
        thread: Where they live; its owner closes it.
        settings: Makes the settings out of the root folder; None for the usual ones.
        begun: Whether the kubelets start with the `with`; else `start` does that.

    Attributes:
        root: The folder of the nodes, which is removed at the end.
        version: Of the kubelets.
        kubelets: By node, in the order of the spec.
    """

    def __init__(
        self,
        spec: SimulationSpec,
        opener: Opener,
        thread: LoopThread,
        settings: Callable[[Path], LiveSettings] | None = None,
        *,
        begun: bool = True,
    ) -> None:
        self.root = _new_root()
        self.version = spec.kubelet_version
        self._thread = thread
        self._names = count(1)
        self._processes: list[tuple[NodeName, PluginProcess]] = []
        self._settings = LiveSettings(root=self.root) if settings is None else settings(self.root)
        taps = {node.name: Tap() for node in spec.nodes}
        self.kubelets = {name: Kubelet(self, name, tap) for name, tap in taps.items()}
        self._opened = opener(spec, self._settings, taps)
        self._world: LiveWorld | None = None
        self._begun = begun

    def __enter__(self) -> Self:
        """Start the kubelets, unless they are to be started later."""
        if self._begun:
            self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End everything."""
        self.close()

    def start(self) -> None:
        """Start the kubelets and wait until they listen.

        Raises:
            NotInTimeError: They do not.
        """

        async def open_it() -> LiveWorld:
            world = await self._opened.__aenter__()
            world.begin()
            return world

        world = self._world = self.run(open_it())
        if not self.wait(_all_serve, _START_S):
            failed = [message for _, message in self.look(lambda _: world.start_failures())]
            reason = f"the kubelet does not listen within {_START_S:g}s: {', '.join(failed)}"
            raise NotInTimeError(reason)

    def close(self) -> None:
        """End plugins and nodes, and remove their folder; a second time does nothing."""
        for _, process in self._processes:
            process.close()
        self._processes.clear()
        if self._world is not None:
            self._world = None
            self.run(self._close_world())
        shutil.rmtree(self.root, ignore_errors=True)

    # For kubelets

    def run(self, coroutine: Coroutine[object, object, T], timeout_s: float = _STEP_S) -> T:
        """Run a coroutine on the nodes' loop."""
        return self._thread.run(coroutine, timeout_s)

    def look(self, at: Callable[[LiveWorld], T]) -> T:
        """Look at the nodes, between two events."""
        world = self._living()
        return self._thread.call(lambda: at(world))

    def act(self, action: Callable[[LiveWorld], T]) -> T:
        """Do something to the nodes, as one event."""
        world = self._living()
        results: list[T] = []
        failures: list[Exception] = []

        def act() -> None:
            try:
                results.append(action(world))
            except Exception as error:  # noqa: BLE001 - handed to the caller, in its thread
                failures.append(error)

        self._thread.call(lambda: world.enter(act))
        self.wait(lambda _: bool(results or failures), _STEP_S)
        if failures:
            raise failures[0]
        return results[0]

    def wait(self, condition: Callable[[LiveWorld], bool], timeout_s: float) -> bool:
        """Wait until something is true of the nodes or around them; tell whether it came true."""
        world = self._living()

        async def wait() -> bool:
            loop_time = asyncio.get_running_loop().time
            end = loop_time() + timeout_s
            while not condition(world):
                rest = end - loop_time()
                if rest <= 0:
                    return False
                pause = Duration(int(min(rest, _LOOK_S) * SECOND))
                await world.until(lambda: condition(world), pause)
            return True

        return self.run(wait(), timeout_s + _STEP_S)

    def perform(self, action: Action, meanwhile: Callable[[], None] | None = None) -> None:
        """Perform an action and wait until it is complete.

        Raises:
            NotInTimeError: It does not complete.
        """
        name = self.plan(action)
        if meanwhile is not None:
            meanwhile()
        downtime = getattr(action, "downtime", 0) / SECOND
        within = downtime + _STEP_S
        if not self.wait(lambda world: world.completed_at(name) is not None, within):
            reason = f"{action} was not complete within {within:g}s"
            raise NotInTimeError(reason)

    def plan(self, action: Action) -> str:
        """Perform an action that may complete later; returns its name."""
        name = f"step-{next(self._names)}"
        self.act(lambda world: world.perform(action, name))
        return name

    def advance(self, span: Duration) -> None:
        """Let time pass at once, with everything that is due in it."""
        world = self._living()

        async def advance() -> None:
            world.put_forward(span)
            await world.sleep(Duration(0))

        self.run(advance())

    def start_process(
        self,
        kubelet: Kubelet,
        command: Sequence[str],
        *,
        in_namespace: bool,
        environment: Mapping[str, str],
    ) -> PluginProcess:
        """Start a plugin beside a kubelet."""
        if in_namespace and (refusal := why_refused()):
            raise OSError(EPERM, refusal)
        process = PluginProcess(
            command, kubelet.directory, private=in_namespace, environment=environment
        )
        self._processes.append((kubelet.name, process))
        return process

    def processes_of(self, kubelet: Kubelet) -> list[PluginProcess]:
        """Return the plugins that were started beside a kubelet, those that have exited too."""
        return [process for name, process in self._processes if name == kubelet.name]

    def _living(self) -> LiveWorld:
        if self._world is None:
            reason = "this node has ended: use it inside its `with`, or within the test"
            raise ConfigError(reason)
        return self._world

    async def _close_world(self) -> None:
        await self._opened.__aexit__(None, None, None)


def _all_serve(world: LiveWorld) -> bool:
    return all(node.serves for node in world.nodes.values())


def _new_root() -> Path:
    """Return a new folder with a short path, since sockets are in it (107 bytes at most)."""
    root = tempfile.mkdtemp(prefix="rb")
    if len(root) <= _ROOT_MAX:
        return Path(root)
    Path(root).rmdir()
    return Path(tempfile.mkdtemp(prefix="rb", dir=_SHORT_ROOT))
