"""The switch table: what differs between kubelet versions, since which release, and who says so.

A row begins with the value of 1.10, the oldest kubelet that is replayed, and names the release of
every change with the patches to which it was ported back. `behavior_for` reads a version's column.

`1.20.2 list 4` is an entry of the recordings' list of differences to 1.36.2. `[?]` marks what is
believed and not verified. Where two recorded versions differ and nobody names the minor version of
the change, the old behavior is that of 1.24 and older (details 1); what changed between 1.32.10 and
1.36.2 without a name changed in 1.36 (kubelet-behaviour, appendix C).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from simulator.core.behavior import (
    Behavior,
    CheckpointFormat,
    DisconnectMatch,
    ExtendedResourceReset,
    HintNodes,
    ReadmissionHealthCheck,
    RunningCheck,
    VanishedDevice,
)
from simulator.core.kubelet_version import KubeletVersion, parse_version
from simulator.errors import ConfigError

OLDEST: Final = KubeletVersion(10, 0)
"""The oldest kubelet that is replayed; of older ones only checkpoint files are read."""

NEWEST: Final = KubeletVersion(36, 2)
"""The newest kubelet whose behavior was checked in its source."""

TRUST_CHECKPOINT: Final = "trust-checkpoint"
"""The profile of an idea that was never released (S5.16)."""


@dataclass(frozen=True, slots=True)
class Change:
    """From `since` on, and from each of `backports` on within its minor version, `value` holds."""

    value: object
    since: KubeletVersion
    backports: tuple[KubeletVersion, ...]
    source: str


@dataclass(frozen=True, slots=True)
class Switch:
    """One row of the table.

    Attributes:
        name: The field of `Behavior`.
        first: The value of 1.10.
        source: Who describes the old behavior.
        changes: In order of release; the last one that is in a version counts.
    """

    name: str
    source: str
    first: object
    changes: tuple[Change, ...] = ()

    def value(self, version: KubeletVersion) -> object:
        """Return the switch's value in a release."""
        value = self.first
        for change in self.changes:
            if version.is_at_least(change.since, change.backports):
                value = change.value
        return value


def _from(since: str, source: str, *, value: object, ports: tuple[str, ...] = ()) -> Change:
    backports = tuple(parse_version(port) for port in ports)
    return Change(value, parse_version(since), backports, source)


_V1: Final = frozenset({CheckpointFormat.V1})
_V2: Final = frozenset({CheckpointFormat.V2})
_UNCHECKED: Final = ReadmissionHealthCheck.ABSENT
_CHECKED: Final = ReadmissionHealthCheck.WITHOUT_RUNNING_CHECK
_CHECKED_UNLESS_RUNNING: Final = ReadmissionHealthCheck.AFTER_RUNNING_CHECK
_PR_116376: Final = ("1.27.2", "1.26.5", "1.25.10")
_PR_118635: Final = ("1.27.6", "1.26.9", "1.25.14")
_PR_126343: Final = ("1.31.1", "1.30.5", "1.29.9", "1.28.14")
_UNNAMED: Final = "details 1 [?]"

