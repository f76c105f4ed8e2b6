"""Drives the core's decisions: a call out, and when its reply has come, on.

While a call is out, other events happen. A decision whose kubelet died is never resumed. Every
call is an effect that faults may strike before and after (`injection`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Generic, Protocol, TypeVar

from simulator.core.api_calls import ApiCall, ApiReply
from simulator.core.calls import (
    AllocateCall,
    Call,
    CallFailed,
    Commit,
    Decision,
    LoadState,
    PluginCall,
    PluginReply,
    PreferredAllocationCall,
    PreStartContainerCall,
    ReadCheckpoint,
    Reply,
    SetCheckpointAside,
    StoreDecision,
    StoreFailed,
    StoreReply,
    WriteCheckpoint,
)
from simulator.core.endpoints import PRE_START_TIMEOUT
from simulator.core.instants import Instant
from simulator.core.panics import KubeletPanic
from simulator.core.resources import ResourceName
from simulator.engine.faults import Op
from simulator.engine.host import Host
from simulator.engine.plugin_ports import PluginStream
from simulator.engine.storage_ports import NodeDatabase
from simulator.engine.timeline import Process

T = TypeVar("T")
ReplyT = TypeVar("ReplyT", StoreReply, PluginReply)

DEADLINE_EXCEEDED: Final = "rpc error: code = DeadlineExceeded desc = context deadline exceeded"
CONNECTION_CLOSING: Final = (
    "rpc error: code = Canceled desc = grpc: the client connection is closing"
)
_OPS: Final = {
    AllocateCall: Op.ALLOCATE,
    PreferredAllocationCall: Op.PREFERRED_ALLOCATION,
    PreStartContainerCall: Op.PRE_START,
}


def lifted(decision: StoreDecision[T]) -> Decision[T]:
    """Take a decision that asks only the store for one that may ask anybody."""
    return (yield from decision)


class Dated(Protocol):
    """What a decision is told: at least what time it is."""

    now: Instant


class DecisionOwner(Protocol):
    """The kubelet process, as its decisions need it."""

    def stream_of(self, resource: ResourceName) -> PluginStream | None:
        """Return the plugin connection for a resource."""
        ...

    def ask(self, call: ApiCall, resume: Callable[[ApiReply], None]) -> None:
        """Ask the API server."""
        ...

    def drain(self) -> None:
        """Emit what the device manager has recorded."""
        ...

    def panicked(self, panic: KubeletPanic) -> None:
        """End, because the device manager has crashed."""
        ...


class DecisionDriver:
    """The decisions of one kubelet process.

    Args:
        host: Where the process runs.
        process: Its life.
        facts: What decisions are told; `now` is kept up to date here.
        owner: The kubelet.

    Attributes:
        in_flight: Number of decisions under way.
    """

    def __init__(self, host: Host, process: Process, facts: Dated, owner: DecisionOwner) -> None:
        self.process = process
        self.owner = owner
        self.in_flight = 0
        self._host = host
        self._facts = facts
        self._state_file = host.storage.state_file(process, host.injector)

    def run(self, decision: Decision[T], done: Callable[[T], None]) -> None:
        """Drive `decision` to its end and hand its result to `done`, if the kubelet lives."""
        self.in_flight += 1
        _Task(self, decision, done).advance(None)

    def run_store(self, decision: StoreDecision[T], done: Callable[[T], None]) -> None:
        """Drive a decision that asks only the store."""
        self.run(lifted(decision), done)

    def refresh(self) -> None:
        """Bring the facts up to date before an entry into the device manager."""
        self._facts.now = self._host.timeline.now()

    def perform(self, call: Call, resume: Callable[[Reply], None]) -> None:
        """Make a call out and resume with its reply."""
        if isinstance(call, ReadCheckpoint):
            self._state_file.read(resume)
        elif isinstance(call, WriteCheckpoint):
            self._state_file.write(call.content, resume, directory_synced=call.directory_synced)
        elif isinstance(call, SetCheckpointAside):
            self._state_file.set_aside(resume)
        elif isinstance(call, LoadState):
            self._load(call, resume)
        elif isinstance(call, Commit):
            self._commit(call, resume)
        elif isinstance(call, PluginCall):
            self._call_plugin(call, resume)
        else:
            self.owner.ask(call, resume)

    def _database(self) -> NodeDatabase:
        database = self._host.storage.database
        if database is None:
            message = f"node {self._host.name} has no database, but its persistence asks for one"
            raise TypeError(message)
        return database

    def _load(self, call: LoadState, resume: Callable[[StoreReply], None]) -> None:
        database = self._database()
        self._call(
            Op.LOAD,
            lambda reply: database.load(
                self._host.name, self.process, reply, with_file=call.with_file
            ),
            failure=StoreFailed,
            resume=resume,
        )

    def _commit(self, call: Commit, resume: Callable[[StoreReply], None]) -> None:
        database = self._database()
        self._call(
            Op.COMMIT,
            lambda reply: database.commit(self.process, call.transitions, reply),
            failure=StoreFailed,
            resume=resume,
        )

    def _call_plugin(self, call: PluginCall, resume: Callable[[PluginReply], None]) -> None:
        resume = self._within_limit(call, resume)
        stream = self.owner.stream_of(call.resource)

        def send(reply: Callable[[PluginReply], None]) -> None:
            if stream is None or not stream.is_open:
                reply(CallFailed(CONNECTION_CLOSING))
            else:
                stream.plugin.call(call, reply)

        self._call(
            _OPS[type(call)],
            send,
            failure=_rpc_failure,
            resume=resume,
            target=stream.plugin.name if stream else "",
        )

    def _within_limit(
        self, call: PluginCall, resume: Callable[[PluginReply], None]
    ) -> Callable[[PluginReply], None]:
        """Give a call up when its time is over; an answer that comes later is nobody's.

        A real plugin is told the deadline of PreStartContainer with the call, by the real clock
        (`simulator.live.settings`); this one counts where a fault has swallowed the call.
        """
        limit = self._host.run.plugin_call_timeout
        if isinstance(call, PreStartContainerCall):
            limit = PRE_START_TIMEOUT
        if limit is None:
            return resume
        waiting = [resume]

        def first(reply: PluginReply) -> None:
            while waiting:
                waiting.pop()(reply)

        self.process.after(limit, lambda: first(CallFailed(DEADLINE_EXCEEDED)))
        return first

    def _call(
        self,
        op: Op,
        send: Callable[[Callable[[ReplyT], None]], None],
        *,
        failure: Callable[[str], ReplyT],
        resume: Callable[[ReplyT], None],
        target: str = "",
    ) -> None:
        self._host.injector.call(
            op, send, process=self.process, failure=failure, resume=resume, target=target
        )


def _rpc_failure(text: str) -> CallFailed:
    return CallFailed(f"rpc error: code = Unknown desc = {text}")


class _Task(Generic[T]):
    """One decision under way."""

    def __init__(
        self, driver: DecisionDriver, decision: Decision[T], done: Callable[[T], None]
    ) -> None:
        self._driver = driver
        self._result: list[T] = []
        self._steps = self._collecting(decision)
        self._done = done

    def _collecting(self, decision: Decision[T]) -> Decision[None]:
        self._result.append((yield from decision))

    def advance(self, reply: Reply | None) -> None:
        """Resume the decision with a reply, or begin it with None."""
        driver = self._driver
        driver.refresh()
        try:
            call = next(self._steps) if reply is None else self._steps.send(reply)
        except StopIteration:
            driver.in_flight -= 1
            driver.owner.drain()
            self._done(self._result[0])
        except KubeletPanic as panic:
            driver.owner.drain()
            driver.owner.panicked(panic)
        else:
            driver.owner.drain()
            driver.perform(call, self.advance)
