"""A cluster of live nodes: the engine's world on the real clock."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from functools import partial
from typing import Final

from typing_extensions import override

from simulator.core.instants import SECOND, Duration, Instant
from simulator.core.records import KubeletStartFailed
from simulator.core.transitions import NodeName
from simulator.engine.actions import Action
from simulator.engine.faults import EffectLog, Fault
from simulator.engine.ports import Adapters
from simulator.engine.spec import SimulationSpec
from simulator.engine.world import Watching, World
from simulator.errors import ScenarioError
from simulator.live.metering import Metering
from simulator.live.parts import LiveParts
from simulator.live.playable import refusal_of
from simulator.live.settings import LiveSettings
from simulator.live.timeline import LiveTimeline
from simulator.ports import Store
from store.committer import Committer

_LOG = logging.getLogger(__name__)

UNWATCHED: Final = Watching(invariants=False, records_max=10_000, deleted_pods_max=1_000)
"""What is kept beside a world that runs for long; who watches or records it gets all records."""


class LiveWorld(World):
    """Nodes with real sockets, from `begin` to `close`; made on the loop that drives it.

    Args:
        spec: What it starts from; its choices hold for all nodes.
        settings: Where its files are, and how its sockets behave.
        store: The open database, if the persistence keeps its state there; the owner closes it.
        watching: What is kept beside the records.
        faults: What goes wrong at which effect.
        around: Puts something around the parts of the nodes, such as a recorder.
        committer: Who commits to the database, if others use it too.

    Attributes:
        settings: As given.
    """

    def __init__(  # noqa: PLR0913 - what a cluster starts from, and what is put around it
        self,
        spec: SimulationSpec,
        settings: LiveSettings,
        store: Store | None,
        watching: Watching = UNWATCHED,
        faults: Iterable[Fault] = (),
        *,
        around: Callable[[LiveParts], Adapters] = lambda parts: parts,
        committer: Committer | None = None,
    ) -> None:
        loop = asyncio.get_running_loop()
        timeline = LiveTimeline(
            loop, start=settings.start, speed=settings.speed, skips=settings.skips
        )
        self._waiting: list[tuple[Callable[[], bool], asyncio.Future[None]]] = []
        self._timeline = timeline
        self.settings = settings
        self._parts = LiveParts(spec, timeline, settings, store, committer)
        super().__init__(
            spec,
            timeline=timeline,
            adapters=around(self._parts),
            effects=EffectLog(faults),
            watching=watching,
        )
        self._parts.nodes = self.nodes
        self._parts.revisions = self.revisions
        self.watch_records(self._parts.metering.take)
        self.watch_decisions(self._parts.metering.decided)
        timeline.settled = self._settled
        timeline.failed = self._failed
        timeline.expects = self._parts.expects

    @property
    def parts(self) -> LiveParts:
        """What the nodes are made of."""
        return self._parts

    @property
    def metering(self) -> Metering:
        """What is measured, and what is healthy."""
        return self._parts.metering

    def begin(self, *, warm: bool = False) -> None:
        """Let the nodes begin; a kubelet that finds its state goes on as after a restart."""
        self.enter(lambda: self.start(warm=warm))

    @override
    def start(self, *, warm: bool) -> None:
        """Let the nodes begin, with their pods.

        All states are in place before the first kubelet runs: the loop waits for the database then,
        and nobody else may be waiting for it.
        """
        for node in self.nodes.values():
            self._place(node)
        for node in self.nodes.values():
            node.start_kubelet(warm=warm)

    @override
    def perform(self, action: Action, name: str) -> None:
        """Perform an action now; its completion is a `StepDone` record with this name.

        Raises:
            ScenarioError: The action names something that is not there, or only simulated nodes
                can be put through it.
            ConfigError: It names a kubelet version that is not known.
        """
        refusal = refusal_of(action)
        if refusal:
            raise ScenarioError(refusal)
        super().perform(action, name)

    def start_failures(self) -> list[tuple[NodeName, str]]:
        """Return the nodes whose kubelets could not start, and why, in order."""
        return [
            (each.node, each.record.message)
            for each in self.records
            if isinstance(each.record, KubeletStartFailed)
        ]

    def enter(self, action: Callable[[], None]) -> None:
        """Let something from outside happen now, in its turn; its error is the caller's.

        When its turn comes only later, because an event is happening now, an error of it is told
        as that of any other event.
        """
        failures: list[Exception] = []
        waits = True

        def act() -> None:
            try:
                action()
            except Exception as error:
                if not waits:
                    raise
                failures.append(error)

        self._timeline.enter(act)
        waits = False
        if failures:
            raise failures[0]

    def put_forward(self, span: Duration) -> None:
        """Let `span` pass at once."""
        self._timeline.put_forward(span)

    async def sleep(self, span: Duration) -> None:
        """Wait until `span` has passed on the nodes."""
        await self._timeline.sleep(span)

    async def reach(self, at: Instant) -> None:
        """Wait until it is `at` on the nodes and all that is due by then has happened."""
        await self._timeline.reach(at)

    @property
    def is_quiet(self) -> bool:
        """Whether time is skipped because nothing real is under way."""
        return self._timeline.is_quiet

    async def until(self, condition: Callable[[], bool], within: Duration | None = None) -> bool:
        """Wait until something is true; looks after every event.

        Args:
            condition: What is waited for.
            within: How long, by the real clock; None for as long as it takes.

        Returns:
            Whether it came true in time.
        """
        if condition():
            return True
        came: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        waiting = (condition, came)
        self._waiting.append(waiting)
        try:
            async with asyncio.timeout(None if within is None else within / SECOND):
                await came
        except TimeoutError:
            return condition()
        finally:
            if waiting in self._waiting:
                self._waiting.remove(waiting)
        return True

    async def close(self) -> None:
        """End kubelets, sockets, built-in plugins and the committer, in this order."""
        for node in self.nodes.values():
            self._timeline.enter(partial(node.stop_kubelet, "server stopped"))
        self._timeline.close()
        await self._parts.close()

    def _failed(self, error: Exception) -> None:
        """Tell that an event went wrong, which is a fault of Rebind; the other nodes go on."""
        _LOG.error("a node's event failed, and what it was to do is not done", exc_info=error)
        self.metering.failure = f"an event failed: {error!r}; restart the kubelet of its node"

    def _settled(self) -> None:
        self.settle()
        for waiting in [each for each in self._waiting if each[0]()]:
            self._waiting.remove(waiting)
            if not waiting[1].done():
                waiting[1].set_result(None)
