"""What the kubelet says at its start, and about the file that keeps its state."""

from __future__ import annotations

from typing import Final

from simulator.core.behavior import Behavior, CheckpointFormat
from simulator.core.diagnosis.known import Known, Point
from simulator.core.diagnosis.statements import OLD_INSTANCE_SEEN, spares_running_containers
from simulator.core.diagnosis.surroundings import Surroundings
from simulator.core.diagnosis.texts import NumberBlank, blank, phrase, said, said_by_version
from simulator.core.machine import (
    NUMA_NODES_ALLOWED,
    Machine,
    TopologyOptions,
    TopologyPolicy,
    topology_start_error,
)
from simulator.core.refusals import CheckpointNotWritten
from simulator.errors import CorruptCheckpointError

_START: Final = "the kubelet's device manager, reading the checkpoint file at its start"
_FILE: Final = "(?:^|checkpoint.{0,300})"
"""JSON errors are the device manager's when they stand alone or beside the file's name."""


def _numa_text() -> str:
    allowed = NumberBlank("number", NUMA_NODES_ALLOWED)
    options = TopologyOptions(policy=TopologyPolicy.RESTRICTED, max_allowable_numa_nodes=allowed)
    return topology_start_error(Machine.with_nodes(NUMA_NODES_ALLOWED + 1), options)


def _misses_v1(behavior: Behavior) -> bool:
    return (
        behavior.checkpoint_written is CheckpointFormat.V2
        and CheckpointFormat.V1 not in behavior.checkpoints_read
    )


def _misses_v2(behavior: Behavior) -> bool:
    return CheckpointFormat.V2 not in behavior.checkpoints_read


NOT_WRITTEN: Final = Known(
    key="checkpointNotWritten",
    rules=("S3.15",),
    place="the kubelet's device manager, writing the checkpoint file at an admission",
    texts=said_by_version(CheckpointNotWritten(blank("message")).text),
    means="The pod is refused because what it got could not be written to the checkpoint file.",
    why="The disk of the kubelet's folder is at fault, not the pod: {message}",
    points=(
        Point(
            "pods without devices are refused too, for the file is written at every admission",
            lambda behavior: behavior.checkpoint_at_every_admission,
        ),
    ),
    advice=(
        "Free space on the disk of the kubelet's root folder, or make it writable.",
        "Then delete this pod, or let its controller replace it.",
    ),
    reports=("R50",),
)

DISK_FULL: Final = Known(
    key="diskFull",
    rules=("S3.15", "S4.9"),
    place="the node's disk",
    texts=(phrase(r"no space left on device"),),
    means="The disk is full.",
    why="The kubelet writes the whole file anew each time, beside the old one.",
    advice=("Free space on the disk of the kubelet's root folder.",),
    reports=("R50",),
    surroundings=Surroundings.NEAR,
)

CORRUPTED: Final = Known(
    key="checkpointCorrupted",
    rules=("S4.12", "S4.14"),
    place=_START,
    texts=(said(str(CorruptCheckpointError())),),
    means="The content of a state file does not match its checksum.",
    why=(
        "The file was edited, cut off or mixed up by an unclean stop, or written in a form whose "
        "checksum this version computes otherwise. For the device manager's file the kubelet goes "
        "on without any record: pods keep running, and their devices count as free. If the kubelet "
        "does not start, the line is about another manager's file (CPU, memory, DRA)."
    ),
    advice=(
        "See which file it is, and what is wrong: rebind checkpoint verify FILE.",
        (
            "Let pods with devices end before new ones are admitted, or drain the node; then the "
            "kubelet writes a new file."
        ),
    ),
    reports=("R56", "R113", "R111", "R52"),
    surroundings=Surroundings.NOT_FOREIGN,
)

WRONG_FORMAT: Final = Known(
    key="checkpointFormat",
    rules=("S4.15", "S4.12"),
    place=_START,
    texts=(phrase(rf"{_FILE}json: cannot unmarshal \w+"),),
    means="The checkpoint file is JSON, but of another form than this kubelet reads.",
    why=(
        "DeviceIDs is a list in files of kubelets up to 1.19 and a map by NUMA node since 1.20. "
        "The kubelet goes on without any record: pods keep running, and their devices count as "
        "free."
    ),
    points=(
        Point("cannot read the files of 1.19 and before (array into DevicesPerNUMA)", _misses_v1),
        Point("cannot read the files of 1.20 and later (object into a list)", _misses_v2),
    ),
    versions="a kubelet that finds the other form",
    advice=(
        "Upgrade by way of a kubelet that reads both, or drain the node before the upgrade.",
        "With the kubelet stopped, turn the file: rebind checkpoint import, then export --format.",
    ),
    reports=("R54", "R55"),
    surroundings=Surroundings.NOT_FOREIGN,
)

NOT_JSON: Final = Known(
    key="checkpointSyntax",
    rules=("S4.12",),
    place=_START,
    texts=(
        phrase(rf"{_FILE}unexpected end of JSON input"),
        phrase(rf"{_FILE}invalid character '.{{1,8}}' (?:after|in|looking for|exceeded)\b"),
        phrase(rf"{_FILE}extra data after value"),
    ),
    means="The state file is no JSON: it is cut off, empty, or has left-over bytes.",
    why=(
        "An unclean stop of the machine, a full disk, or an editor. The device manager goes on "
        "without any record; the file stays as it is until the next write."
    ),
    advice=(
        "See where it breaks off: rebind checkpoint verify FILE.",
        "Restore it from a copy while the kubelet is stopped, or drain the node.",
    ),
    reports=("R52",),
    surroundings=Surroundings.NOT_FOREIGN,
)

