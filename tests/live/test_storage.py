"""A live node's disk: real files, one step after the other."""

from __future__ import annotations

import asyncio
from pathlib import Path

from simulator.config import CHECKPOINT_FILE_NAME
from simulator.core.calls import CheckpointContent, Stored, StoreReply
from simulator.engine.faults import EffectLog
from simulator.engine.injection import Injector
from simulator.engine.storage_ports import StateFile
from simulator.engine.timeline import Process
from simulator.live.storage import PluginDirectory
from simulator.live.world import LiveWorld
from tests.live.worlds import NODE, WITHIN, a_spec, a_world

LARGE = b"x" * (16 << 20)
"""So much that it is still being written when the next process gets at the file."""


def state_file(world: LiveWorld, process: Process) -> StateFile:
    node = world.nodes[NODE]
    return node.storage.state_file(process, Injector(NODE, world.timeline, EffectLog(()), node))


def test_a_write_of_a_killed_kubelet_is_done_before_the_next_one_gets_at_the_file() -> None:
    """What the kernel has begun it finishes, and nothing of it comes later.

    Else the next kubelet would start from the state before, and have what it writes replaced.
    """

    async def play() -> None:
        async with a_world(a_spec(persistence="database")) as world:
            first, second = Process(world.timeline), Process(world.timeline)
            answers: list[StoreReply] = []
            world.enter(lambda: state_file(world, first).write(LARGE, answers.append))
            first.kill()
            later = state_file(world, second)
            world.enter(lambda: later.read(answers.append))
            world.enter(lambda: later.write(b"new", answers.append))
            world.enter(lambda: later.read(answers.append))
            assert await world.until(lambda: len(answers) == 3, WITHIN)
            assert answers == [CheckpointContent(LARGE), Stored(), CheckpointContent(b"new")]

    asyncio.run(play())


def test_looking_at_a_checkpoint_that_cannot_be_read_finds_nothing_in_it(tmp_path: Path) -> None:
    """S4.12: for a kubelet, too, such a file is one without content."""
    (tmp_path / CHECKPOINT_FILE_NAME).mkdir()
    (tmp_path / "file").write_bytes(b"")

    assert PluginDirectory(tmp_path).read(CHECKPOINT_FILE_NAME) == b""
    assert PluginDirectory(tmp_path / "file").read(CHECKPOINT_FILE_NAME) == b""
    assert PluginDirectory(tmp_path / "absent").read(CHECKPOINT_FILE_NAME) is None
