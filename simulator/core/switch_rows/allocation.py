"""How a container gets its devices, at admission and at its start."""

from __future__ import annotations

from typing import Final

from simulator.core.behavior import ReadmissionHealthCheck, RunningCheck, VanishedDevice
from simulator.core.switch_rows.row import UNNAMED, Switch, change

_PR_116376: Final = ("1.27.2", "1.26.5", "1.25.10")
_PR_118635: Final = ("1.27.6", "1.26.9", "1.25.14")

# fmt: off
ROWS: Final[tuple[Switch, ...]] = (
    Switch(
        "readmission_health_check",
        "when a pod that is admitted again needs its recorded devices to be registered and healthy",
        "S3 step F", first=ReadmissionHealthCheck.ABSENT, changes=(
        change("1.28.0", "PR 116376", ports=_PR_116376,
               value=ReadmissionHealthCheck.WITHOUT_RUNNING_CHECK),
        change("1.28.0", "PR 118635", ports=_PR_118635,
               value=ReadmissionHealthCheck.AFTER_RUNNING_CHECK),
    )),
    Switch(
        "running_check",
        "which container ids are looked up to tell whether a container runs",
        "S5.6", first=RunningCheck.FIRST, changes=(
        change("1.36.0", "PR 135485", value=RunningCheck.ANY, ports=("1.35.4", "1.34.7")),
    )),
    Switch(
        "trusts_checkpoint",
        "a recorded container passes without a health check until its plugin has reported",
        "S5.16", first=False,
    ),
    Switch(
        "vanished_device",
        "what becomes of a recorded device that has left its plugin's list",
        "S3.14", first=VanishedDevice.WITHOUT_TOPOLOGY, changes=(
        change("1.36.0", "appendix C 7 [?]", value=VanishedDevice.CRASH),
    )),
    Switch(
        "sidecar_devices_dedicated",
        "a sidecar keeps its devices for itself",
        "1.20.2 list 6", first=False, changes=(
        change("1.29.0", "PR 120461", value=True),
    )),
    Switch(
        "claimed_resources_skipped",
        "a resource that a claim (DRA) serves is left to it",
        "S3.6", first=False, changes=(
        change("1.36.0", "gate DRAExtendedResource", value=True),
    )),
    Switch(
        "preferred_allocation_known",
        "a plugin may be asked which devices it prefers",
        "S1.7", first=False, changes=(
        change("1.19.0", "S1.7", value=True),
    )),
    Switch(
        "reuse_into_missing_set_crashes",
        "the kubelet crashes when an init container hands devices on and no pod holds the resource",
        "1.20.2 list 9", first=True, changes=(
        change("1.26.0", "PR 113021 [?]", value=False),
    )),
    Switch(
        "rebuild_during_preference_crashes",
        "the kubelet crashes when the last holder goes while a plugin is asked for its preference",
        "R107", first=True, changes=(
        change("1.29.0", "PR 119561 [?]", value=False),
    )),
    Switch(
        "zero_limits_skipped_at_start",
        "a limit of 0 is no reason to call the plugin at container start",
        "R124", first=False, changes=(
        change("1.25.0", UNNAMED, value=True),
    )),
    Switch(
        "inactive_pods_reallocated",
        "a container start allocates devices also for a pod that is not active",
        "1.20.2 list 17", first=True, changes=(
        change("1.25.0", UNNAMED, value=False),
    )),
    Switch(
        "start_waits_for_plugin",
        "after a kubelet start a container start fails until the plugin has registered",
        "S3.26", first=False, changes=(
        change("1.12.0", "PR 67145 (R13)", value=True),
        change("1.13.0", "R13", value=False),
    )),
    Switch(
        "cdi_devices_passed",
        "CDI devices of a response reach the container runtime",
        "S10.6", first=False, changes=(
        change("1.29.0", "S1.7, gate DevicePluginCDIDevices", value=True),
    )),
    Switch(
        "allocation_by_predicates",
        "devices are given with the predicates: `Update plugin resources failed`, not `Allocate`",
        "S13.1", first=True, changes=(
        change("1.18.0", "S13.1, table 5.4 [?]", value=False),
    )),
    Switch(
        "contracted_unregistered_text",
        "the message says `can't allocate unregistered device`, not `cannot`",
        "1.20.2 list 4", first=True, changes=(
        change("1.28.0", "PR 116376", value=False, ports=_PR_116376),
    )),
    Switch(
        "dumped_empty_response",
        "the message about an empty response ends with a dump of it",
        "1.32.10 list 4", first=True, changes=(
        change("1.36.0", "appendix C 12 [?]", value=False),
    )),
)
# fmt: on
