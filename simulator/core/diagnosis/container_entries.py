"""Why a container that was admitted does not start, or not as it should (S3.22 to S3.26, S10)."""

from __future__ import annotations

from typing import Final

from simulator.core.diagnosis.known import Known, Point
from simulator.core.diagnosis.texts import blank, phrase, said, said_by_version
from simulator.core.pods import ContainerName, PodUid
from simulator.core.refusals import EndpointNotCached, NoRecordedDevices, PreStartFailed
from simulator.core.resources import ResourceName
from simulator.core.run_options import Setting

_RESOURCE: Final = ResourceName(blank("resource"))
_START: Final = "the kubelet's device manager, preparing the start of a container"

ENDPOINT_NOT_CACHED: Final = Known(
    key="endpointNotCached",
    rules=("S3.22.1", "S3.18"),
    place=f"{_START} (or, at admission, asking for the plugin's preference)",
    texts=said_by_version(EndpointNotCached(_RESOURCE).text),
    means="The kubelet has no plugin for {resource}, although it knows the resource.",
    points=(
        Point(
            "the first start of a container waits until the plugin has registered (R13)",
            lambda behavior: behavior.start_waits_for_plugin,
        ),
    ),
    why=(
        "The plugin was away for more than 5 minutes, so its registration was dropped. The "
        "container's devices are still recorded, but without a plugin it is not started again."
    ),
    advice=(
        (
            "Restart the device plugin, so that it registers; the kubelet tries the start again by "
            "itself."
        ),
    ),
    reports=("R17", "R18", "R29"),
)

PRE_START_FAILED: Final = Known(
    key="preStartFailed",
    rules=("S3.22.1", "S1.26"),
    place=f"{_START} (the plugin's PreStartContainer)",
    texts=said_by_version(PreStartFailed(blank("message")).text),
    means="The plugin could not prepare the container's devices.",
    why=(
        "The plugin asked to be called before every container start, and its call failed or "
        "took more than 30 seconds. It said: {message}"
    ),
    advice=(
        "Look at the plugin's log for PreStartContainer; a device may need a reset.",
        "Nothing has to be deleted: the kubelet tries the start again by itself.",
    ),
)

NO_RECORDED_DEVICES: Final = Known(
    key="noRecordedDevices",
    rules=("S3.22.1", "R124"),
    place=f"{_START} (before the plugin's PreStartContainer)",
    texts=said_by_version(
        NoRecordedDevices(PodUid(blank("uid")), ContainerName(blank("container")), _RESOURCE).text
    ),
    means=(
        "The plugin of {resource} wants to be called before the container starts, and the "
        "kubelet has no device recorded for container {container}."
    ),
    why=(
        "The container was admitted without the device: its limit is 0, or the kubelet did not "
        "know the resource then (a lost checkpoint file, a plugin that registered only later)."
    ),
    points=(
        Point(
            "a limit of 0 is enough to cause it",
            lambda behavior: not behavior.zero_limits_skipped_at_start,
        ),
    ),
    advice=(
        "Leave a limit of 0 out of the pod.",
        "Otherwise delete the pod, so that it is admitted anew while the plugin is registered.",
    ),
    reports=("R124", "R14"),
)

CONFIG_ERROR: Final = Known(
    key="settingsInConflict",
    rules=("S10.2", "S10.3", "S10.4", "S10.5"),
    place="the kubelet's log, merging the answers of several plugins for one container",
    texts=tuple(said(setting.value) for setting in Setting),
    means="Two resources of one container set the same thing differently; the first one stays.",
    why="Which one is first is left to chance, so the container may differ from start to start.",
    advice=("Let the plugins use different names, or give the resources to different containers.",),
)

CREATE_FAILED: Final = Known(
    key="runtimeRefusesDevice",
    rules=("S10.8", "S10.9"),
    place="the container runtime, with what the plugin answered",
    texts=(
        phrase(r"\b(?-i:unknown device)\b(?! (?:plugin|type))"),
        phrase(r"unresolvable CDI devices"),
        phrase(r"argument list too long"),
        phrase(r"error gathering device information"),
        phrase(r"stat /dev/\S+: no such file or directory"),
        phrase(r"nvidia-container-cli: "),
    ),
    means="The runtime could not start the container; what a plugin had it add may be why.",
    why=(
        "The kubelet does not check that device paths and ids exist; after a reboot it starts a "
        "container with the plugin's answer of before. A card may have another id now, or a "
        "variable that lists thousands of ids is too long."
    ),
    advice=(
        "See what the container is started with: rebind checkpoint show FILE -o wide.",
        "Delete the pod: a replacement gets devices, and an answer, of now.",
    ),
    reports=("R74", "R75", "R67", "R13"),
)

SLOT_CLAIMED: Final = Known(
    key="slotClaimed",
    rules=("S3.2", "S3.11"),
    place="a plugin, answering Allocate",
    texts=(phrase(r"Unable to claim slot"),),
    means="The plugin refuses a device that it has given before.",
    why=(
        "Containers after an init container get its devices again: the kubelet calls Allocate "
        "once for each, with the same ids. The plugin takes the second call for a second pod."
    ),
    advice=(
        "Upgrade the plugin, so that the same id may be allocated again.",
        "Until then, do not request the device in an init container.",
    ),
    reports=("R41",),
)

NUMBER_NOT_MATCHED: Final = Known(
    key="deviceNumberNotMatched",
    rules=("S1.24",),
    place="a plugin, answering Allocate",
    texts=(phrase(r"device number not matched"),),
    means="The plugin took the call for another pod's.",
    why=(
        "Allocate names no pod. This plugin takes the oldest pending pod, and the kubelet admits "
        "pods in another order."
    ),
    advice=(
        "Delete this pod, or let its controller replace it.",
        "Create pods of this resource one after the other, or use a plugin that goes by ids.",
    ),
    reports=("R87",),
)

ENTRIES: Final = (
    ENDPOINT_NOT_CACHED,
    PRE_START_FAILED,
    NO_RECORDED_DEVICES,
    CONFIG_ERROR,
    CREATE_FAILED,
    SLOT_CLAIMED,
    NUMBER_NOT_MATCHED,
)