# fmt: off
SWITCHES: Final[tuple[Switch, ...]] = (
    # Checkpoint
    Switch("checkpoint_written", "S4.3", first=CheckpointFormat.V1, changes=(
        _from("1.20.0", "S4.2", value=CheckpointFormat.V2),
    )),
    Switch("checkpoints_read", "S4.3", first=_V1, changes=(
        _from("1.20.0", "S4.15", value=_V2),
        _from("1.23.0", "PR 102882", value=_V1 | _V2, ports=("1.22.5", "1.21.8", "1.20.14")),
        _from("1.30.0", "PR 123398", value=_V2),
    )),
    Switch("legacy_json_escapes", "1.20.2 list 24", first=True, changes=(
        _from("1.30.0", "Go 1.22, details 1", value=False),
    )),
    Switch("checkpoint_at_every_admission", "R50", first=True, changes=(
        _from("1.20.0", "PR 95602", value=False),
    )),
    Switch("lenient_allocate_responses", "1.32.10 list", first=False, changes=(
        _from("1.36.0", "appendix C 12 [?]", value=True),
    )),
    Switch("topologyless_under_node_zero", "S4.3", first=False, changes=(
        _from("1.20.0", "R102", value=True),
        _from("1.22.0", "PR 103289", value=False),
    )),
    Switch("cdi_devices_known", "1.20.2 list 23", first=False, changes=(
        _from("1.28.0", "PR 118254", value=True),
    )),
    # Allocation
    Switch("readmission_health_check", "S3 step F", first=_UNCHECKED, changes=(
        _from("1.28.0", "PR 116376", value=_CHECKED, ports=_PR_116376),
        _from("1.28.0", "PR 118635", value=_CHECKED_UNLESS_RUNNING, ports=_PR_118635),
    )),
    Switch("running_check", "S5.6", first=RunningCheck.FIRST, changes=(
        _from("1.36.0", "PR 135485", value=RunningCheck.ANY, ports=("1.35.4", "1.34.7")),
    )),
    Switch("vanished_device", "S3.14", first=VanishedDevice.WITHOUT_TOPOLOGY, changes=(
        _from("1.36.0", "appendix C 7 [?]", value=VanishedDevice.CRASH),
    )),
    Switch("sidecar_devices_dedicated", "1.20.2 list 6", first=False, changes=(
        _from("1.29.0", "PR 120461", value=True),
    )),
    Switch("claimed_resources_skipped", "S3.6", first=False, changes=(
        _from("1.36.0", "gate DRAExtendedResource", value=True),
    )),
    Switch("contracted_unregistered_text", "1.20.2 list 4", first=True, changes=(
        _from("1.28.0", "PR 116376", value=False, ports=_PR_116376),
    )),
    Switch("dumped_empty_response", "1.32.10 list 4", first=True, changes=(
        _from("1.36.0", "appendix C 12 [?]", value=False),
    )),
    Switch("reuse_into_missing_set_crashes", "1.20.2 list 9", first=True, changes=(
        _from("1.26.0", "PR 113021 [?]", value=False),
    )),
    Switch("rebuild_during_preference_crashes", "R107", first=True, changes=(
        _from("1.29.0", "PR 119561 [?]", value=False),
    )),
    Switch("zero_limits_skipped_at_start", "R124", first=False, changes=(
        _from("1.25.0", _UNNAMED, value=True),
    )),
    Switch("inactive_pods_reallocated", "1.20.2 list 17", first=True, changes=(
        _from("1.25.0", _UNNAMED, value=False),
    )),
    # Topology
    Switch("empty_topology_counts", "1.20.2 list 13", first=True, changes=(
        _from("1.25.0", _UNNAMED, value=False),
    )),
    Switch("hint_nodes", "S7.6", first=HintNodes.MACHINE, changes=(
        _from("1.36.0", "PR 138244", value=HintNodes.DEVICE_BEARING),
    )),
    Switch("sidecars_in_pod_request", "1.20.2 list 15", first=False, changes=(
        _from("1.29.0", "details 1", value=True),
    )),
    Switch("merge_needs_equal_masks", "1.20.2 list 16", first=False, changes=(
        _from("1.25.0", _UNNAMED, value=True),
    )),
    Switch("node_order_is_arbitrary", "1.20.2 list 12", first=True, changes=(
        _from("1.25.0", _UNNAMED, value=False),
    )),
    # Plugins and node
    Switch("disconnect_match", "1.20.2 list 20", first=DisconnectMatch.OWN_ENDPOINT, changes=(
        _from("1.25.0", "S1.22, details 1 [?]", value=DisconnectMatch.RESOURCE_NAME),
        _from("1.37.0", "PR 135437", value=DisconnectMatch.OWN_ENDPOINT),
    )),
    Switch("registered_options_used", "S1.12.6", first=True, changes=(
        _from("1.25.0", "PR 109016", value=False),
    )),
    Switch("register_asynchronous", "S1.12", first=True, changes=(
        _from("1.25.0", "PR 109016", value=False),
    )),
    Switch("plugin_directory_emptied", "S1.9", first=True, changes=(
        _from("1.36.0", "appendix C 1", value=False),
    )),
    Switch("unhealthy_devices_allocatable", "S8.10", first=True, changes=(
        _from("1.23.0", "PR 104123", value=False),
    )),
    Switch("extended_resource_reset", "S5.4", first=ExtendedResourceReset.NEVER, changes=(
        _from("1.11.0", "PR 64784", value=ExtendedResourceReset.ALWAYS),
        _from("1.15.0", "PR 77699", value=ExtendedResourceReset.WITHOUT_CHECKPOINT),
    )),
    # Kubelet
    Switch("terminated_pods_readmitted", "S5.7", first=True, changes=(
        _from("1.32.0", "PR 126343, back-port patches ±1", value=False, ports=_PR_126343),
    )),
    Switch("rejected_status_prefix", "S5.9", first="Pod ", changes=(
        _from("1.26.0", "PR 112644", value="Pod was rejected: "),
    )),
    Switch("rejected_pods_become_active", "S6.5a", first=False, changes=(
        _from("1.26.0", "details 4", value=True),
    )),
    Switch("resource_health_in_status", "S9.1", first=False, changes=(
        _from("1.36.0", "gate ResourceHealthStatus", value=True),
    )),
    Switch("pod_resources_releases", "R46", first=False, changes=(
        _from("1.20.0", "S6.2", value=True),
    )),
    Switch("pod_resources_active_pods_only", "S8.8", first=False, changes=(
        _from("1.34.0", "PR 132028", value=True),
    )),
    Switch("pod_resources_get_served", "S8.6", first=False, changes=(
        _from("1.34.0", "S8.6", value=True),
    )),
    Switch("api_qps", "S12.1", first=5, changes=(_from("1.27.0", "PR 116121", value=50),)),
    Switch("api_burst", "S12.1", first=10, changes=(_from("1.27.0", "PR 116121", value=100),)),
    Switch("watched_plugins_retried", "S1.35", first=False, changes=(
        _from("1.36.0", "PR 133335", value=True),
    )),
)
# fmt: on


