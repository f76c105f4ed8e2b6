"""What is counted on one node of a recorded run, and who is told (`recorded_parts`)."""

from __future__ import annotations

from typing import Protocol

from simulator.core.calls import Conflict, StoreFailed, StoreReply
from simulator.core.transitions import NodeName
from simulator.engine.storage_ports import StoreAnswer
from simulator.server.recordings.inputs import Input, StoreAnswered


class Listener(Protocol):
    """Who is told what reaches the nodes."""

    def told(self, node: NodeName, content: Input) -> None:
        """Something has reached a node."""
        ...


class Seat:
    """What is counted on one node: kubelets, registrations, calls to plugins and to its store."""

    def __init__(self, node: NodeName, listener: Listener) -> None:
        self._node = node
        self._listener = listener
        self._kubelets = self._streams = self._plugin_calls = self._store_calls = 0

    def next_kubelet(self) -> int:
        """Return the number of a kubelet that opens its sockets."""
        self._kubelets += 1
        return self._kubelets

    def next_stream(self) -> int:
        """Return the number of a registration."""
        self._streams += 1
        return self._streams

    def next_plugin_call(self) -> int:
        """Return the number of a call to a plugin."""
        self._plugin_calls += 1
        return self._plugin_calls

    def store_answer(self, reply: StoreAnswer) -> StoreAnswer:
        """Return what tells of an answer before it hands it on."""
        self._store_calls += 1
        number = self._store_calls

        def told(answer: StoreReply) -> None:
            self.tell(StoreAnswered(number, error_of(answer)))
            reply(answer)

        return told

    def tell(self, content: Input) -> None:
        """Tell of something that has reached the node."""
        self._listener.told(self._node, content)


def error_of(answer: StoreReply) -> str:
    """Return why a store failed; empty when it did not."""
    return answer.message if isinstance(answer, StoreFailed | Conflict) else ""
