"""Where a node's effects are announced and planned faults strike.

An effect runs like this: `begin` announces it and lets faults strike before it; if the node's
kubelet survived, the caller does the effect and calls `end`, which lets faults strike after it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

from simulator.core.instants import Duration
from simulator.core.transitions import NodeName
from simulator.engine.actions import Loss, When
from simulator.engine.faults import Effect, EffectLog, Fault, FaultKind, Op
from simulator.engine.timeline import Process, Timeline

ReplyT = TypeVar("ReplyT")


class Breakable(Protocol):
    """The node, as faults see it."""

    def crash_kubelet(self, downtime: Duration) -> None:
        """Kill the kubelet and start it again after `downtime`."""
        ...

    def cut_power(self, downtime: Duration, loss: Loss) -> None:
        """Take the power away and boot after `downtime`."""
        ...

    def fill_disk(self, duration: Duration | None) -> None:
        """Let writes fail, for `duration` or for good."""
        ...

    def break_stream(self, plugin: str) -> None:
        """End the stream of the plugin of this name, if there is one."""
        ...


@dataclass(slots=True)
class Verdict:
    """What faults did to an effect.

    Attributes:
        effect: The announced effect.
        delay: How much longer it takes.
        error: Text with which it fails; empty when it does not.
        hung: Whether it is never answered.
    """

    effect: Effect
    delay: Duration = Duration(0)
    error: str = ""
    hung: bool = False


class Injector:
    """The faults of one node."""

    def __init__(
        self, node: NodeName, timeline: Timeline, log: EffectLog, breakable: Breakable
    ) -> None:
        self._node = node
        self._timeline = timeline
        self._log = log
        self._breakable = breakable

    def begin(self, op: Op, target: str = "") -> Verdict:
        """Announce an effect and let faults strike before it."""
        effect = self._log.announce(self._timeline.now(), self._node, op, target)
        return self._strike(Verdict(effect), When.BEFORE)

    def end(self, begun: Verdict) -> Verdict:
        """Let faults strike after an effect that has happened."""
        return self._strike(Verdict(begun.effect), When.AFTER)

    def call(  # noqa: PLR0913 - a call and what surrounds it, by keyword
        self,
        op: Op,
        send: Callable[[Callable[[ReplyT], None]], None],
        *,
        process: Process,
        failure: Callable[[str], ReplyT],
        resume: Callable[[ReplyT], None],
        target: str = "",
    ) -> None:
        """Send a call of `process`, with the faults that strike before it and after its reply.

        Args:
            op: What kind of effect the call is.
            send: Makes the call and passes on its reply.
            process: Whoever calls; nothing is resumed after its end.
            failure: Makes the reply of a call that a fault lets fail.
            resume: Takes the reply.
            target: The name of what is called.
        """
        begun = self.begin(op, target)
        if begun.hung:
            return

        def replied(reply: ReplyT) -> None:
            if not process.is_alive():
                return
            ended = self.end(begun)
            if not ended.hung:
                final = failure(ended.error) if ended.error else reply
                process.delayed(ended.delay, lambda: resume(final))

        if begun.error:
            process.delayed(begun.delay, lambda: resume(failure(begun.error)))
        else:
            process.delayed(begun.delay, lambda: send(replied))

    def _strike(self, verdict: Verdict, when: When) -> Verdict:
        for fault in self._log.strike(verdict.effect, when):
            self._apply(fault, verdict)
        return verdict

    def _apply(self, fault: Fault, verdict: Verdict) -> None:
        kind, duration = fault.kind, fault.duration
        if kind is FaultKind.CRASH:
            self._breakable.crash_kubelet(duration or Duration(0))
        elif kind is FaultKind.POWER_CUT:
            self._breakable.cut_power(duration or Duration(0), fault.loss)
        elif kind is FaultKind.DISK_FULL:
            self._breakable.fill_disk(duration)
        elif kind is FaultKind.SOCKET_LOSS:
            self._breakable.break_stream(verdict.effect.target)
        elif kind is FaultKind.ERROR:
            verdict.error = fault.message
        elif duration is None:
            verdict.hung = True
        else:
            verdict.delay = Duration(verdict.delay + duration)
