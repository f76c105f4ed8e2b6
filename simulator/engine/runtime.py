"""The container runtime of one node: sandboxes, containers, and the devices that processes hold.

What is recorded here is the physical truth, whatever the kubelet believes: a container that runs
keeps the devices with which it was started. The runtime outlives the kubelet; a reboot ends every
process but leaves the exited containers in the runtime's list (S5.5).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from simulator.core.container_start import RunOptionsResult
from simulator.core.devices import DeviceId
from simulator.core.facts import ContainerInstance
from simulator.core.instants import Instant
from simulator.core.pods import ContainerName, PodUid
from simulator.core.records import ContainerChanged, Record
from simulator.core.resources import ResourceName
from simulator.core.transitions import NodeName

GivenDevices = tuple[tuple[ResourceName, tuple[DeviceId, ...]], ...]
"""Resource to ids with which a process was started, sorted by resource."""


@dataclass(eq=False, slots=True)
class ContainerProcess:
    """One container as the runtime lists it.

    Attributes:
        container_id: Unique on the node.
        devices: What the process was given when it started.
        started: When it started; None when that was before the run.
        given: What the device manager said of its start (S10); None when that was before the run.
        restarts: How many instances of this container were listed before this one.
        running: Whether it runs; else it has exited.
        succeeded: Whether it exited by itself with code 0.
        ended: When it exited; None while it runs.
    """

    pod: PodUid
    container: ContainerName
    container_id: str
    devices: GivenDevices = ()
    started: Instant | None = None
    given: RunOptionsResult | None = None
    restarts: int = 0
    running: bool = True
    succeeded: bool = False
    ended: Instant | None = None


class Runtime:
    """The containers of one node.

    Attributes:
        changes: Grows when a container starts or ends.

    Args:
        node: The node's name.
        emit: Keeps a record.
        now: Returns the present instant.
    """

    def __init__(
        self, node: NodeName, emit: Callable[[Record], None], now: Callable[[], Instant]
    ) -> None:
        self._node = node
        self._emit = emit
        self._now = now
        self.changes = 0
        self._started = 0
        self._ready_sandboxes: set[PodUid] = set()
        self._containers: dict[PodUid, list[ContainerProcess]] = {}
        self._finished: dict[PodUid, bool] = {}

    def has_sandbox(self, pod: PodUid) -> bool:
        """Tell whether the pod's sandbox is ready; it is not after a reboot."""
        return pod in self._ready_sandboxes

    def create_sandbox(self, pod: PodUid) -> None:
        """Make a sandbox; containers of an earlier one do not count for it."""
        self._ready_sandboxes.add(pod)
        self._containers[pod] = []

    def start(
        self,
        pod: PodUid,
        container: ContainerName,
        devices: GivenDevices,
        given: RunOptionsResult | None = None,
    ) -> None:
        """Start a container; of the earlier instances only the last exited one stays listed."""
        process = self._list(pod, container, devices)
        process.started, process.given = self._now(), given
        self._emit(ContainerChanged(pod, container, "running", "", devices))

    def place(
        self,
        pod: PodUid,
        container: ContainerName,
        devices: GivenDevices,
        *,
        succeeded: bool | None = None,
    ) -> None:
        """List a container that was started before the run; one that runs is recorded.

        Args:
            pod: Its pod.
            container: Its name.
            devices: What it was started with.
            succeeded: How it has exited; None when it runs.
        """
        process = self._list(pod, container, devices)
        if succeeded is None:
            self._emit(ContainerChanged(pod, container, "running", "since before the run", devices))
        else:
            self._end(process, succeeded=succeeded)

    def exit(self, process: ContainerProcess, *, succeeded: bool, cause: str = "") -> None:
        """Let a running container exit by itself."""
        self._end(process, succeeded=succeeded)
        self._emit(ContainerChanged(process.pod, process.container, "exited", cause))

    def finish(self, pod: PodUid, *, succeeded: bool) -> None:
        """Let all containers of a pod exit; they have done what they were there for."""
        self._finished[pod] = succeeded
        for process in list(self.running(pod)):
            self.exit(process, succeeded=succeeded)

    def finished(self, pod: PodUid) -> bool | None:
        """Tell whether a pod has ended by itself, and if so whether it succeeded."""
        return self._finished.get(pod)

    def kill(self, process: ContainerProcess, cause: str) -> None:
        """Kill a container if it still runs."""
        if process.running:
            self._end(process, succeeded=False)
            self._emit(ContainerChanged(process.pod, process.container, "killed", cause))

    def remove(self, pod: PodUid) -> None:
        """Forget a pod whose containers have ended."""
        self._containers.pop(pod, None)
        self._ready_sandboxes.discard(pod)
        self._finished.pop(pod, None)

    def stop_all(self, cause: str) -> None:
        """End every process, as a reboot or power cut does; sandboxes are no longer ready."""
        for process in list(self.running()):
            self.kill(process, cause)
        self._ready_sandboxes.clear()

    def wipe(self) -> None:
        """Forget everything: the disk is blank."""
        self._containers.clear()
        self._ready_sandboxes.clear()
        self._finished.clear()

    def pods(self) -> list[PodUid]:
        """Return the pods that have containers or a sandbox."""
        return list(self._containers)

    def current(self, pod: PodUid, container: ContainerName) -> ContainerProcess | None:
        """Return the newest instance of a container."""
        for process in reversed(self._containers.get(pod, ())):
            if process.container == container:
                return process
        return None

    def instances(self, pod: PodUid, container: ContainerName) -> list[ContainerProcess]:
        """Return the instances of a container that are listed, the newest first."""
        listed = reversed(self._containers.get(pod, ()))
        return [process for process in listed if process.container == container]

    def running(self, pod: PodUid | None = None) -> Iterator[ContainerProcess]:
        """Iterate over the running containers of one pod or of all."""
        lists = self._containers.values() if pod is None else (self._containers.get(pod, []),)
        return (process for processes in lists for process in processes if process.running)

    def snapshot(self) -> tuple[ContainerInstance, ...]:
        """Return all containers in all states, as the kubelet lists them once (S5.5)."""
        return tuple(
            ContainerInstance(each.pod, each.container, each.container_id, each.running)
            for processes in self._containers.values()
            for each in processes
        )

    def _list(
        self, pod: PodUid, container: ContainerName, devices: GivenDevices
    ) -> ContainerProcess:
        self.changes += 1
        self._started += 1
        process = ContainerProcess(pod, container, f"{self._node}-c{self._started}", devices)
        listed = self._containers.setdefault(pod, [])
        earlier = [each for each in listed if each.container == container]
        process.restarts = earlier[-1].restarts + 1 if earlier else 0
        for old in earlier[:-1]:
            listed.remove(old)
        listed.append(process)
        return process

    def _end(self, process: ContainerProcess, *, succeeded: bool) -> None:
        self.changes += 1
        process.running = False
        process.succeeded = succeeded
        process.ended = self._now()
