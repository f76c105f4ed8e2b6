"""The kubelet of one live node, for plain code: do something to it, wait for something, look."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from simulator.core.instants import SECOND, Duration, parse_duration
from simulator.core.pod_resources import PodResources
from simulator.core.records import EventEmitted, KubeletPanicked
from simulator.core.resources import ResourceName
from simulator.core.transitions import NodeName
from simulator.engine import actions
from simulator.engine.actions import Action
from simulator.live.settings import NodeFolder
from simulator.rig import pods
from simulator.rig.outcomes import (
    KubeletPanickedError,
    NotInTimeError,
    StartedContainer,
)
from simulator.rig.processes import PluginProcess
from simulator.rig.tap import Exchange, Registration, Tap
from simulator.wire.pod_resources_client import list_pods

if TYPE_CHECKING:
    from simulator.live.world import LiveWorld
    from simulator.rig.rig import Rig

__tracebackhide__ = True  # pytest shows the line of the test instead of what is below it

Span = str | float
"""A Go duration such as `5m`, or a number of seconds."""

WAIT_S: Final = 30.0
"""How long is waited for something, unless the caller says otherwise."""


class Kubelet:
    """One node's kubelet, in the hands of a test.

    Args:
        rig: The nodes that it belongs to.
        name: Its node.
        tap: What is said on its wire.

    Attributes:
        name: The node's name.
        directory: The node's directory, laid out like `/var/lib/kubelet`.
        tap: What is said on its wire; it may be read in any thread.
    """

    def __init__(self, rig: Rig, name: NodeName, tap: Tap) -> None:
        self.name = name
        self._folder = NodeFolder(rig.root / name)
        self.directory = self._folder.path
        self.tap = tap
        self._rig = rig
        self._pods = 0

    # What there is

    @property
    def socket_dir(self) -> Path:
        """The plugin directory, with `kubelet.sock`."""
        return self._folder.device_plugins

    @property
    def version(self) -> str:
        """The kubelet's version."""
        return self._rig.version

    @property
    def is_up(self) -> bool:
        """Whether the kubelet runs and listens."""
        return self._rig.look(lambda world: world.nodes[self.name].serves)

    @property
    def allocatable(self) -> Mapping[ResourceName, int]:
        """The devices that can be given to pods, by resource (S2.9)."""
        return self._rig.look(lambda world: dict(world.node(self.name).allocatable))

    @property
    def capacity(self) -> Mapping[ResourceName, int]:
        """All devices, by resource (S2.9)."""
        return self._rig.look(lambda world: dict(world.node(self.name).capacity))

    @property
    def registrations(self) -> list[Registration]:
        """Every Register call so far, and what came of it."""
        return list(self.tap.registrations)

    @property
    def calls(self) -> list[Exchange]:
        """Every call to a plugin so far: Allocate, GetPreferredAllocation, PreStartContainer."""
        return self.tap.calls

    @property
    def events(self) -> list[EventEmitted]:
        """The Kubernetes events of this node so far."""
        return self._rig.look(
            lambda world: [
                each.record
                for each in world.records
                if each.node == self.name and isinstance(each.record, EventEmitted)
            ]
        )

    def pod_resources(self) -> tuple[PodResources, ...]:
        """Ask the node's PodResources socket who has what, as a monitoring agent does (S8)."""
        return self._rig.run(list_pods(self._folder.pod_resources_socket))

    # Waiting

    def wait_until(
        self, condition: Callable[[], bool], timeout: Span = WAIT_S, *, what: str = "it"
    ) -> None:
        """Wait until something is true, e.g. of what was said on the wire (`calls`).

        Args:
            condition: Called in the node's thread, so it may look at values only.
            timeout: For how long.
            what: What is waited for, for the message.

        Raises:
            NotInTimeError: It did not come true in time; the message says what was seen.
        """
        within_s = seconds_of(timeout)
        if not self._rig.wait(lambda _: condition(), within_s):
            reason = f"{what} did not happen within {within_s:g}s; {self._seen()}"
            raise NotInTimeError(reason)

    def wait_registered(self, resource: str, timeout: Span = WAIT_S) -> None:
        """Wait until a plugin of the resource is registered and has sent its first list.

        Raises:
            NotInTimeError: It has not, within `timeout`; the message says what was seen.
        """

        def is_there() -> bool:
            return any(
                each.request.resource_name == resource and each.is_open and bool(each.lists)
                for each in self.tap.current
            )

        self.wait_until(is_there, timeout, what=f"the registration of {resource}")

    def wait_allocatable(self, resource: str, count: int, timeout: Span = WAIT_S) -> None:
        """Wait until exactly `count` devices of the resource are allocatable; 0 if it has none.

        Raises:
            NotInTimeError: There are not, within `timeout`; the message says what was seen.
        """
        name, within_s = ResourceName(resource), seconds_of(timeout)
        if not self._rig.wait(
            lambda world: dict(world.node(self.name).allocatable).get(name, 0) == count, within_s
        ):
            reason = f"{count} of {resource} were not allocatable within {within_s:g}s; "
            raise NotInTimeError(reason + self._seen())

    # Pods

    def allocate(
        self,
        resource: str | Mapping[str, int],
        count: int = 1,
        *,
        pod: str = "",
        init: int = 0,
        timeout: Span = WAIT_S,
    ) -> StartedContainer:
        """Create a pod that wants devices, and return what its container was started with.

        Args:
            resource: The resource, or several with their numbers.
            count: How many devices.
            pod: The pod's name; empty for one that is not taken.
            init: How many devices of the same resource an init container wants before that.
            timeout: For how long it is waited until the container runs.

        Raises:
            PodRefusedError: The kubelet refused the pod, or could not start its container.
            KubeletPanickedError: It crashed over it; it is started again 10 s later.
            NotInTimeError: Neither came of it in time, e.g. because a plugin does not answer.
        """
        wanted = resource if isinstance(resource, Mapping) else {resource: count}
        self._pods += 1
        name = pod or f"pod-{self._pods}"
        spec, within_s = pods.spec_of(name, wanted, init), seconds_of(timeout)
        made = self._rig.act(lambda world: world.factory.create(spec, name=name, node=self.name))
        panics = len(self._panics())
        if not self._rig.wait(
            lambda world: made.is_decided or len(self._panics_in(world)) > panics, within_s
        ):
            reason = f"pod {name} was neither started nor refused within {within_s:g}s; "
            raise NotInTimeError(reason + self._seen())
        if not made.is_decided:
            panic = self._panics()[-1]
            reason = f"the kubelet panicked ({panic.rule}): {panic.detail}"
            raise KubeletPanickedError(reason)
        return self._rig.look(lambda world: pods.started(world, self.name, made))

    def delete(self, pod: str | StartedContainer, *, force: bool = False) -> None:
        """Delete a pod and wait until it is gone; its devices are free for the next pod.

        Raises:
            ScenarioError: There is no such pod.
        """
        name = pod if isinstance(pod, str) else pod.pod
        self._rig.perform(actions.DeletePod(name, force=force))

    def phase(self, pod: str | StartedContainer) -> str:
        """Return the phase of a pod, e.g. `Running`; `Deleted` if there is none."""
        name = pod if isinstance(pod, str) else pod.pod
        return self._rig.look(lambda world: pods.phase_of(world, name))

    def wait_phase(self, pod: str | StartedContainer, phase: str, timeout: Span = WAIT_S) -> None:
        """Wait until a pod has a phase, e.g. `Failed`.

        Raises:
            NotInTimeError: It has not, within `timeout`.
        """
        name, within_s = pod if isinstance(pod, str) else pod.pod, seconds_of(timeout)
        if not self._rig.wait(lambda world: pods.phase_of(world, name) == phase, within_s):
            reason = f"pod {name} was not {phase} within {within_s:g}s but {self.phase(name)}; "
            raise NotInTimeError(reason + self._seen())

    # What happens to a kubelet

    def restart(self, down: Span = 0, *, meanwhile: Callable[[], None] | None = None) -> None:
        """Stop the kubelet, and start it `down` later by the real clock; containers run on.

        It deletes the plugins' sockets when it starts (S1.9). Returns when it has started and has
        admitted or refused its pods.

        Args:
            down: How long it is away.
            meanwhile: Called while it is away.
        """
        self._rig.perform(actions.RestartKubelet(self.name, span_of(down)), meanwhile)

    def crash(self, down: Span = 0) -> None:
        """Let the kubelet die in the middle of whatever it does, and start it `down` later."""
        self._rig.perform(actions.CrashKubelet(self.name, span_of(down)))

    def reboot(self, down: Span = 0) -> None:
        """Reboot the node: containers end, and so do the plugins that `run` has started.

        They are started again with the node, as a DaemonSet's pods are.
        """
        running = [each for each in self._rig.processes_of(self) if each.code is None]
        for process in running:
            process.kill()
        self._rig.perform(actions.RebootNode(self.name, span_of(down)))
        for process in running:
            process.start()

    def plan(self, action: Action) -> None:
        """Perform an action that completes later, e.g. a crash in the middle of a call."""
        self._rig.plan(action)

    def break_stream(self, resource: str = "") -> None:
        """End the ListAndWatch streams of a resource, or all, from the kubelet's side (S1.22)."""

        def end(_: object) -> None:
            for stream in self.tap.streams():
                if not resource or stream.resource == resource:
                    stream.plugin.break_stream()

        self._rig.act(end)

    def advance(self, span: Span) -> None:
        """Let time pass on all nodes at once, e.g. `5m` of a grace period (S2.5)."""
        self._rig.advance(span_of(span))

    # Plugins

    def run(
        self,
        *command: str | Path,
        in_namespace: bool = False,
        environment: Mapping[str, str] | None = None,
    ) -> PluginProcess:
        """Start a plugin; it is ended with the node, at the latest.

        Args:
            command: Program and arguments.
            in_namespace: Whether `/var/lib/kubelet` is the node's directory for it, as a plugin
                needs that has the path built in; else tell it `socket_dir` by its own flag.
            environment: Variables beside those of this process.

        Raises:
            OSError: The program cannot be run, or not in a namespace.
        """
        words = [str(word) for word in command]
        return self._rig.start_process(
            self, words, in_namespace=in_namespace, environment=environment or {}
        )

    # Inside

    def _panics(self) -> list[KubeletPanicked]:
        return self._rig.look(self._panics_in)

    def _panics_in(self, world: LiveWorld) -> list[KubeletPanicked]:
        return [
            each.record
            for each in world.records
            if each.node == self.name and isinstance(each.record, KubeletPanicked)
        ]

    def _seen(self) -> str:
        """Return what a reader of a failed test wants to know."""
        seen = [f"allocatable: {_counts(self.allocatable)}", f"capacity: {_counts(self.capacity)}"]
        for each in self.registrations[-3:]:
            answer = "not answered" if each.answer is None else each.answer or "accepted"
            seen.append(f"registration of {each.request.resource_name!r}: {answer}")
        for call in self.calls:
            if call.reply is None:
                name = type(call.call).__name__.removesuffix("Call")
                seen.append(f"{name} has not been answered for {call.seconds:.1f}s")
        seen += [process.story() for process in self._rig.processes_of(self)]
        return "; ".join(seen)


def span_of(span: Span) -> Duration:
    """Return a span of time.

    Raises:
        ValueError: It is not a duration.
    """
    return parse_duration(span) if isinstance(span, str) else Duration(int(span * SECOND))


def seconds_of(span: Span) -> float:
    """Return a span of time in seconds.

    Raises:
        ValueError: It is not a duration.
    """
    return span_of(span) / SECOND


def _counts(counts: Mapping[ResourceName, int]) -> str:
    return ", ".join(f"{number} {name}" for name, number in counts.items()) or "nothing"
