"""The witnesses: for every value of every switch, who notices that it is another one.

A scenario's line names the profile that is flipped by a version, and the value it gets instead. A
short run in the core is a witness for all pairs of its switch that have no scenario.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from simulator.core.behavior import (
    CheckpointFormat,
    DisconnectMatch,
    ExtendedResourceReset,
    HintNodes,
    ReadmissionHealthCheck,
    RunningCheck,
    VanishedDevice,
)
from simulator.core.instants import Duration
from simulator.core.switches import SWITCHES, TRUST_CHECKPOINT, behavior_for, profiles
from tests.witnesses import in_core, of_api_client, of_pod_resources
from tests.witnesses.flipping import Behaviors, Flip, observe_scenario, pairs_of


@dataclass(frozen=True, slots=True)
class InScenario:
    """A built-in scenario that notices a flip.

    Attributes:
        run: Version in which the scenario runs, where that is not the flipped one: it upgrades.
    """

    flip: Flip
    scenario: str
    run: str = ""
    persistence: str = "checkpoint"

    @property
    def name(self) -> str:
        """The witness in words."""
        return f"scenario {self.scenario}"

    def observe(self, behaviors: Behaviors) -> object:
        """Return what is seen."""
        version = self.run or self.flip.version
        return observe_scenario(self.scenario, version, behaviors, self.persistence)


@dataclass(frozen=True, slots=True)
class InCore:
    """A short run that notices a flip."""

    flip: Flip
    run: in_core.CoreWitness

    @property
    def name(self) -> str:
        """The witness in words."""
        return f"run      {self.run.__name__}"

    def observe(self, behaviors: Behaviors) -> object:
        """Return what is seen."""
        return self.run(behaviors(self.flip.version))


Witness = InScenario | InCore


def _seen(scenario: str, switch: str, version: str, *, to: object, run: str = "") -> InScenario:
    return InScenario(Flip(switch, version, to), scenario, run)


_V1: Final = frozenset({CheckpointFormat.V1})
_V2: Final = frozenset({CheckpointFormat.V2})
_V1_OR_V2: Final = _V1 | _V2
_NEVER: Final = ReadmissionHealthCheck.ABSENT
_ALWAYS: Final = ReadmissionHealthCheck.WITHOUT_RUNNING_CHECK
_UNLESS_RUNNING: Final = ReadmissionHealthCheck.AFTER_RUNNING_CHECK
_OWN: Final = DisconnectMatch.OWN_ENDPOINT
_BY_NAME: Final = DisconnectMatch.RESOURCE_NAME
_RESET_NEVER: Final = ExtendedResourceReset.NEVER
_RESET_ALWAYS: Final = ExtendedResourceReset.ALWAYS
_RESET_WITHOUT_FILE: Final = ExtendedResourceReset.WITHOUT_CHECKPOINT
_LATE: Final = "kubelet-restart-late-plugin"
_REBOOT: Final = "reboot-pod-before-plugin"
_VANISHED: Final = "vanished-device-with-topology"
_UPGRADE: Final = "upgrade-1-19-to-1-36"
_ADMISSION: Final = "admission-fails-in-second-container"

SCENARIOS: Final = (
    _seen(_UPGRADE, "checkpoint_written", "1.19.16", to=CheckpointFormat.V2),
    _seen(_LATE, "checkpoint_written", "1.24.0", to=CheckpointFormat.V1),
    _seen(_LATE, "checkpoints_read", "1.19.16", to=_V2),
    _seen("upgrade-by-way-of-1-23", "checkpoints_read", "1.19.16", to=_V1_OR_V2),
    _seen(_UPGRADE, "checkpoints_read", "1.20.0", to=_V1_OR_V2, run="1.19.16"),
    _seen(_LATE, "checkpoints_read", "1.24.0", to=_V1),
    _seen(_LATE, "checkpoints_read", "1.36.2", to=_V1),
    _seen("disk-full-at-readmission", "checkpoint_at_every_admission", "1.19.16", to=False),
    _seen("disk-full-at-readmission", "checkpoint_at_every_admission", "1.24.0", to=True),
    _seen("preferred-devices", "topologyless_under_node_zero", "1.20.2", to=False),
    _seen("preferred-devices", "topologyless_under_node_zero", "1.24.0", to=True),
    _seen(_REBOOT, "readmission_health_check", "1.24.0", to=_ALWAYS),
    _seen(_REBOOT, "readmission_health_check", "1.24.0", to=_UNLESS_RUNNING),
    _seen(_LATE, "readmission_health_check", "1.27.2", to=_NEVER),
    _seen(_LATE, "readmission_health_check", "1.27.2", to=_UNLESS_RUNNING),
    _seen(_REBOOT, "readmission_health_check", "1.36.2", to=_NEVER),
    _seen(_LATE, "readmission_health_check", "1.36.2", to=_ALWAYS),
    _seen("container-restarted-before", "running_check", "1.33.1", to=RunningCheck.ANY),
    _seen("container-restarted-before", "running_check", "1.34.7", to=RunningCheck.FIRST),
    _seen("restart-init-shares-device", "trusts_checkpoint", "1.36.2", to=True),
    _seen("restart-init-shares-device", "trusts_checkpoint", TRUST_CHECKPOINT, to=False),
    _seen(_VANISHED, "vanished_device", "1.31.4", to=VanishedDevice.CRASH),
    _seen(_VANISHED, "vanished_device", "1.36.2", to=VanishedDevice.WITHOUT_TOPOLOGY),
    _seen("sidecar-devices", "sidecar_devices_dedicated", "1.28.0", to=True),
    _seen("sidecar-devices", "sidecar_devices_dedicated", "1.29.0", to=False),
    _seen("preferred-devices", "preferred_allocation_known", "1.18.0", to=True),
    _seen("preferred-devices", "preferred_allocation_known", "1.24.0", to=False),
    _seen("container-restarted-before", "start_waits_for_plugin", "1.12.0", to=False),
    _seen("container-restarted-before", "start_waits_for_plugin", "1.24.0", to=True),
    _seen(_ADMISSION, "allocation_by_predicates", "1.17.0", to=False),
    _seen(_ADMISSION, "allocation_by_predicates", "1.24.0", to=True),
    _seen("plugin-never-back", "contracted_unregistered_text", "1.24.0", to=False),
    _seen("plugin-never-back", "contracted_unregistered_text", "1.36.2", to=True),
    _seen("empty-allocate-answer", "dumped_empty_response", "1.24.0", to=False),
    _seen("empty-allocate-answer", "dumped_empty_response", "1.36.2", to=True),
    _seen("leaked-reservation", "device_topology_known", "1.10.0", to=True),
    _seen("leaked-reservation", "device_topology_known", "1.24.0", to=False),
    _seen("topology-policies-over-restart", "recorded_devices_hinted", "1.16.0", to=True),
    _seen("topology-policies-over-restart", "recorded_devices_hinted", "1.36.2", to=False),
    _seen("topology-without-nodes", "empty_topology_counts", "1.24.17", to=False),
    _seen("topology-without-nodes", "empty_topology_counts", "1.36.2", to=True),
    _seen("devices-of-numa-node-zero", "hint_nodes", "1.22.0", to=HintNodes.DEVICE_BEARING),
    _seen("devices-of-numa-node-zero", "hint_nodes", "1.36.2", to=HintNodes.MACHINE),
    _seen(_LATE, "endpoint_grace_period", "1.24.0", to=Duration(0)),
    _seen("plugin-back-after-grace", "same_devices_ignored", "1.10.0", to=False),
    _seen("plugin-back-after-grace", "same_devices_ignored", "1.24.0", to=True),
    _seen("plugin-instances-overlap", "disconnect_match", "1.24.0", to=_BY_NAME),
    _seen("plugin-instances-overlap", "disconnect_match", "1.36.2", to=_OWN),
    _seen("plugin-unreachable", "register_asynchronous", "1.24.0", to=False),
    _seen("plugin-unreachable", "register_asynchronous", "1.25.0", to=True),
    _seen("plugin-fails-at-registration", "registered_options_used", "1.24.0", to=False),
    _seen("plugin-fails-at-registration", "registered_options_used", "1.25.0", to=True),
    _seen("state-file-damaged", "extended_resource_reset", "1.24.0", to=_RESET_ALWAYS),
    _seen("sidecar-devices", "extended_resource_reset", "1.10.0", to=_RESET_ALWAYS),
    _seen("sidecar-devices", "extended_resource_reset", "1.12.0", to=_RESET_NEVER),
    _seen("sidecar-devices", "extended_resource_reset", "1.12.0", to=_RESET_WITHOUT_FILE),
    _seen("completed-pod-readmitted", "terminated_pods_readmitted", "1.31.0", to=False),
    _seen("completed-pod-readmitted", "terminated_pods_readmitted", "1.31.1", to=True),
    _seen(_ADMISSION, "rejected_status_prefix", "1.24.0", to="Pod was rejected: "),
    _seen(_ADMISSION, "rejected_status_prefix", "1.36.2", to="Pod "),
    _seen(_ADMISSION, "rejected_pods_become_active", "1.24.0", to=True),
    _seen(_ADMISSION, "rejected_pods_become_active", "1.36.2", to=False),
    _seen("completed-pod-readmitted", "resource_health_in_status", "1.24.0", to=True),
    _seen("completed-pod-readmitted", "resource_health_in_status", "1.36.2", to=False),
    _seen("resource-renamed-while-held", "health_updates_by_resource", "1.36.2", to=True),
    _seen("resource-renamed-while-held", "health_updates_by_resource", "1.37.0", to=False),
    _seen("unhealthy-devices", "unhealthy_devices_allocatable", "1.22.17", to=False),
    _seen("unhealthy-devices", "unhealthy_devices_allocatable", "1.36.2", to=True),
)

CORE: Final[dict[str, in_core.CoreWitness]] = {
    "checkpoints_read": in_core.start_with_files_of_other_versions,
    "legacy_json_escapes": in_core.write_an_id_with_a_backspace,
    "lenient_allocate_responses": in_core.read_a_response_of_a_wrong_wire_type,
    "cdi_devices_known": in_core.cdi_devices_of_a_file,
    "readmission_health_check": in_core.readmission_with_other_devices,
    "start_waits_for_plugin": in_core.container_start_before_the_plugin_is_back,
    "contracted_unregistered_text": in_core.admission_after_the_resource_has_gone,
    "cdi_devices_passed": in_core.start_a_container_with_cdi_devices,
    "vanished_device": in_core.device_vanishes_during_allocate,
    "claimed_resources_skipped": in_core.limit_that_a_claim_serves,
    "reuse_into_missing_set_crashes": in_core.init_devices_without_a_holder,
    "rebuild_during_preference_crashes": in_core.last_holder_goes_while_the_plugin_is_asked,
    "zero_limits_skipped_at_start": in_core.limit_of_zero_at_container_start,
    "inactive_pods_reallocated": in_core.start_of_a_pod_that_is_not_active,
    "recorded_devices_hinted": in_core.restart_of_an_aligned_pod,
    "empty_topology_counts": in_core.topology_without_nodes,
    "hint_nodes": in_core.two_resources_without_a_common_node,
    "sidecars_in_pod_request": in_core.sidecar_beside_a_container_in_pod_scope,
    "merge_needs_equal_masks": in_core.hints_with_different_nodes,
    "node_order_is_arbitrary": in_core.device_on_two_nodes,
    "plugin_directory_emptied": in_core.file_of_a_write_that_a_crash_cut_off,
    "extended_resource_reset": in_core.extended_resources_at_start,
    "unhealthy_devices_allocatable": in_core.allocatable_with_an_unhealthy_device,
    "watched_plugins_retried": in_core.watched_plugin_whose_registration_failed,
    "registration_health_needs_start": (in_core.health_before_the_registration_server_has_started),
    "rejections_counted": in_core.counters_after_a_refused_pod,
    "pod_resources_versions": of_pod_resources.served,
    "pod_resources_releases": of_pod_resources.list_after_a_pod_has_ended,
    "pod_resources_allocatable_served": of_pod_resources.served,
    "pod_resources_entry_per_device": of_pod_resources.entries_of_devices_of_one_node,
    "pod_resources_rate_limited": of_pod_resources.eleven_calls_at_once,
    "pod_resources_sidecars_listed": of_pod_resources.list_with_a_sidecar,
    "pod_resources_active_pods_only": of_pod_resources.list_after_a_pod_has_ended,
    "pod_resources_terminal_pods_hidden": (
        of_pod_resources.list_after_a_pod_has_ended_with_the_gate_off
    ),
    "pod_resources_get_served": of_pod_resources.served,
    "api_qps": of_api_client.statuses_of_thirty_pods_at_once,
    "api_burst": of_api_client.statuses_of_thirty_pods_at_once,
    "event_qps": of_api_client.events_of_pods_refused_at_once,
    "event_burst": of_api_client.events_of_pods_refused_at_once,
}
"""Witnesses for what no scenario of the list is about: pairs of values, or profiles."""

CORE_PROFILES: Final = ("1.28.0", "1.36.0", "1.24.0", "1.20.0", "1.16.0")
"""Where a short run is done: in the first of these that has the value, else in the oldest."""


def _in_core() -> Iterator[InCore]:
    listed = {(one.flip.switch, one.flip.value, one.flip.other) for one in SCENARIOS}
    for switch in SWITCHES:
        for value, other in pairs_of(switch.name):
            if switch.name in CORE and (switch.name, value, other) not in listed:
                flip = Flip(switch.name, _profile_with(switch.name, value), other)
                yield InCore(flip, CORE[switch.name])


def _profile_with(name: str, value: object) -> str:
    versions = (*CORE_PROFILES, *profiles().values())
    return next(one for one in versions if getattr(behavior_for(one), name) == value)


WITNESSES: Final[tuple[Witness, ...]] = (*SCENARIOS, *_in_core())
