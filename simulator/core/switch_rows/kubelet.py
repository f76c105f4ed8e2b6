"""Pods and their status, the PodResources service, and the API client's limits."""

from __future__ import annotations

from typing import Final

from simulator.core.behavior import ServedMethod
from simulator.core.switch_rows.row import UNNAMED, Switch, change

_PR_126343: Final = ("1.31.1", "1.30.5", "1.29.9", "1.28.14")
_NOTHING: Final[frozenset[str]] = frozenset()
_V1ALPHA1: Final = frozenset({"v1alpha1"})
_V1: Final = frozenset({"v1"})

# fmt: off
PODS: Final[tuple[Switch, ...]] = (
    Switch(
        "terminated_pods_readmitted",
        "a kubelet start admits also pods that have succeeded or failed, and may fail them",
        "S5.7", first=True, changes=(
        change("1.32.0", "PR 126343, back-port patches ±1", value=False, ports=_PR_126343),
    )),
    Switch(
        "rejected_status_prefix",
        "how the status message of a rejected pod begins",
        "S5.9", first="Pod ", changes=(
        change("1.26.0", "PR 112644", value="Pod was rejected: "),
    )),
    Switch(
        "rejected_pods_become_active",
        "a rejected pod counts as active for a while after the API has echoed its status",
        "S6.5a", first=False, changes=(
        change("1.26.0", "details 4", value=True),
    )),
    Switch(
        "resource_health_in_status",
        "the pod status tells the health of its devices",
        "S9.1", first=False, changes=(
        change("1.36.0", "gate ResourceHealthStatus", value=True),
    )),
    Switch(
        "health_updates_by_resource",
        "a change of health reaches the pod that has the device of this resource",
        "S9.6", first=False, changes=(
        change("1.37.0", "PR 140323", value=True),
    )),
    Switch(
        "rejections_counted",
        "the metric kubelet_admission_rejections_total is there",
        "S11", first=False, changes=(
        change("1.32.0", "S11", value=True),
    )),
)

POD_RESOURCES: Final[tuple[Switch, ...]] = (
    Switch(
        "pod_resources_versions",
        "API versions of PodResources that are served",
        "S8.6", first=_NOTHING, changes=(
        change("1.15.0", "S8.6", value=_V1ALPHA1),
        change("1.20.0", "S8.6", value=_V1ALPHA1 | _V1),
    )),
    Switch(
        "pod_resources_releases",
        "List frees the devices of pods that have ended before it answers",
        "R46", first=False, changes=(
        change("1.20.0", "S6.2", value=True),
    )),
    Switch(
        "pod_resources_allocatable_served",
        "GetAllocatableResources is there: behind a gate that is off, or on",
        "S8.6", first=ServedMethod.ABSENT, changes=(
        change("1.21.0", "S8.6", value=ServedMethod.OFF),
        change("1.23.0", "S8.6", value=ServedMethod.ON),
    )),
    Switch(
        "unhealthy_devices_allocatable",
        "GetAllocatableResources counts unhealthy devices",
        "S8.10", first=True, changes=(
        change("1.23.0", "PR 104123", value=False),
    )),
    Switch(
        "pod_resources_entry_per_device",
        "a device is an entry of its own, without topology when it has none",
        "1.20.2 list 19", first=False, changes=(
        change("1.25.0", UNNAMED, value=True),
    )),
    Switch(
        "pod_resources_rate_limited",
        "calls beyond 100 a second are rejected",
        "S8.3", first=False, changes=(
        change("1.27.0", "PR 116459", value=True),
    )),
    Switch(
        "pod_resources_sidecars_listed",
        "List contains sidecars",
        "R42", first=False, changes=(
        change("1.29.0", "PR 120718", value=True),
    )),
    Switch(
        "pod_resources_active_pods_only",
        "List contains active pods only, not those that have ended",
        "S8.8", first=False, changes=(
        change("1.34.0", "PR 132028", value=True),
    )),
    Switch(
        "pod_resources_terminal_pods_hidden",
        "List leaves out pods that have ended even where it is not about active pods only",
        "S8.8, R46", first=False, changes=(
        change("1.36.0", "PR 135485", value=True, ports=("1.35.4", "1.34.7")),
    )),
    Switch(
        "pod_resources_get_served",
        "Get is there: behind a gate that is off, or on",
        "S8.6", first=ServedMethod.ABSENT, changes=(
        change("1.27.0", "S8.6", value=ServedMethod.OFF),
        change("1.34.0", "S8.6", value=ServedMethod.ON),
    )),
)

API_CLIENT: Final[tuple[Switch, ...]] = (
    Switch(
        "api_qps", "API requests a second",
        "S12.1", first=5, changes=(change("1.27.0", "PR 116121", value=50),)),
    Switch(
        "api_burst", "API requests at once",
        "S12.1", first=10, changes=(change("1.27.0", "PR 116121", value=100),)),
    Switch(
        "event_qps", "events a second",
        "S12.1", first=5, changes=(change("1.27.0", "PR 116121", value=50),)),
    Switch(
        "event_burst", "events at once",
        "S12.1", first=10, changes=(change("1.27.0", "PR 116121", value=100),)),
)
# fmt: on
