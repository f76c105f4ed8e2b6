"""Who watches, and who of them is told that something has happened.

A watch is idle while it has seen all there is, and then holds no place. An event that may concern
it gives it one and wakes it; one of another namespace, name or node does not. So a thousand
kubelets that each watch the pods of their own node cost one look into a table for each event, and
one whose node is quiet for a day is not too slow. Everything here is on one loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from simulator.api.serving.events import Event
from simulator.api.serving.shelves import Shelf
from simulator.api.serving.stored import Stored

LOOKED_AT_MAX: Final = 512
"""Events that a watch looks at before others have their turn."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Which objects of a kind are watched.

    Attributes:
        namespace, name, node: What they must have exactly; empty for any.
        matches: Which of those are wanted.
    """

    namespace: str
    name: str
    node: str
    matches: Callable[[Stored], bool]

    def may_contain(self, stored: Stored) -> bool:
        """Tell whether an object has what must be exact, which is cheap to see."""
        return (
            (not self.namespace or stored.namespace == self.namespace)
            and (not self.name or stored.name == self.name)
            and (not self.node or stored.node == self.node)
        )

    def contains(self, stored: Stored) -> bool:
        """Tell whether an object is watched."""
        return self.may_contain(stored) and self.matches(stored)


@dataclass(frozen=True, slots=True)
class Told:
    """One event as a watch sees it.

    Attributes:
        type: `ADDED`, `MODIFIED` or `DELETED`.
        state: The object, as it is or last was among those that are watched.
    """

    event: Event
    type: str
    state: Stored


class Watch:
    """One watcher's place among the events of a kind.

    Args:
        hub: Where it is known.
        shelf: What is watched.
        scope: Which of it.
        number: The first event that it has not looked at.
        revision: Events up to this one are not told.
    """

    def __init__(
        self, hub: WatchHub, shelf: Shelf, scope: Scope, number: int, revision: int
    ) -> None:
        self.shelf = shelf
        self.scope = scope
        self._hub = hub
        self._number: int | None = number
        self._revision = revision
        self._news: asyncio.Future[None] | None = None

    @property
    def is_behind(self) -> bool:
        """Whether there are events that it has not looked at."""
        return self._number is not None

    def take(self) -> Sequence[Told] | None:
        """Look at the next events, and return those that it sees; None when some are gone.

        None that it sees does not mean that there are no further ones: `is_behind`.
        """
        if self._number is None:
            return ()
        window = self.shelf.window
        events = window.from_number(self._number, LOOKED_AT_MAX)
        if events is None:
            return None
        self._number += len(events)
        if self._number == window.end:
            self._number = None
            self._hub.idle(self)
        return tuple(
            Told(event, *seen)
            for event in events
            if event.revision > self._revision
            and (seen := event.seen(self.scope.contains)) is not None
        )

    async def wait(self, seconds: float) -> None:
        """Wait until there may be news, or for some seconds, or until `wake` is called.

        One that is behind only lets others have their turn.
        """
        if self.is_behind or self._hub.is_over:
            await asyncio.sleep(0)
            return
        loop = asyncio.get_running_loop()
        self._news = loop.create_future()
        timer = loop.call_later(seconds, self.wake)
        try:
            await self._news
        finally:
            timer.cancel()
            self._news = None

    def wake(self) -> None:
        """End `wait`."""
        if self._news is not None and not self._news.done():
            self._news.set_result(None)

    def begin_at(self, number: int) -> None:
        """There is news: the event of this number."""
        self._number = number
        self.wake()

    def close(self) -> None:
        """Watch no more."""
        self._hub.forget(self)


class WatchHub:
    """All watches, and what is told to them.

    Attributes:
        is_over: Whether the server stops, and every watch is to end.
    """

    def __init__(self) -> None:
        self.is_over = False
        self._all: dict[Watch, None] = {}
        self._idle: dict[tuple[str, str], dict[Watch, None]] = {}

    def __len__(self) -> int:
        """Return how many watches there are."""
        return len(self._all)

    def watch(self, shelf: Shelf, scope: Scope, *, revision: int | None = None) -> Watch | None:
        """Begin to watch, from now or from a revision on.

        Args:
            shelf: What is watched.
            scope: Which of it.
            revision: The last one that is known already; None for the present one.

        Returns:
            The watch, which its owner closes; None when what came after `revision` is gone.
        """
        number = shelf.window.end if revision is None else shelf.window.number_after(revision)
        if number is None:
            return None
        watch = Watch(self, shelf, scope, number, revision or 0)
        self._all[watch] = None
        return watch

    def tell(self, shelf: Shelf, event: Event, number: int) -> None:
        """Wake the idle watches that an event may concern."""
        if not self._idle:
            return
        for node in _nodes_of(event):
            idle = self._idle.get((shelf.kind.resource, node))
            if idle:
                for watch in [each for each in idle if _may_concern(each.scope, event)]:
                    del idle[watch]
                    watch.begin_at(number)

    def idle(self, watch: Watch) -> None:
        """Note that a watch has seen all there is."""
        self._idle.setdefault((watch.shelf.kind.resource, watch.scope.node), {})[watch] = None

    def forget(self, watch: Watch) -> None:
        """Note that a watch has ended."""
        self._all.pop(watch, None)
        key = (watch.shelf.kind.resource, watch.scope.node)
        idle = self._idle.get(key)
        if idle is not None:
            idle.pop(watch, None)
            if not idle:
                del self._idle[key]

    def end_all(self) -> None:
        """Let every watch end, since the server stops."""
        self.is_over = True
        for watch in self._all:
            watch.wake()


def _nodes_of(event: Event) -> Sequence[str]:
    """Return under which nodes a watch of the event may be noted: any, those before and after."""
    nodes = [""]
    for state in (event.old, event.new):
        if state is not None and state.node not in nodes:
            nodes.append(state.node)
    return nodes


def _may_concern(scope: Scope, event: Event) -> bool:
    state = event.new or event.old
    return (
        state is not None
        and (not scope.namespace or state.namespace == scope.namespace)
        and (not scope.name or state.name == scope.name)
    )
