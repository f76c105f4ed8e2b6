"""What is said about a node: by its kubelet, by PodResources, by the scheduler."""

from __future__ import annotations

from typing import Final

from simulator.core.behavior import ServedMethod
from simulator.core.diagnosis.known import Known
from simulator.core.diagnosis.texts import phrase

REBOOTED: Final = Known(
    key="nodeRebooted",
    rules=("S5.18", "S5.19"),
    place="the kubelet, at the first node status after its start",
    texts=(phrase(r"Node (?P<name>\S+) has been rebooted, boot id: (?P<uid>\S+)"),),
    means="The machine of node {name} was booted anew; no container of before runs.",
    why=(
        "Every pod of the node goes through admission again; those whose plugin has not "
        "registered by then are refused, or run on devices of before, by version."
    ),
    advice=("See what became of the node's pods: rebind diagnose --pod FILE.",),
    reports=("R03", "R02"),
)

INSUFFICIENT: Final = Known(
    key="insufficientResource",
    rules=("S2.12", "S2.15"),
    place="the scheduler, looking for a node",
    texts=(phrase(r"Insufficient (?P<resource>[a-z0-9][-a-z0-9.]*/[A-Za-z0-9][-A-Za-z0-9_.]*)"),),
    means="No node has enough {resource} allocatable that other pods do not request.",
    why=(
        "Pods request all of it, or a plugin is away: then its node keeps the capacity and shows "
        "0 allocatable."
    ),
    versions="any version; it is the scheduler that says it",
    advice=(
        (
            "Compare capacity and allocatable of {resource} on the nodes; where allocatable is 0, "
            "look at the device plugin's pod, and restart it."
        ),
    ),
    reports=("R16", "R17", "R20", "R21", "R28"),
)

RATE_LIMITED: Final = Known(
    key="podResourcesRateLimit",
    rules=("S8.3",),
    place="the kubelet's PodResources API",
    texts=(
        phrase(r"rejected by rate limit", lambda behavior: behavior.pod_resources_rate_limited),
    ),
    means="More than 100 calls a second came in, of all clients together.",
    why="The limit is shared by every monitoring agent on the node.",
    advice=("Let the agents ask less often.",),
)

GET_DISABLED: Final = Known(
    key="podResourcesGetDisabled",
    rules=("S8.6",),
    place="the kubelet's PodResources API",
    texts=(phrase(r"PodResources API Get method disabled"),),
    versions="1.27 to 1.33",
    means="This kubelet does not serve Get.",
    why="The feature gate KubeletPodResourcesGet is off by default.",
    advice=("Use List, or turn the gate on.",),
)

POD_NOT_FOUND: Final = Known(
    key="podResourcesPodNotFound",
    rules=("S8.11",),
    place="the kubelet's PodResources API",
    texts=(
        phrase(
            r"pod (?P<name>\S+) in namespace (?P<word>\S+) not found",
            lambda behavior: behavior.pod_resources_get_served is ServedMethod.ON,
        ),
    ),
    means="This kubelet has no active pod {name} in namespace {word}.",
    why="The pod runs elsewhere, was refused, or has ended; Get answers for active pods only.",
    advice=("Ask the kubelet of the pod's node, while the pod runs.",),
)

HEALTH_DROPPED: Final = Known(
    key="healthUpdateDropped",
    rules=("S9.6",),
    place="the kubelet, publishing a change of a device's health",
    texts=(
        phrase(
            r"device update channel is full", lambda behavior: behavior.resource_health_in_status
        ),
    ),
    means="A change of health was not published in pod statuses; device choices know it.",
    why="More than 100 updates were waiting.",
    advice=("Nothing; the status is right again when the pod is synced next.",),
)

ENTRIES: Final = (
    REBOOTED,
    INSUFFICIENT,
    RATE_LIMITED,
    GET_DISABLED,
    POD_NOT_FOUND,
    HEALTH_DROPPED,
)