def behavior_for(text: str) -> Behavior:
    """Return the behavior of a kubelet version.

    A version newer than those that were checked behaves like the newest one, except for what is
    known to have changed since; `Behavior.note` says so.

    Args:
        text: See `parse_version`; or `trust-checkpoint`, the one profile that is no release.

    Raises:
        ConfigError: Not a kubelet version, or older than 1.10.
    """
    if text == TRUST_CHECKPOINT:
        return replace(
            _column(NEWEST),
            version=TRUST_CHECKPOINT,
            trusts_checkpoint=True,
            note="no release behaves like this: it is PR 137919, closed unmerged",
        )
    version = parse_version(text)
    if version < OLDEST:
        message = (
            f"kubelet {version} is older than 1.10, the oldest that can be replayed; "
            "of older ones only checkpoint files can be read"
        )
        raise ConfigError(message)
    return _column(version)


def _column(version: KubeletVersion) -> Behavior:
    note = ""
    if version > NEWEST and version != KubeletVersion(NEWEST.minor):
        note = (
            f"kubelet {version} is newer than {NEWEST}, the newest known; it behaves like that one"
        )
    behavior = Behavior(version=str(version), note=note)
    for switch in SWITCHES:
        # The rows are named like the fields, so a frozen value is filled before anyone sees it.
        object.__setattr__(behavior, switch.name, switch.value(version))
    return behavior
