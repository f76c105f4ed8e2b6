"""What a kubelet does with an admitted pod: start its containers in order, and end them.

Plain init containers run one after the other to their end; sidecars stay; then the regular
containers start. Each start asks the device manager for its run options (S3.22); an error leaves
the container waiting and is tried again after the sync back-off (S3.25).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from simulator.core.container_start import RunOptionsResult
from simulator.core.instants import Duration
from simulator.core.pods import Container, ContainerKind, ContainerName, PodUid
from simulator.core.records import ContainerChanged, EventEmitted
from simulator.core.refusals import Admission
from simulator.engine.api_objects import FAILED, RUNNING, SUCCEEDED
from simulator.engine.kubelet_parts import KubeletParts
from simulator.engine.latencies import (
    GATE_BACK_OFF,
    ORPHAN_GRACE,
    SYNC_BACK_OFF,
)
from simulator.engine.local_pods import LocalPod, Stage
from simulator.engine.refused_pods import fail_refused
from simulator.engine.runtime import GivenDevices

CONFIG_ERROR = "CreateContainerConfigError"


class PodWorkers:
    """The pod workers of one kubelet process.

    Args:
        parts: What they share with it.
        failed: Told of an admitted pod that fails before its containers start.
    """

    def __init__(self, parts: KubeletParts, failed: Callable[[LocalPod], None]) -> None:
        self._host = parts.host
        self._driver = parts.driver
        self._manager = parts.manager
        self._pods = parts.pods
        self._statuses = parts.statuses
        self._loop = parts.loop
        self._delays = parts.host.run.delays
        self._parts = parts
        self._failed = failed

    def sync(self, local: LocalPod) -> None:
        """Bring an admitted pod one step nearer to what it should be."""
        if local.stage is not Stage.ADMITTED or local.starting:
            return
        if local.deleting:
            self.terminate(local)
            return
        if local.status.is_terminal and any(self._host.runtime.running(local.uid)):
            self.terminate(local)
            return
        outcome = local.status.phase if local.status.is_terminal else self._outcome(local)
        if outcome:
            self._finish(local, outcome)
            return
        if not self._host.runtime.has_sandbox(local.uid):
            self._host.runtime.create_sandbox(local.uid)
        container = self._next_to_start(local)
        if container is not None:
            self._start(local, container)
        elif self._all_running(local):
            self._statuses.set(local, replace(local.status, phase=RUNNING, waiting=""))

    def sync_in_turn(self, local: LocalPod) -> None:
        """Sync a pod when the kubelet's loop comes to it."""
        self._loop.do(partial(self.sync, local))

    def terminate(self, local: LocalPod) -> None:
        """End a pod with its grace period; it stays active until its containers are gone (S6.5)."""
        if local.stage is Stage.TERMINATED:
            self._gone(local)
        elif local.stage is not Stage.TERMINATING:
            self._pods.move(local, Stage.TERMINATING)
            self.stop_containers(
                local.uid, local.spec.termination_grace, lambda: self._terminated(local)
            )

    def take_up_ended(self, local: LocalPod) -> None:
        """Know a pod that had ended before this kubelet came; what still runs of it is stopped.

        So it may be after a rejection whose kubelet did not live to kill the containers (S5.10).
        """
        if any(self._host.runtime.running(local.uid)):
            self.terminate(local)
        else:
            self._pods.move(local, Stage.TERMINATED)
            self._gone(local)

    def stop_containers(
        self, uid: PodUid, grace: Duration, done: Callable[[], None] | None = None
    ) -> None:
        """Stop a pod's containers; they end after `grace` even if the kubelet dies meanwhile."""
        running = list(self._host.runtime.running(uid))
        for process in running:
            message = f"Stopping container {process.container}"
            self._host.emit(EventEmitted("Normal", "Killing", message, uid))
            self._host.machine.power.after(
                grace, partial(self._host.runtime.kill, process, "stopped")
            )
        if done is not None:
            self._driver.process.after(grace if running else self._delays.termination_sync, done)

    def orphaned(self, uid: PodUid, *, gone: bool) -> None:
        """Kill the containers of a pod that no worker knows (S5.10, S6.5).

        Args:
            uid: The pod.
            gone: Whether the pod is gone from the API too, so that the runtime forgets it.
        """
        self.stop_containers(uid, ORPHAN_GRACE)
        if gone:
            remove = self._host.runtime.remove
            self._host.machine.power.after(ORPHAN_GRACE, lambda: remove(uid))

    def _terminated(self, local: LocalPod) -> None:
        self._pods.move(local, Stage.TERMINATED)
        self._manager.forget_containers(local.uid)
        if local.deleting:
            self._gone(local)
        elif not local.status.is_terminal:
            self._statuses.set(local, replace(local.status, phase=FAILED))

    def _gone(self, local: LocalPod) -> None:
        if local.deleting:
            self._statuses.finish(local)

    def _finish(self, local: LocalPod, phase: str) -> None:
        """All containers have exited for good."""
        self._pods.move(local, Stage.TERMINATED)
        self._manager.forget_containers(local.uid)
        self._statuses.set(local, replace(local.status, phase=phase, waiting=""))

    def _outcome(self, local: LocalPod) -> str:
        """Return the phase of a pod that has ended by itself; empty while it goes on."""
        runtime = self._host.runtime
        finished = runtime.finished(local.uid)
        if finished is not None:
            return SUCCEEDED if finished else FAILED
        if local.spec.restart_policy == "Never":
            exited = [runtime.current(local.uid, each.name) for each in local.pod.containers]
            ended = [process for process in exited if process and not process.running]
            if ended and len(ended) == len(local.pod.containers):
                return SUCCEEDED if all(process.succeeded for process in ended) else FAILED
        return ""

    def _next_to_start(self, local: LocalPod) -> Container | None:
        runtime, uid = self._host.runtime, local.uid
        begun = any(runtime.current(uid, each.name) for each in local.pod.containers)
        for container in local.pod.init_containers:
            current = runtime.current(uid, container.name)
            if container.kind is ContainerKind.SIDECAR:
                if current is None or not current.running:
                    return container
            elif current is not None and current.running:
                return None
            elif not begun and (current is None or not current.succeeded):
                return container
        for container in local.pod.containers:
            current = runtime.current(uid, container.name)
            if current is None or not current.running:
                return container
        return None

    def _all_running(self, local: LocalPod) -> bool:
        currents = [
            self._host.runtime.current(local.uid, each.name) for each in local.pod.containers
        ]
        return all(current is not None and current.running for current in currents)

    def _start(self, local: LocalPod, container: Container) -> None:
        """Start a container when the persistence lets it (`before_start`)."""
        local.starting = True
        local.starts += 1
        self._driver.run_store(
            self._manager.api.before_start(local.pod),
            lambda gate: self._passed(local, container, gate),
        )

    def _passed(self, local: LocalPod, container: Container, gate: Admission) -> None:
        if not local.starting:
            return
        if gate.admitted:
            self._driver.run(
                self._manager.run_options(local.pod, container.name),
                lambda result: self._prepared(local, container, result),
            )
            return
        local.starting = False
        if gate.retry:
            self._statuses.set(local, replace(local.status, waiting=gate.message))
            self._sync_later(local, GATE_BACK_OFF)
        else:
            fail_refused(self._parts, local, gate)
            self._failed(local)

    def _sync_later(self, local: LocalPod, back_off: Duration) -> None:
        """Try again after a while, unless somebody else has done so by then.

        Kubelet: the work queue has one entry for each pod, whoever puts it there.
        """
        starts = local.starts

        def sync() -> None:
            if local.starts == starts:
                self.sync_in_turn(local)

        self._driver.process.after(back_off, sync)

    def _prepared(self, local: LocalPod, container: Container, result: RunOptionsResult) -> None:
        if not local.starting:
            return
        if result.error:
            local.starting = False
            self._wait(local, container.name, result.error)
        else:
            self._driver.process.after(
                self._delays.container_start, lambda: self._started(local, container, result)
            )

    def _wait(self, local: LocalPod, container: ContainerName, error: str) -> None:
        message = f"{CONFIG_ERROR}: {error}"
        self._host.emit(ContainerChanged(local.uid, container, "waiting", message))
        self._host.emit(EventEmitted("Warning", "Failed", f"Error: {error}", local.uid))
        self._statuses.set(local, replace(local.status, waiting=message))
        self._sync_later(local, SYNC_BACK_OFF)

    def _started(self, local: LocalPod, container: Container, result: RunOptionsResult) -> None:
        if not local.starting:
            return
        local.starting = False
        runtime = self._host.runtime
        again = runtime.current(local.uid, container.name) is not None
        devices = self._given(local.uid, container.name)
        runtime.start(local.uid, container.name, devices, result)
        if again:
            self._statuses.set(local, replace(local.status, restarts=local.status.restarts + 1))
        if container.kind is ContainerKind.INIT:
            process = runtime.current(local.uid, container.name)
            if process is not None:
                self._host.machine.run_init_container(process)
        self.sync(local)

    def _given(self, uid: PodUid, container: ContainerName) -> GivenDevices:
        devices = self._manager.devices_of(uid, container)
        return tuple((resource, tuple(ids)) for resource, ids in devices.items())
