"""What differs between kubelet versions: a frozen set of switches for each version.

Every switch names its source. A `Behavior` is looked at where the decision is made; no other code
compares version numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from simulator.core.instants import MINUTE, Duration


class CheckpointFormat(Enum):
    """The formats of the checkpoint file (S4.2, S4.3)."""

    BARE = "bare"
    V1 = "v1"
    V2 = "v2"


class ReadmissionHealthCheck(Enum):
    """When a container that already has its devices is checked for health (steps B to F)."""

    ABSENT = "never"
    WITHOUT_RUNNING_CHECK = "always"
    AFTER_RUNNING_CHECK = "unlessRunning"


class RunningCheck(Enum):
    """Which container ids are looked up to tell whether a container runs (S5.6)."""

    FIRST = "first"
    ANY = "any"


class VanishedDevice(Enum):
    """What a recorded id that left the plugin's list is taken for (S3.14, S7.7)."""

    CRASH = "crash"
    WITHOUT_TOPOLOGY = "withoutTopology"


class HintNodes(Enum):
    """NUMA nodes over which hints are generated (S7.6)."""

    MACHINE = "machine"
    DEVICE_BEARING = "deviceBearing"


class ExtendedResourceReset(Enum):
    """When extended resources are set to 0 at kubelet start (S2.16)."""

    NEVER = "never"
    ALWAYS = "always"
    WITHOUT_CHECKPOINT = "withoutCheckpoint"


class DisconnectMatch(Enum):
    """Which endpoint the end of a ListAndWatch stream disconnects (S1.22)."""

    OWN_ENDPOINT = "ownEndpoint"
    RESOURCE_NAME = "resourceName"


class ServedMethod(Enum):
    """Whether a method of PodResources is there (S8.6)."""

    ABSENT = "absent"
    OFF = "off"
    ON = "on"


class Readmission(Enum):
    """What happens to a pod whose recorded devices are not available at readmission.

    `upstream` is the version's own rule, `pinned` the same devices or failure, `reassign` chooses
    again, `wait` asks again when the plugin is back (what users ask for, S13.5).
    """

    UPSTREAM = "upstream"
    PINNED = "pinned"
    REASSIGN = "reassign"
    WAIT = "wait"


class Reservations(Enum):
    """What a failed allocation leaves behind: the real one's leaks, or nothing."""

    UPSTREAM = "upstream"
    TRANSACTIONAL = "transactional"


@dataclass(frozen=True, slots=True, kw_only=True)
class Behavior:
    """The switches of one kubelet version; defaults are those of 1.36.2.

    Attributes:
        version: What the profile is called.
        note: What a reader has to know about the profile, e.g. that its version is newer than those
            that were checked; empty for nothing.

    The other fields are described where they are set: `simulator.core.switch_rows`.
    """

    version: str = "1.36.2"
    note: str = ""
    # Checkpoint
    checkpoint_written: CheckpointFormat = CheckpointFormat.V2
    checkpoints_read: frozenset[CheckpointFormat] = frozenset({CheckpointFormat.V2})
    checkpoint_at_every_admission: bool = False
    topologyless_under_node_zero: bool = False
    legacy_json_escapes: bool = False
    lenient_allocate_responses: bool = True
    cdi_devices_known: bool = True
    # Allocation
    readmission_health_check: ReadmissionHealthCheck = ReadmissionHealthCheck.AFTER_RUNNING_CHECK
    running_check: RunningCheck = RunningCheck.ANY
    trusts_checkpoint: bool = False
    vanished_device: VanishedDevice = VanishedDevice.CRASH
    sidecar_devices_dedicated: bool = True
    claimed_resources_skipped: bool = True
    preferred_allocation_known: bool = True
    reuse_into_missing_set_crashes: bool = False
    rebuild_during_preference_crashes: bool = False
    zero_limits_skipped_at_start: bool = True
    inactive_pods_reallocated: bool = False
    start_waits_for_plugin: bool = False
    cdi_devices_passed: bool = True
    allocation_by_predicates: bool = False
    contracted_unregistered_text: bool = False
    dumped_empty_response: bool = False
    # Topology
    device_topology_known: bool = True
    recorded_devices_hinted: bool = True
    empty_topology_counts: bool = False
    hint_nodes: HintNodes = HintNodes.DEVICE_BEARING
    sidecars_in_pod_request: bool = True
    merge_needs_equal_masks: bool = True
    node_order_is_arbitrary: bool = False
    # Plugins and node
    endpoint_grace_period: Duration = Duration(5 * MINUTE)
    same_devices_ignored: bool = False
    disconnect_match: DisconnectMatch = DisconnectMatch.RESOURCE_NAME
    register_asynchronous: bool = False
    registered_options_used: bool = False
    watched_plugins_retried: bool = True
    registration_health_needs_start: bool = False
    plugin_directory_emptied: bool = False
    extended_resource_reset: ExtendedResourceReset = ExtendedResourceReset.WITHOUT_CHECKPOINT
    # Pods
    terminated_pods_readmitted: bool = False
    rejected_status_prefix: str = "Pod was rejected: "
    rejected_pods_become_active: bool = True
    resource_health_in_status: bool = True
    health_updates_by_resource: bool = False
    rejections_counted: bool = True
    # PodResources
    pod_resources_versions: frozenset[str] = frozenset({"v1", "v1alpha1"})
    pod_resources_releases: bool = True
    pod_resources_allocatable_served: ServedMethod = ServedMethod.ON
    unhealthy_devices_allocatable: bool = False
    pod_resources_entry_per_device: bool = True
    pod_resources_rate_limited: bool = True
    pod_resources_sidecars_listed: bool = True
    pod_resources_active_pods_only: bool = True
    pod_resources_terminal_pods_hidden: bool = True
    pod_resources_get_served: ServedMethod = ServedMethod.ON
    # API client
    api_qps: int = 50
    api_burst: int = 100
    event_qps: int = 50
    event_burst: int = 100
