"""What a simulated run starts from: one combination of version, persistence and readmission.

Scenario files are turned into these values by `scenarios`; nothing here knows YAML.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum

from simulator import ports
from simulator.core.behavior import Behavior, Readmission, Reservations
from simulator.core.devices import Device, DeviceId
from simulator.core.instants import MILLISECOND, SECOND, Duration
from simulator.core.persistence.choosing import OptionValue
from simulator.core.pods import ContainerName, Pod, PodUid
from simulator.core.resources import ResourceName
from simulator.core.switches import behavior_for
from simulator.core.transitions import NodeName
from simulator.engine.latencies import API_REQUEST, USUAL_DELAYS, Delays


class Controller(Enum):
    """Who replaces a pod that ends (S5.11)."""

    NONE = "none"
    REPLICA_SET = "replicaSet"
    JOB = "job"


Durability = ports.Durability
"""What a power cut may take."""


class ContainerState(Enum):
    """What a container's status says of it."""

    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    WAITING = "waiting"


@dataclass(frozen=True, slots=True)
class ContainerStart:
    """How a container stands when the run begins.

    Attributes:
        restarts: How often it was started in place before.
    """

    state: ContainerState
    restarts: int = 0


@dataclass(frozen=True, slots=True)
class PodStart:
    """How a pod stands when the run begins; left out: it runs, and so do its containers.

    Attributes:
        gone: Whether the pod is in no API any more, so that only the node's records name it.
        restart_policy: `Always`, `OnFailure` or `Never`.
        containers: Containers whose state does not follow from the phase.
    """

    phase: str = "Running"
    reason: str = ""
    message: str = ""
    gone: bool = False
    restart_policy: str = "Always"
    containers: Mapping[ContainerName, ContainerStart] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NodeSpec:
    """One simulated node.

    Attributes:
        checkpoint: Content of the checkpoint file at the start, if any.
        pods: Pods that the node has at the start: bound to it, or named by the checkpoint only.
        pod_starts: How those pods stand that do not simply run.
    """

    name: NodeName
    numa_nodes: int = 0
    topology_manager_policy: str = "none"
    topology_manager_scope: str = "container"
    checkpoint: bytes | None = None
    pods: tuple[Pod, ...] = ()
    pod_starts: Mapping[PodUid, PodStart] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PluginLatency:
    """How long each call takes in virtual time."""

    allocate: Duration = Duration(2 * MILLISECOND)
    preferred_allocation: Duration = Duration(1 * MILLISECOND)
    pre_start: Duration = Duration(1 * MILLISECOND)


@dataclass(frozen=True, slots=True)
class PluginSpec:
    """One device plugin of one node.

    Attributes:
        devices: The list it reports when it starts.
        devices_after_reboot: The list it reports after a reboot; None for the same one.
        reregister_after: Delay from the removal of its socket (a kubelet start, S1.10) to its
            Register call; None when it does not come back by itself.
        starts_after_boot: Delay from boot to its Register call; None when a step starts it.
        response_envs: Whether Allocate answers with an env variable beside the device nodes.
        preferred: Ids that it prefers whatever it is asked; None for the first ones on offer.
        fail_allocate: Error text with which every Allocate fails; empty for success.
        fail_dial: Whether it does not serve the socket that it registers.
        fail_options: Error text with which every GetDevicePluginOptions fails.
        fail_list: Whether every ListAndWatch ends before its first message.
    """

    name: str
    node: NodeName
    resource: ResourceName
    devices: tuple[Device, ...]
    devices_after_reboot: tuple[Device, ...] | None = None
    pre_start_required: bool = False
    preferred_allocation: bool = False
    preferred: tuple[DeviceId, ...] | None = None
    reregister_after: Duration | None = Duration(SECOND)
    starts_after_boot: Duration | None = None
    latency: PluginLatency = field(default_factory=PluginLatency)
    response_envs: bool = True
    fail_allocate: str = ""
    empty_allocate: bool = False
    fail_preferred: str = ""
    fail_pre_start: str = ""
    fail_dial: bool = False
    fail_options: str = ""
    fail_list: bool = False


@dataclass(frozen=True, slots=True)
class PodSpec:
    """A pod that a step may create.

    Attributes:
        pod: Template; uid and creation time are given when it is created.
        restart_policy: `Always`, `OnFailure` or `Never`.
        termination_grace: From deletion to the end of its containers.
        replace_after: From the end of a pod to its replacement by a ReplicaSet.
        static: Whether it stands in a file on its node and not in the API (S5.3).
    """

    name: str
    pod: Pod
    node: NodeName | None = None
    controller: Controller = Controller.NONE
    restart_policy: str = "Always"
    termination_grace: Duration = Duration(30 * SECOND)
    replace_after: Duration = Duration(SECOND)
    static: bool = False


@dataclass(frozen=True, slots=True)
class ClientLimit:
    """What client-go lets through (S12.1).

    Attributes:
        qps: Requests a second in the long run; 0 for no limit.
        burst: Requests at once, when none was made for long.
    """

    qps: int
    burst: int


@dataclass(frozen=True, slots=True)
class ApiSpec:
    """The API server as kubelets find it, and their client of it.

    Attributes:
        p50, p99: How long a request takes (lognormal); the same for always equally long.
        client: The kubelet's main client; None for that of its version (`kubeAPIQPS`).
        status_coalesce: Whether several changes of one pod that wait are one patch, as in a kubelet
            (S12.3); else each is a GET and a PATCH of its own.
        bulk_bind: Most bindings in one request, of those that a strategy lets go together
            (its option `bulkBind`); the others are requests of their own, whatever stands here.
    """

    p50: Duration = API_REQUEST
    p99: Duration = API_REQUEST
    client: ClientLimit | None = None
    status_coalesce: bool = True
    bulk_bind: int = 16


@dataclass(frozen=True, slots=True)
class SimulationSpec:
    """One run, all choices made.

    Attributes:
        choice: `sorted` or `random` (from the seed).
        reservations: None for the persistence's default.
        persistence_options: E.g. `{"dirFsync": True}` as sorted pairs; a time is a duration.
        added_fsync: Extra time that every fsync takes.
        behaviors: How a kubelet version behaves.
        plugin_call_timeout: How long Allocate and GetPreferredAllocation are waited for; None for
            as long as they take, as every kubelet does (S1.24, S1.25).
        migrates: Whether nodes are migrated, so that all have a database.
        api: The API server and the kubelets' clients of it.
        delays: What API server and container runtime take.
    """

    nodes: tuple[NodeSpec, ...]
    plugins: tuple[PluginSpec, ...] = ()
    pods: tuple[PodSpec, ...] = ()
    kubelet_version: str = "1.36.2"
    persistence: str = "database"
    persistence_options: tuple[tuple[str, OptionValue], ...] = ()
    readmission: Readmission = Readmission.UPSTREAM
    reservations: Reservations | None = None
    durability: Durability = Durability.FULL
    choice: str = "sorted"
    seed: int = 0
    added_fsync: Duration = Duration(0)
    behaviors: Callable[[str], Behavior] = behavior_for
    plugin_call_timeout: Duration | None = None
    migrates: bool = False
    api: ApiSpec = field(default_factory=ApiSpec)
    delays: Delays = USUAL_DELAYS