NOT_FOUND: Final = Known(
    key="checkpointNotFound",
    rules=("S4.12",),
    place=_START,
    texts=(phrase(r"checkpoint is not found"),),
    means="There is no checkpoint file yet. That is no fault on a new node.",
    why=(
        "The file is first written when a plugin reports its devices. On a node that had one, it "
        "was deleted: pods keep running, but their devices count as free."
    ),
    advice=(
        (
            "Nothing, on a new node. If the kubelet does not start, the cause is another line of "
            "its log."
        ),
        "If pods with devices run, let them end before new ones are admitted, or drain the node.",
    ),
    reports=("R59", "R58", "R14"),
    surroundings=Surroundings.NOT_FOREIGN,
)

CONTINUED: Final = Known(
    key="continuedWithoutCheckpoint",
    rules=("S4.12", "S4.14"),
    place=_START,
    texts=(
        phrase(r"Continue after failing to read checkpoint file"),
        phrase(r"Device allocation info may NOT be up-to-date"),
    ),
    means="The checkpoint file could not be read, and the kubelet goes on without any record.",
    why=(
        "Resources are unknown until their plugins register, so pods are admitted without devices "
        "until then; devices of running pods count as free and may be given a second time."
    ),
    advice=(
        "See what is wrong with the file: rebind checkpoint verify FILE.",
        "Let pods with devices end before new ones are admitted, or drain the node.",
    ),
    reports=("R54", "R56", "R14"),
)

OTHER_MANAGERS_FILE: Final = Known(
    key="otherManagersFile",
    rules=("S4.12",),
    place="another manager of the kubelet (CPU, memory or DRA), reading its own file at the start",
    texts=(
        phrase(
            r"^(?=.*(?:corrupt|cannot unmarshal|end of JSON input|invalid character|extra data))"
            r".*?\b(?P<name>cpu|memory|dra)[ _-]?manager"
        ),
    ),
    means="This is not about the device manager: it is the file of the {name} manager.",
    why=(
        "That file was cut off, edited, or written by a version of another form. Other than the "
        "device manager, these managers keep the kubelet from starting."
    ),
    versions="any version that has this manager",
    advice=(
        "Keep a copy of the file.",
        (
            "Drain the node before anything is deleted: the file says which CPUs, memory or claims "
            "running containers have, and without it they can be given to others."
        ),
    ),
    reports=("R56", "R52", "R111"),
)

TOO_MANY_NUMA_NODES: Final = Known(
    key="tooManyNumaNodes",
    rules=("S7.11",),
    place="the kubelet's start, making the topology manager",
    texts=(said(_numa_text()),),
    means="The machine has more than {number} NUMA nodes, so this topology policy is refused.",
    why="The work grows with two to the power of the nodes. The kubelet does not start.",
    advice=(
        "Use the policy none, or raise the option max-allowable-numa-nodes where there is one.",
    ),
)

NOT_RUNNING: Final = Known(
    key="notInRunningSet",
    rules=("S5.6", "S3 step B"),
    place="the kubelet's device manager, at an admission after its start",
    texts=(phrase(r"not (?:present )?in the initial running set", spares_running_containers),),
    means="The container was not found running when the kubelet started, so its devices count.",
    why=(
        "It had ended (a finished init container, too), the machine was rebooted, or the runtime "
        "did not answer. It is admitted only if its devices are reported healthy by now."
    ),
    points=(OLD_INSTANCE_SEEN,),
    advice=("If the pod is refused after this line, see the message of the refusal.",),
    reports=("R04", "R36", "R01"),
)

DEVICE_MANAGER_PANIC: Final = Known(
    key="deviceManagerPanic",
    rules=("S3.14", "S7.7", "R107", "R109"),
    place="the kubelet crashes",
    texts=(
        phrase(r"assignment to entry in nil map.*devicemanager"),
        phrase(r"invalid memory address or nil pointer dereference.*devicemanager"),
        phrase(r"concurrent map (?:iteration and map write|read and map write).*devicemanager"),
    ),
    means="The device manager crashed the kubelet; the service manager starts it again.",
    why=(
        "Known are: a device that leaves the plugin's list while it is allocated or hinted at; a "
        "set of devices that is dropped while the plugin is asked for its preference; a list that "
        "changes while hints are computed."
    ),
    versions="by the kind of crash",
    points=(
        Point(
            "a vanished device crashes the kubelet",
            lambda behavior: behavior.vanished_device.value == "crash",
        ),
        Point(
            "a set dropped during a preference call crashes the kubelet",
            lambda behavior: behavior.rebuild_during_preference_crashes,
        ),
    ),
    advice=(
        "Upgrade the kubelet; let the plugin report a lost device unhealthy, not leave it out.",
    ),
    reports=("R107", "R109"),
)

ENTRIES: Final = (
    NOT_WRITTEN,
    OTHER_MANAGERS_FILE,
    CORRUPTED,
    WRONG_FORMAT,
    NOT_JSON,
    NOT_FOUND,
    CONTINUED,
    TOO_MANY_NUMA_NODES,
    NOT_RUNNING,
    DEVICE_MANAGER_PANIC,
    DISK_FULL,
)
