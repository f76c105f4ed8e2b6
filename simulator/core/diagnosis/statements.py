"""Statements about versions that several entries of the catalogue share."""

from __future__ import annotations

from simulator.core.behavior import Behavior, DisconnectMatch, ReadmissionHealthCheck, RunningCheck
from simulator.core.diagnosis.known import Point


def checks_health(behavior: Behavior) -> bool:
    """The health of devices is looked at before anything else (steps D and E)."""
    return behavior.readmission_health_check is not ReadmissionHealthCheck.ABSENT


def _checks_running_pods_too(behavior: Behavior) -> bool:
    return behavior.readmission_health_check is ReadmissionHealthCheck.WITHOUT_RUNNING_CHECK


def spares_running_containers(behavior: Behavior) -> bool:
    """A container that ran at kubelet start is let through (step B)."""
    return behavior.readmission_health_check is ReadmissionHealthCheck.AFTER_RUNNING_CHECK


def _may_see_an_old_instance(behavior: Behavior) -> bool:
    return spares_running_containers(behavior) and behavior.running_check is RunningCheck.FIRST


def _keeps_stale_devices(behavior: Behavior) -> bool:
    return not checks_health(behavior)


def _cuts_the_newer_plugin(behavior: Behavior) -> bool:
    return behavior.disconnect_match is DisconnectMatch.RESOURCE_NAME


def knows_topology(behavior: Behavior) -> bool:
    """There is a topology manager, since 1.16 (table 5.4)."""
    return behavior.device_topology_known


RESTART_COST = (
    "a kubelet restart can itself end running pods with devices: before their plugins are back, in "
    "some versions (R01), and with finished init containers that had devices, in later ones (R36)"
)
"""What has to be said wherever a kubelet restart is advised."""

RUNNING_PODS_REFUSED = Point(
    "a mere kubelet restart refuses running pods too, and kills them", _checks_running_pods_too
)
RUNNING_PODS_SPARED = Point(
    "pods found running at a kubelet restart are let through", spares_running_containers
)
OLD_INSTANCE_SEEN = Point(
    "a container that had been restarted before may pass for not running",
    _may_see_an_old_instance,
)
STALE_DEVICES_KEPT = Point(
    "a pod with recorded devices is admitted instead, on devices that may be gone",
    _keeps_stale_devices,
)
NEW_PODS_COUNTED = Point(
    "a new pod is told that the requested number is unavailable instead", _keeps_stale_devices
)
NEWER_PLUGIN_CUT_OFF = Point(
    "the end of an older plugin instance cuts off the newer one of the same resource",
    _cuts_the_newer_plugin,
)
TERMINATED_READMITTED = Point(
    "a kubelet restart admits completed pods again and may turn them into Failed",
    lambda behavior: behavior.terminated_pods_readmitted,
)
ACTIVE_AFTER_REFUSAL = Point(
    "a refused pod counts as active again for a while, and with it its request and its devices",
    lambda behavior: behavior.rejected_pods_become_active,
)
NEVER_TRIED_AGAIN = Point(
    "a plugin whose registration failed may pass for registered and never be tried again",
    lambda behavior: not behavior.watched_plugins_retried,
)
