"""One kubelet process: its device manager, what reaches it, and how it starts (S5.1 to S5.8).

The device manager restores its state and opens the registration socket; the first batch of pods
follows, with the config sources not ready; after it pods come as the API delivers them. Admission,
pod workers and the node status loop have modules of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from simulator.core.api_calls import ApiCall, ApiReply, AwaitEcho
from simulator.core.behavior import Behavior
from simulator.core.calls import Commit, Decision
from simulator.core.facts import KubeletFacts
from simulator.core.instants import Duration
from simulator.core.panics import KubeletPanic
from simulator.core.persistence.protocol import Restored
from simulator.core.pods import Pod, PodUid
from simulator.core.records import HealthUpdated, KubeletStarted
from simulator.core.resources import ResourceName
from simulator.core.transitions import NodeBooted
from simulator.engine.api_bindings import living_pods
from simulator.engine.api_objects import ApiPod
from simulator.engine.api_requests import of_persistence
from simulator.engine.api_upkeep import ApiUpkeep
from simulator.engine.decisions import DecisionDriver
from simulator.engine.host import Host
from simulator.engine.housekeeping import Housekeeping
from simulator.engine.kubelet_api import KubeletApi
from simulator.engine.kubelet_parts import KubeletParts
from simulator.engine.kubelet_settings import build_manager, start_error
from simulator.engine.latencies import (
    FIRST_BATCH_DELAY,
    PANIC_RESTART_DELAY,
    RELIST_PERIOD,
    STATIC_BATCH_DELAY,
)
from simulator.engine.local_pods import LocalPod, LocalPods, Stage
from simulator.engine.node_status import NodeStatusReporter
from simulator.engine.plugin_connections import PluginConnections
from simulator.engine.plugin_ports import PluginStream
from simulator.engine.pod_admission import PodAdmission
from simulator.engine.pod_workers import PodWorkers
from simulator.engine.status_manager import StatusManager
from simulator.engine.sync_loop import SyncLoop
from simulator.engine.timeline import Process


class Kubelet:
    """A kubelet process.

    Attributes:
        process: Its life.
        plugins: Its side of the plugins: what they reach through the registration socket.
        manager: Its device manager.
        api: Its clients of the API server.
        pods: The pods it knows.
        serving: Whether the registration socket is there.
        settled: Whether the first batch of pods was admitted or refused.
    """

    def __init__(self, host: Host, behavior: Behavior) -> None:
        self.process = Process(host.timeline)
        self.serving = False
        self.settled = False
        self._host = host
        self._behavior = behavior
        self._listed = self._files_read = False
        self._facts = KubeletFacts(now=host.timeline.now(), instances=host.runtime.snapshot())
        self.manager = build_manager(host, behavior, self._facts)
        self.driver = DecisionDriver(host, self.process, self._facts, self)
        self.pods = LocalPods(self._facts.active_pods, host.touch)
        self._as_found: set[PodUid] = set()
        self._loop = SyncLoop()
        self.api = KubeletApi(host, self.process, behavior)
        self._statuses = StatusManager(
            host.timeline,
            self.process,
            self.api.main,
            self.manager.api.status_devices,
            coalesces=host.run.api.status_coalesce,
        )
        parts = KubeletParts(
            host=host,
            behavior=behavior,
            facts=self._facts,
            manager=self.manager,
            driver=self.driver,
            pods=self.pods,
            api=self.api,
            statuses=self._statuses,
            loop=self._loop,
        )
        self._upkeep = ApiUpkeep(parts)
        self._workers = PodWorkers(parts, failed=self._rejected)
        self._admission = PodAdmission(
            parts,
            admitted=self._workers.sync,
            rejected=self._rejected,
            ended=self._workers.take_up_ended,
            batch_done=self._batch_done,
        )
        self.plugins = PluginConnections(parts, listed=self._admission.ask_again)
        self._housekeeping = Housekeeping(parts, self._workers)
        self._node_status = NodeStatusReporter(parts)

    # Start and end

    def start(self, *, warm: bool = False) -> None:
        """Start the process.

        Args:
            warm: Whether it is taken to have run before: its pods are admitted already, and there
                is no first batch. So begins a simulation.
        """
        host = self._host
        host.emit(KubeletStarted(self._behavior.version, host.machine.boot_id))
        error = start_error(host)
        if error:
            host.machine.kubelet_gave_up(error)
        else:
            self.driver.run(self._restore(), lambda restored: self._restored(restored, warm=warm))

    def stop(self) -> None:
        """End the process at once, in the middle of whatever it does."""
        self.process.kill()
        self.serving = False
        self._host.api.disconnect(self._host.name)

    def _restore(self) -> Decision[Restored]:
        """Tell the database of the boot, then let the device manager restore its state.

        A boot that cannot be told, as on a full disk, does not keep the kubelet from starting:
        what counts is whether its state can be loaded.
        """
        host = self._host
        if host.phase.uses_database:
            booted = NodeBooted(host.name, host.timeline.now(), host.machine.boot_id)
            yield Commit((booted,))
        return (yield from self.manager.start())

    def _restored(self, restored: Restored, *, warm: bool) -> None:
        host = self._host
        if restored.fatal:
            host.machine.kubelet_gave_up(restored.error)
            return
        host.sockets.open(self._behavior, self.plugins, partial(self._listening, warm=warm))

    def _listening(self, error: str, *, warm: bool) -> None:
        """Begin to work, once plugins can register (S1.8)."""
        host = self._host
        if not self.process.is_alive():
            return
        if error:
            host.machine.kubelet_gave_up(error)
            return
        self.serving = True
        host.api.connect(host.name, self._pod_changed)
        self._node_status.start()
        if warm:
            self._upkeep.learn(self._living_pods, self._take_over)
        else:
            self.process.after(STATIC_BATCH_DELAY, self._admit_static_pods)
            self.process.after(FIRST_BATCH_DELAY, self._list_pods)

    def _take_over(self) -> None:
        self._files_read = self._listed = self.settled = self._facts.sources_ready = True
        initial = {pod.uid for pod in self._host.spec.pods}
        for api in self._host.api.pods(self._host.name):
            local = LocalPod(api, api.status)
            self.pods.add(local)
            self._statuses.take_over(local)
            if api.uid not in initial:
                self.pods.drop(local)
                self._admission.admit(api)
            elif api.status.is_terminal:
                self.pods.move(local, Stage.TERMINATED)
            else:
                self.pods.move(local, Stage.ADMITTED)
                self._as_found.add(api.uid)

    def _admit_static_pods(self) -> None:
        """Read the files of static pods; the API server is not asked (S5.3)."""
        self._files_read = True
        pods = self._host.api.pods(self._host.name)
        self._admission.admit_static_pods([api for api in pods if api.spec.static])

    def _list_pods(self) -> None:
        """Get the pods once the API server can be reached (S5.3)."""
        self._host.api.when_reachable(self._host.name, self._learn_devices)

    def _learn_devices(self) -> None:
        """Learn what the API says of devices, which may take a while; no pod is taken up before."""
        if self.process.is_alive():
            self._upkeep.learn(self._living_pods, self._admit_first_batch)

    def _admit_first_batch(self) -> None:
        """Admit the pods that are there now; what happens to pods is news from here on."""
        self._listed = True
        self._admission.admit_first_batch(self._pods_of_the_api())

    def _pods_of_the_api(self) -> list[ApiPod]:
        return [api for api in self._host.api.pods(self._host.name) if not api.spec.static]

    def _living_pods(self) -> list[Pod]:
        host = self._host
        return list(living_pods(host.api, host.name, host.runtime))

    def _batch_done(self) -> None:
        self.settled = True
        self._housekeeping.plan()

    @property
    def has_reported(self) -> bool:
        """Whether the API has every pod status that the kubelet has."""
        return not self._statuses.is_waiting

    # Pods

    def container_exited(self, uid: PodUid) -> None:
        """A container has exited; the next relist of the runtime shows it."""
        local = self.pods.get(uid)
        if local is not None:
            self.process.after(RELIST_PERIOD, lambda: self._workers.sync_in_turn(local))

    def init_container_exited(self, uid: PodUid) -> None:
        """A plain init container has done its work; the next container follows."""
        local = self.pods.get(uid)
        if local is not None:
            self._workers.sync_in_turn(local)

    def _pod_changed(self, uid: PodUid) -> None:
        self._upkeep.saw(uid)
        if self.pods.get(uid) is not None or self._has_read(self._host.api.pod(uid)):
            self._loop.do(lambda: self._take_up(uid))

    def _take_up(self, uid: PodUid) -> None:
        """See how a pod stands that has changed."""
        api, local = self._host.api.pod(uid), self.pods.get(uid)
        if api is None:
            if local is not None:
                self._removed(local)
        elif local is None:
            self._admission.admit(api)
        else:
            self._updated(local, api)

    def _has_read(self, api: ApiPod | None) -> bool:
        """Tell whether the source of a pod was read, so that a change in it is news."""
        return self._files_read if api is not None and api.spec.static else self._listed

    def _updated(self, local: LocalPod, api: ApiPod) -> None:
        local.pod = api.pod
        self._statuses.saw(local, api.status)
        local.deleting = local.deleting or api.deleting
        rejected = local.stage is Stage.REJECTED
        becomes_active = rejected and self._behavior.rejected_pods_become_active
        if local.deleting or becomes_active:
            self._workers.terminate(local)

    def _removed(self, local: LocalPod) -> None:
        """The pod is gone from the API; what still runs is killed (S6.5)."""
        self.pods.drop(local)
        self._statuses.forget(local.uid)
        self.manager.forget_containers(local.uid)
        self._workers.orphaned(local.uid, gone=True)

    def _rejected(self, local: LocalPod) -> None:
        if local.deleting:
            self._workers.terminate(local)
        else:
            self._housekeeping.plan()

    # What the device manager says

    def stream_of(self, resource: ResourceName) -> PluginStream | None:
        """Return the plugin connection for a resource."""
        return self.plugins.stream_of(resource)

    def ask(self, call: ApiCall, resume: Callable[[ApiReply], None]) -> None:
        """Ask the API server what the persistence wants to know, or to have there."""
        if isinstance(call, AwaitEcho):
            self._upkeep.await_echo(call, resume)
        else:
            self.api.ask(call, lambda reply: resume(of_persistence(reply)))

    def drain(self) -> None:
        """Emit what the device manager has recorded."""
        self._upkeep.plan_flush()
        for record in self.manager.take_records():
            self._host.emit(record)
            if isinstance(record, HealthUpdated):
                self._sync_soon(record.pods)

    def _sync_soon(self, pods: Sequence[PodUid]) -> None:
        """Sync the pods whose devices changed health (S9.6).

        Pods that were there before the run stay as they were found: what waits in them is in its
        back-off, which a health update does not end.
        """
        for uid in pods:
            local = self.pods.get(uid)
            if local is not None and uid not in self._as_found:
                self.process.after(Duration(0), partial(self._workers.sync_in_turn, local))
                # Who only models the API has no field for it.
                is_told = self._host.api.writer is not None
                if is_told and self._behavior.resource_health_in_status:
                    self._statuses.send_anew(local)

    def panicked(self, panic: KubeletPanic) -> None:
        """End, because the device manager has crashed (S3.14, S7.7)."""
        self._host.emit(panic.record)
        self._host.machine.kubelet_panicked(PANIC_RESTART_DELAY)
