"""What a kubelet reaches: its durable state and its plugins, with one call of a run cut.

Every call is numbered, from 1. A cut is a number and a fate: the call fails, or the kubelet dies
just before or just after the call has had its effect.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from simulator.core.allocate_response import AllocateResponse, encode
from simulator.core.api_calls import ApiCall, ApiUnavailable
from simulator.core.calls import (
    AllocateCall,
    AllocateReply,
    Call,
    CallFailed,
    CheckpointContent,
    Commit,
    Conflict,
    LoadState,
    Missing,
    PluginReply,
    PreferredAllocationCall,
    PreferredAllocationReply,
    PreStartContainerCall,
    PreStartContainerReply,
    ReadCheckpoint,
    Reply,
    StateLoaded,
    StoreCall,
    Stored,
    StoreFailed,
    StoreReply,
    WriteCheckpoint,
)
from simulator.core.transitions import NodeName
from simulator.errors import StoreError
from simulator.ports import Refused, Store, StoreReader
from tests.core.persistence.api_server import Server

STORE_CALLS = (ReadCheckpoint, WriteCheckpoint, LoadState, Commit)


class KubeletDied(Exception):  # noqa: N818  no error: the process ended
    """The kubelet's process ended in the middle of a decision."""


class Fate(Enum):
    """What becomes of the call that is cut."""

    FAILS = "fails"
    DIES_BEFORE = "kubelet dies before it"
    DIES_AFTER = "kubelet dies after it"
    REPLY_LOST = "it is done, and nobody is told"
    """Of calls of the API; any other fails."""


@dataclass(frozen=True, slots=True)
class Cut:
    """One call of a run and its fate."""

    number: int
    fate: Fate


class Durable(Protocol):
    """The state of one node, which outlives its kubelets.

    Attributes:
        server: The API server, if its strategy asks one.
    """

    server: Server | None

    @property
    def node(self) -> NodeName:
        """The node's name."""
        ...

    def answer(self, call: StoreCall) -> StoreReply:
        """Do what a kubelet asks, at once."""
        ...

    def look(self, call: StoreCall) -> StoreReply:
        """Return what a kubelet that starts now would be answered; nothing is counted or done."""
        ...


class CheckpointDisk:
    """A disk with one file, which is replaced whole or not at all."""

    node = NodeName("n0")
    server: Server | None = None

    def __init__(self) -> None:
        self._file: bytes | None = None

    def answer(self, call: StoreCall) -> StoreReply:
        if isinstance(call, WriteCheckpoint):
            self._file = call.content
            return Stored()
        return self.look(call)

    def look(self, call: StoreCall) -> StoreReply:
        assert isinstance(call, ReadCheckpoint)
        return Missing() if self._file is None else CheckpointContent(self._file)


class Database:
    """A node's rows in a store, which may hold those of others.

    Args:
        store: What kubelets use.
        inner: Where its rows really are, if `store` is one that fails.
    """

    server: Server | None = None

    def __init__(self, store: Store, *, node: str = "n0", inner: StoreReader | None = None) -> None:
        self.node = NodeName(node)
        self._store = store
        self._inner = inner or store

    def look(self, call: StoreCall) -> StoreReply:
        assert isinstance(call, LoadState)
        return StateLoaded(self._inner.load(self.node))

    def answer(self, call: StoreCall) -> StoreReply:
        try:
            if isinstance(call, LoadState):
                return StateLoaded(self._store.load(self.node))
            assert isinstance(call, Commit)
            outcomes = self._store.apply(call.transitions)
        except StoreError as error:
            return StoreFailed(str(error))
        for outcome in outcomes:
            if isinstance(outcome, Refused):
                return Conflict(outcome.message)
        return Stored()


class Both:
    """A file and rows, as while a node is migrated."""

    server: Server | None = None

    def __init__(self, rows: Database) -> None:
        self.node = rows.node
        self._rows = rows
        self._file = CheckpointDisk()

    def answer(self, call: StoreCall) -> StoreReply:
        is_of_file = isinstance(call, ReadCheckpoint | WriteCheckpoint)
        return (self._file if is_of_file else self._rows).answer(call)

    def look(self, call: StoreCall) -> StoreReply:
        if isinstance(call, WriteCheckpoint | Commit):
            return Stored()
        return (self._file if isinstance(call, ReadCheckpoint) else self._rows).look(call)


class Outside:
    """Answers every call at once, except the one that is cut.

    Attributes:
        calls: What was called, in order.
    """

    def __init__(self, durable: Durable, cut: Cut | None = None) -> None:
        self.durable = durable
        self.calls: list[Call] = []
        self._cut = cut

    def answer(self, call: Call) -> Reply:
        """Answer `call`.

        Raises:
            KubeletDied: This is the call at which the kubelet dies.
        """
        self.calls.append(call)
        if self._cut is None or len(self.calls) != self._cut.number:
            return self.serve(call)
        if isinstance(call, ApiCall) and self._cut.fate is Fate.REPLY_LOST:
            self.serve(call)
        if self._cut.fate in {Fate.FAILS, Fate.REPLY_LOST}:
            if isinstance(call, STORE_CALLS):
                return StoreFailed("no space left on device")
            if isinstance(call, ApiCall):
                return ApiUnavailable("connection lost")
            return CallFailed("rpc error: code = Unavailable desc = connection lost")
        if self._cut.fate is Fate.DIES_AFTER:
            self.serve(call)
        raise KubeletDied

    def serve(self, call: Call) -> Reply:
        """Answer a call without counting it."""
        if isinstance(call, STORE_CALLS):
            return self.durable.answer(call)
        if isinstance(call, ApiCall):
            assert self.durable.server is not None
            return self.durable.server.answer(call)
        return _plugin_reply(call)


def _plugin_reply(call: Call) -> PluginReply:
    """Answer as a plugin that passes the ids in an env variable and prefers the last ones."""
    if isinstance(call, PreferredAllocationCall):
        return PreferredAllocationReply(call.available[::-1])
    if isinstance(call, PreStartContainerCall):
        return PreStartContainerReply()
    assert isinstance(call, AllocateCall)
    return AllocateReply(encode(AllocateResponse(envs={"IDS": ",".join(call.devices)})))
