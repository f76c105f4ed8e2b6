"""Refusals that the choice of devices makes when a pod is admitted (S3, steps A to L)."""

from __future__ import annotations

from typing import Final

from simulator.core.diagnosis.known import Known
from simulator.core.diagnosis.statements import (
    ACTIVE_AFTER_REFUSAL,
    NEW_PODS_COUNTED,
    OLD_INSTANCE_SEEN,
    RESTART_COST,
    RUNNING_PODS_REFUSED,
    RUNNING_PODS_SPARED,
    STALE_DEVICES_KEPT,
    TERMINATED_READMITTED,
    checks_health,
    knows_topology,
)
from simulator.core.diagnosis.texts import NumberBlank, blank, phrase, said_by_version
from simulator.core.node_resources import admit_by_account
from simulator.core.pods import ContainerName, PodUid
from simulator.core.refusals import (
    TOPOLOGY_AFFINITY_ERROR,
    UNEXPECTED_ADMISSION_ERROR,
    AllocatedTooFew,
    DevicesUnavailable,
    EndpointUnknown,
    NoHealthyDevices,
    NoTopologyLocality,
    RecordedDevicesUnhealthy,
    RequestChanged,
    ResourceUnregistered,
)
from simulator.core.resources import ResourceName

_RESOURCE: Final = ResourceName(blank("resource"))
_POD: Final = PodUid(blank("uid"))
_CONTAINER: Final = ContainerName(blank("container"))
_CHOICE: Final = "the kubelet's device manager, choosing devices for a container at admission"


def _alone(reason: str) -> str:
    """Return the pattern of a reason with no message: alone, labeled, or `kubectl get pods`."""
    return rf"^(?:Reason: |(?:\S+ )?\S+ \d+/\d+ )?{reason}(?: \d+ (?:\(.*?\) )?\d+[smhdy].*)?$"


REQUEST_CHANGED: Final = Known(
    key="requestChanged",
    rules=("S3 step A",),
    place=f"{_CHOICE} (compare with the record)",
    texts=said_by_version(
        RequestChanged(
            _POD, _CONTAINER, _RESOURCE, NumberBlank("recorded"), NumberBlank("requested")
        ).text
    ),
    means=(
        "The kubelet has a record that container {container} holds {recorded} {resource}, but the "
        "pod now asks for {requested}."
    ),
    why=(
        "Devices of a container are given once. The record, from the checkpoint file after a "
        "restart, has another number than the container's limit; a container that asks for "
        "devices twice in one admission, or a file from elsewhere, can cause it."
    ),
    advice=(
        "Compare the record with the pod: rebind checkpoint show FILE.",
        "Delete the pod: a replacement has a new uid, and no record.",
    ),
)

UNREGISTERED: Final = Known(
    key="resourceUnregistered",
    rules=("S3 step C", "S2.10"),
    place=f"{_CHOICE} (is the resource registered)",
    texts=said_by_version(ResourceUnregistered(_RESOURCE).text),
    means=(
        "The kubelet knows {resource} only because a pod still holds devices of it; no plugin has "
        "it registered."
    ),
    why=(
        "The plugin was away for more than 5 minutes, so the kubelet dropped the resource at its "
        "next capacity query, while the records of pods stay. Every admission that asks for it "
        "is refused until a plugin registers again."
    ),
    advice=(
        (
            "Look at the device plugin's pod on this node and its log; restart it, so that it "
            "registers."
        ),
        (
            "When the node shows {resource} allocatable again, delete this pod, or let its "
            "controller replace it."
        ),
    ),
    reports=("R29", "R17", "R16"),
)

