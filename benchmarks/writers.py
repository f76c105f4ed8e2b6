"""Where the writes of many nodes go at once: one committer for all, or a file for each.

A write is submitted, and its future is done when it is durable. Files are written by threads, since
each node has a disk of its own; the database has the one committer of the product.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final, Protocol

from benchmarks.driving import reply_of
from benchmarks.nodes import StoreAnswers
from simulator.core.calls import Commit, StoreCall, StoreReply
from simulator.core.transitions import NodeName
from store.committer import Committer

FILE_THREADS: Final = 32


class Writers(Protocol):
    """Takes the writes of all nodes."""

    def submit(self, node: NodeName, call: StoreCall) -> Future[StoreReply]:
        """Begin a write; the future is done when it is durable."""
        ...


class DatabaseWriters:
    """Every node's commits go to one committer, which gathers what waits."""

    def __init__(self, committer: Committer) -> None:
        self._committer = committer

    def submit(self, node: NodeName, call: StoreCall) -> Future[StoreReply]:
        """Hand a commit to the committer."""
        del node
        if not isinstance(call, Commit):
            reason = f"{type(call).__name__} is not a commit"
            raise TypeError(reason)
        reply: Future[StoreReply] = Future()
        self._committer.commit(call.transitions).add_done_callback(
            lambda done: reply.set_result(reply_of(done.result()))
        )
        return reply


class CheckpointWriters:
    """Every node has a checkpoint file of its own.

    Args:
        answers: What writes a node's file, by node.
    """

    def __init__(self, answers: Mapping[NodeName, StoreAnswers]) -> None:
        self._answers = answers
        self._threads = ThreadPoolExecutor(FILE_THREADS)

    def submit(self, node: NodeName, call: StoreCall) -> Future[StoreReply]:
        """Let a thread replace the node's file."""
        return self._threads.submit(self._answers[node], call)

    def close(self) -> None:
        """End the threads."""
        self._threads.shutdown()
