"""Commands from outside: each is done in the world's turn, and who gave it waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Final, TypeVar

from simulator.core.records import KubeletStartFailed, Stamped
from simulator.core.transitions import NodeName
from simulator.engine.actions import Action
from simulator.engine.node import Node
from simulator.engine.world import World
from simulator.errors import ServerError
from simulator.server.awaited import Awaited
from simulator.server.recordings.inputs import Input
from simulator.server.recordings.tape import Tape

T = TypeVar("T")
Enter = Callable[[Callable[[], None]], None]
"""Lets something happen in a world, in its turn."""

_LOOKS: Final = 100
_LOOK_S: Final = 0.01


class Commands:
    """The commands that reach one world.

    Args:
        world: The world.
        tape: Told of actions on nodes.
        enter: How a command gets into the world.
        awaited: What waits for something to happen there.
    """

    def __init__(self, world: World, tape: Tape, enter: Enter, awaited: Awaited) -> None:
        self._world = world
        self._tape = tape
        self._enter = enter
        self._awaited = awaited
        self._start_failures: dict[NodeName, str] = {}
        self._actions = 0

    def recorded(self, stamped: Stamped) -> None:
        """Learn of what has happened, of kubelets that did not start among it."""
        if isinstance(stamped.record, KubeletStartFailed):
            self._start_failures[stamped.node] = stamped.record.message

    async def done(self, command: Callable[[], T]) -> T:
        """Do something in the world, in its turn, and return what came of it."""
        outcome: asyncio.Future[T] = asyncio.get_running_loop().create_future()

        def act() -> None:
            try:
                result = command()
            except Exception as error:  # noqa: BLE001 - handed to the one who asked, who waits
                settle = partial(outcome.set_exception, error)
            else:
                settle = partial(outcome.set_result, result)
            if not outcome.done():
                settle()

        self._enter(act)
        return await outcome

    async def perform(self, node: Node, action: Action, wanted: Callable[[str], Input]) -> None:
        """Perform an action on a node, and wait until it is complete and the API shows it.

        Args:
            node: The node.
            action: What is done.
            wanted: Returns what a recording says of it, by the action's name.

        Raises:
            ServerError: The node's kubelet did not start.
        """
        self._actions += 1
        name = f"{type(action).__name__}-{self._actions}"
        self._start_failures.pop(node.name, None)

        def act() -> None:
            self._tape.told(node.name, wanted(name))
            self._world.perform(action, name)

        await self.done(act)
        await self._awaited.until(lambda: self._world.completed_at(name) is not None)
        await _shown(node)
        if failure := self._start_failures.get(node.name):
            message = f"the kubelet of {node.name} did not start: {failure}"
            raise ServerError(message)


async def _shown(node: Node) -> None:
    """Wait until the API has the statuses of the pods, so that who asks next sees the outcome.

    Not for long: a node that cannot reach the API keeps its statuses.
    """
    for _ in range(_LOOKS):
        kubelet = node.kubelet
        if kubelet is None or kubelet.has_reported:
            return
        await asyncio.sleep(_LOOK_S)