NO_HEALTHY_DEVICES: Final = Known(
    key="noHealthyDevices",
    rules=("S3 step D",),
    place=f"{_CHOICE} (is any device healthy)",
    texts=said_by_version(NoHealthyDevices(_RESOURCE).text, checks_health),
    means="At that moment the kubelet knew no healthy device of {resource} at all.",
    why=(
        "Either the plugin had not registered yet after a kubelet restart or a reboot (the "
        "kubelet removes its socket, and the plugin has to come back by itself), or its "
        "connection had broken, or it reported every device unhealthy."
    ),
    points=(
        RUNNING_PODS_REFUSED,
        RUNNING_PODS_SPARED,
        OLD_INSTANCE_SEEN,
        STALE_DEVICES_KEPT,
        NEW_PODS_COUNTED,
    ),
    advice=(
        (
            "See whether the node shows {resource} allocatable now; if it is 0, look at the device "
            "plugin's pod and log, and restart it."
        ),
        "Delete this pod once the plugin is back; the kubelet never tries it again.",
        (
            "Against the race after a restart: let the plugin's pod start first, and upgrade a "
            "kubelet that refuses running pods."
        ),
    ),
    reports=("R01", "R03", "R02", "R36", "R07"),
)

RECORDED_UNHEALTHY: Final = Known(
    key="recordedDevicesUnhealthy",
    rules=("S3 step E", "S5.14"),
    place=f"{_CHOICE} (are the recorded devices healthy)",
    texts=said_by_version(RecordedDevicesUnhealthy(_RESOURCE).text, checks_health),
    means=(
        "The pod already had devices of {resource}, and at least one of them is unhealthy now or "
        "no longer reported by the plugin."
    ),
    why=(
        "The pod went through admission again after a kubelet restart or a reboot. The plugin is "
        "registered, but its list lacks a recorded id or calls it unhealthy: the card failed, or "
        "ids changed (another host, another PCI address, another MIG layout)."
    ),
    points=(RUNNING_PODS_SPARED, OLD_INSTANCE_SEEN, STALE_DEVICES_KEPT),
    advice=(
        (
            "Compare the recorded ids with what the plugin reports now: give --checkpoint, and see "
            "the plugin's log."
        ),
        "Delete this pod; a replacement gets other devices, for records go by the pod's uid.",
    ),
    reports=("R74", "R75", "R76", "R02"),
)

UNAVAILABLE: Final = Known(
    key="devicesUnavailable",
    rules=("S3 step I",),
    place=f"{_CHOICE} (count the free devices)",
    texts=said_by_version(
        DevicesUnavailable(_RESOURCE, NumberBlank("requested"), NumberBlank("available")).text
    ),
    means=(
        "The container still needed {requested} of {resource}, and {available} were healthy and "
        "free. (What init containers hand on is already counted off.)"
    ),
    why=(
        "The scheduler counted on more than the kubelet had: its view of the node is up to 10 "
        "seconds old, devices turned unhealthy, pods that ended while the kubelet was down still "
        "hold theirs until all pods are known, or a failed admission left devices reserved that "
        "nobody holds."
    ),
    points=(TERMINATED_READMITTED, ACTIVE_AFTER_REFUSAL),
    advice=(
        "See who holds the devices: rebind checkpoint show FILE.",
        "Delete this pod, or let its controller replace it.",
        (
            "If nobody holds them and every pod is refused, restart the kubelet: it forgets leaked "
            f"reservations. But {RESTART_COST}."
        ),
    ),
    reports=("R78", "R44", "R48", "R49", "R79"),
)

ALLOCATED_TOO_FEW: Final = Known(
    key="allocatedTooFew",
    rules=("S3 steps K, L",),
    place=f"{_CHOICE} (after the plugin's preference)",
    texts=said_by_version(AllocatedTooFew(NumberBlank("requested"), NumberBlank("got")).text),
    means=(
        "Of {requested} devices only {got} could be taken, although enough had been counted as "
        "free just before."
    ),
    why=(
        "The kubelet drops its lock while it asks the plugin for its preference; devices "
        "disappeared meanwhile."
    ),
    advice=(
        "Delete this pod, or let its controller replace it; the next attempt counts anew.",
        "If it comes again, look for a plugin that changes its list all the time.",
    ),
)

