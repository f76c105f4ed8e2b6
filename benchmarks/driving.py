"""Drives a device manager's decisions in real time, one after the other.

The plugin answers inside this process; the writes are real: a file that is written, fsynced and
renamed, or a commit.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from pathlib import Path
from typing import TypeVar

from benchmarks import workload
from simulator.config import CHECKPOINT_FILE_NAME
from simulator.core.calls import (
    AllocateCall,
    AllocateReply,
    CallFailed,
    CheckpointContent,
    Commit,
    Conflict,
    LoadState,
    Missing,
    PluginCall,
    PluginReply,
    ReadCheckpoint,
    StateLoaded,
    StoreCall,
    Stored,
    StoreFailed,
    StoreReply,
    WriteCheckpoint,
)
from simulator.core.transitions import NodeName
from simulator.ports import Committed, Outcome, Refused, Store
from store.file_store import FileStore

C = TypeVar("C")
R = TypeVar("R")
T = TypeVar("T")


def drive(decision: Generator[C, R, T], answer: Callable[[C], R]) -> T:
    """Run a decision to its end, answering each call at once."""
    try:
        call = next(decision)
        while True:
            call = decision.send(answer(call))
    except StopIteration as end:
        result: T = end.value
        return result


def answer_plugin(call: PluginCall) -> PluginReply:
    """Answer as the workload's plugin, which knows Allocate only."""
    if isinstance(call, AllocateCall):
        return AllocateReply(workload.allocate_response(call.devices))
    return CallFailed("rpc error: code = Unimplemented desc = not needed here")


def reply_of(outcomes: list[Outcome]) -> StoreReply:
    """Return the reply to a commit: it stands only if none of its transitions was refused."""
    refused = next((outcome for outcome in outcomes if isinstance(outcome, Refused)), None)
    if refused is not None:
        return Conflict(refused.message)
    return Stored(max(outcome.revision for outcome in outcomes if isinstance(outcome, Committed)))


class DatabaseAnswers:
    """Answers a node's store calls from a `Store`, each commit by itself."""

    def __init__(self, store: Store, node: NodeName) -> None:
        self._store = store
        self._node = node

    def __call__(self, call: StoreCall) -> StoreReply:
        """Commit or load, and return when it is done."""
        if isinstance(call, Commit):
            return reply_of(self._store.apply(call.transitions))
        if isinstance(call, LoadState):
            return StateLoaded(self._store.load(self._node))
        return StoreFailed(f"{type(call).__name__} is not for a database")


class CheckpointAnswers:
    """Answers a node's store calls from its checkpoint file, as the kubelet writes it (S4.9).

    Args:
        folder: The node's own.
        sync: What fsyncs a file.
    """

    def __init__(self, folder: Path, *, sync: Callable[[int], None] = os.fsync) -> None:
        self._files = FileStore(folder, sync=sync)

    def __call__(self, call: StoreCall) -> StoreReply:
        """Write or read, and return when it is done."""
        if isinstance(call, WriteCheckpoint):
            self.write(call.content)
            return Stored()
        if isinstance(call, ReadCheckpoint):
            content = self._files.read(CHECKPOINT_FILE_NAME)
            return Missing() if content is None else CheckpointContent(content)
        return StoreFailed(f"{type(call).__name__} is not for a file")

    def write(self, content: bytes) -> None:
        """Replace the file."""
        self._files.write(CHECKPOINT_FILE_NAME, content)
