"""What a step can do to a simulated cluster: one value per action, named like the scenario's step.

An action is performed at one virtual instant and completes at that or a later one; a step's
`after` counts from the completion (details 21).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from simulator.core.devices import Device, DeviceId
from simulator.core.instants import Duration
from simulator.core.migration.phases import Phase
from simulator.core.resource_bindings import BoundKey
from simulator.core.resources import ResourceName
from simulator.core.transitions import NodeName


class When(Enum):
    """On which side of an effect a crash or power cut falls."""

    BEFORE = "before"
    AFTER = "after"


class Loss(Enum):
    """What a power cut takes of what is not durable yet: all, none, or what chance says."""

    ALL = "all"
    NONE = "none"
    RANDOM = "random"


Assigned = tuple[tuple[BoundKey, tuple[DeviceId, ...]], ...]
"""Ids by container and resource."""


@dataclass(frozen=True, slots=True)
class CreatePod:
    """Create a pod of the spec, bound to `node`, or by the scheduler when None.

    Completes when the pod is admitted and started, or refused.

    Attributes:
        assigned: Devices that its spec names from the beginning, as a scheduler of devices does.
    """

    name: str
    node: NodeName | None = None
    assigned: Assigned = ()


@dataclass(frozen=True, slots=True)
class CreatePods:
    """Create several pods in this order; completes when the last one is decided."""

    names: tuple[str, ...]
    node: NodeName | None = None
    assigned: Assigned = ()


@dataclass(frozen=True, slots=True)
class DeletePod:
    """Delete a pod, gracefully or by force (S6.5). Completes when the pod is gone from the API."""

    name: str
    force: bool = False


@dataclass(frozen=True, slots=True)
class FinishPod:
    """All containers of the pod exit; phase Succeeded or Failed."""

    name: str
    succeeded: bool = True


@dataclass(frozen=True, slots=True)
class RestartContainer:
    """A container exits and is started in place; completes when it runs or waits with an error."""

    pod: str
    container: str


@dataclass(frozen=True, slots=True)
class StartPlugin:
    """The plugin starts and registers; completes with its first ListAndWatch message."""

    name: str


@dataclass(frozen=True, slots=True)
class StopPlugin:
    """The plugin ends and its stream with it; it does not come back by itself."""

    name: str


@dataclass(frozen=True, slots=True)
class CrashPlugin:
    """The plugin's process dies; it is started again after `restart_after`, if given."""

    name: str
    restart_after: Duration | None = None


@dataclass(frozen=True, slots=True)
class HangPlugin:
    """Calls to the plugin are not answered, for `duration` or for good."""

    name: str
    duration: Duration | None = None


@dataclass(frozen=True, slots=True)
class ReportDevices:
    """The plugin sends a ListAndWatch message with this complete list."""

    name: str
    devices: tuple[Device, ...]


@dataclass(frozen=True, slots=True)
class BreakStream:
    """The ListAndWatch stream breaks while the plugin lives on."""

    name: str


@dataclass(frozen=True, slots=True)
class RestartKubelet:
    """Stop the kubelet and start it `downtime` later; containers run on.

    Completes when the first batch of pods has been admitted or refused.
    """

    node: NodeName
    downtime: Duration = Duration(0)


@dataclass(frozen=True, slots=True)
class CrashKubelet:
    """The kubelet dies in the middle of whatever it does; it is started `downtime` later.

    Attributes:
        effect: None for now; else the effect (`write`, `commit`, `allocate`, …) at which it dies.
        when: Before or after that effect.
        nth: At which one of those that begin from now on.
    """

    node: NodeName
    downtime: Duration = Duration(0)
    effect: str | None = None
    when: When = When.AFTER
    nth: int = 1


@dataclass(frozen=True, slots=True)
class UpgradeKubelet:
    """A restart into another version, up or down."""

    node: NodeName
    version: str
    downtime: Duration = Duration(0)


@dataclass(frozen=True, slots=True)
class Migrate:
    """The kubelet stops, its bindings are moved between file and database, and it starts again.

    Completes when the first batch of pods has been admitted or refused.
    """

    node: NodeName
    to: Phase
    downtime: Duration = Duration(0)


@dataclass(frozen=True, slots=True)
class RebootNode:
    """Containers, plugins and kubelet end; new boot id; the disk survives.

    Completes when the node is up again: the kubelet runs and its first batch was handled.
    """

    node: NodeName
    downtime: Duration = Duration(0)


@dataclass(frozen=True, slots=True)
class RecreateNode:
    """A node of the same name with a blank disk; bound pods stay bound."""

    node: NodeName
    downtime: Duration = Duration(0)


@dataclass(frozen=True, slots=True)
class PowerCut:
    """The node loses power: volatile disk content may be lost; then as a reboot.

    Attributes:
        effect: None for now; else the effect (`write`, `fsync`, `rename`, `dirFsync`, `commit`, …)
            at which the power goes.
        when: Before or after that effect.
        loss: What it takes of what was not durable.
        nth: At which one of those that begin from now on.
    """

    node: NodeName
    downtime: Duration = Duration(0)
    effect: str | None = None
    when: When = When.AFTER
    loss: Loss = Loss.ALL
    nth: int = 1


@dataclass(frozen=True, slots=True)
class FailEffect:
    """An effect of the node fails with an error, and nothing of it has happened.

    Attributes:
        effect: `read`, `write`, `commit`, …
        message: The error text.
        nth: Which one of those that begin from now on.
    """

    node: NodeName
    effect: str
    message: str
    nth: int = 1


class FileAction(Enum):
    """What happens to a state file."""

    DELETE = "delete"
    TRUNCATE = "truncate"
    CORRUPT = "corrupt"
    REPLACE = "replace"


@dataclass(frozen=True, slots=True)
class CheckpointFile:
    """Damage, delete or replace the node's checkpoint file."""

    node: NodeName
    action: FileAction
    content: bytes | None = None


@dataclass(frozen=True, slots=True)
class DatabaseFile:
    """Damage or delete the node's database, or replace it by a sound copy of itself."""

    node: NodeName
    action: FileAction


@dataclass(frozen=True, slots=True)
class DiskFull:
    """Writes fail with `no space left on device`, for `duration` or for good."""

    node: NodeName
    duration: Duration | None = None


@dataclass(frozen=True, slots=True)
class SlowDisk:
    """Every fsync takes `added_fsync` longer, for `duration` or for good."""

    node: NodeName
    added_fsync: Duration
    duration: Duration | None = None


@dataclass(frozen=True, slots=True)
class ApiOutage:
    """The node cannot reach the API server for `duration`."""

    node: NodeName
    duration: Duration


@dataclass(frozen=True, slots=True)
class Advance:
    """Nothing but time passes."""

    duration: Duration


Action = (
    CreatePod
    | CreatePods
    | DeletePod
    | FinishPod
    | RestartContainer
    | StartPlugin
    | StopPlugin
    | CrashPlugin
    | HangPlugin
    | ReportDevices
    | BreakStream
    | RestartKubelet
    | CrashKubelet
    | UpgradeKubelet
    | Migrate
    | RebootNode
    | RecreateNode
    | PowerCut
    | FailEffect
    | CheckpointFile
    | DatabaseFile
    | DiskFull
    | SlowDisk
    | ApiOutage
    | Advance
)


DeviceCounts = tuple[tuple[ResourceName, int], ...]
"""Sorted pairs of resource and number of devices."""