ENDPOINT_UNKNOWN: Final = Known(
    key="endpointUnknown",
    rules=("S3.10",),
    place="the kubelet's device manager, about to call the plugin's Allocate",
    texts=said_by_version(EndpointUnknown(_RESOURCE).text),
    means="Devices of {resource} were chosen, but the kubelet has no plugin to ask for them.",
    why=(
        "The resource was dropped between the choice and the call: the plugin was away for more "
        "than 5 minutes and a capacity query came in between."
    ),
    advice=(
        "Restart the device plugin, so that it registers.",
        "Then delete this pod, or let its controller replace it.",
    ),
    reports=("R29", "R17"),
)

TOPOLOGY_AFFINITY: Final = Known(
    key="topologyAffinity",
    rules=("S13.2", "S7.16"),
    place="the kubelet's topology manager, before devices are chosen",
    texts=(
        *said_by_version(NoTopologyLocality().text, knows_topology),
        phrase(_alone(TOPOLOGY_AFFINITY_ERROR), knows_topology),
    ),
    means=(
        "The policy (restricted or single-numa-node) wants all resources of the container, or of "
        "the pod in scope pod, from the best NUMA nodes, and free ones are spread otherwise."
    ),
    why=(
        "Enough devices, CPUs or memory may be free, but not together where the policy wants "
        "them. What is best is judged by all devices of the machine, so a busy node counts; and "
        "devices with records are asked for again after a restart."
    ),
    advice=(
        "See which NUMA nodes the free devices and CPUs are on; the scheduler does not know.",
        "Ask for fewer devices, or use the policy best-effort.",
        "Delete this pod; the kubelet never tries it again.",
    ),
    reports=("R100", "R60", "R104"),
)

OUT_OF_RESOURCE: Final = Known(
    key="outOfResource",
    rules=("S13.3",),
    place="the kubelet's node accounting (predicates), after the topology manager",
    texts=said_by_version(
        lambda _: (
            admit_by_account(
                {_RESOURCE: NumberBlank("requested")},
                used={_RESOURCE: NumberBlank("used")},
                allocatable={_RESOURCE: NumberBlank("capacity", 0)},
            ).message
        )
    ),
    means=(
        "By the kubelet's account of its pods there is not enough {resource}: the pod requests "
        "{requested}, others {used}, the node has {capacity}."
    ),
    why=(
        "The scheduler bound the pod with an older view of the node, or pods that the scheduler "
        "no longer counts are still counted by the kubelet."
    ),
    points=(ACTIVE_AFTER_REFUSAL,),
    advice=(
        "Compare the node's allocatable with what its pods request.",
        "Delete this pod, or let its controller replace it.",
    ),
    reports=("R12", "R11"),
)

REASON_ALONE: Final = Known(
    key="reasonAlone",
    rules=("S13.1", "S13.3"),
    place="the kubelet, admitting the pod",
    texts=(phrase(_alone(rf"(?:{UNEXPECTED_ADMISSION_ERROR}|OutOf\S+)")),),
    means=(
        "The kubelet refused the pod. This is the reason's name; why is in the message beside it."
    ),
    why=(
        "UnexpectedAdmissionError stands for any failure to give the pod its resources, OutOf and "
        "a resource for the node's account of it."
    ),
    versions="any version",
    advice=("Give the message, too: status.message of the pod, or its event.",),
)

ENTRIES: Final = (
    REQUEST_CHANGED,
    UNREGISTERED,
    NO_HEALTHY_DEVICES,
    RECORDED_UNHEALTHY,
    UNAVAILABLE,
    ALLOCATED_TOO_FEW,
    ENDPOINT_UNKNOWN,
    TOPOLOGY_AFFINITY,
    OUT_OF_RESOURCE,
    REASON_ALONE,
)
