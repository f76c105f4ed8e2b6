"""What steps do to nodes, kubelets and disks, as written in the file and as the engine takes it."""

from __future__ import annotations

from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator
from typing_extensions import override

from scenarios.schema.fields import GoDuration, KubeletVersion, Model, Name
from scenarios.schema.surroundings import ActionModel, Surroundings
from simulator.core.instants import Duration
from simulator.core.migration.phases import Phase
from simulator.engine import actions
from simulator.engine.actions import Loss

EffectName = Literal[
    "read", "write", "fsync", "rename", "dirFsync", "load", "commit",
    "allocate", "preferredAllocation", "preStart", "register", "listAndWatch", "statusPatch",
    "bindDevices", "deviceBinding",
]  # fmt: skip
"""What a node does that can be broken: steps of a file, transactions, and calls."""

EFFECTS_MAX: Final = 1_000_000
"""Effects of one kind that can be counted."""


class NodeAction(ActionModel):
    """What happens to a node."""

    node: Name | None = None
    """The node; may be left out when the scenario has only one."""
    name: Name | None = None
    """Another word for `node`."""

    @property
    def node_name(self) -> str | None:
        """The node, under either key."""
        return self.node or self.name

    @model_validator(mode="after")
    def _names_one_node(self) -> Self:
        if self.node is not None and self.name is not None:
            reason = '"node" and "name" both name the node; leave one out'
            raise ValueError(reason)
        return self


class Downtime(NodeAction):
    """A stop and a start."""

    downtime: GoDuration = Duration(0)
    """Time from the stop to the start."""

    @property
    @override
    def span(self) -> Duration:
        return self.downtime


class RestartKubelet(Downtime):
    """Stop and start the kubelet; containers run on. Done when its first batch was handled."""

    @override
    def engine_action(self, surroundings: Surroundings) -> actions.Action:
        return actions.RestartKubelet(surroundings.node(self.node_name), self.downtime)


class FaultPoint(Model):
    """The effect at which something breaks."""

    op: EffectName
    """The kind of effect: a step of a file, a transaction's boundary, or a call."""
    nth: Annotated[int, Field(ge=1, le=EFFECTS_MAX)] = 1
    """Which one of this kind that begins after the step."""
    phase: Literal["before", "after"] = "after"
    """On which side of the effect."""


class CrashKubelet(Downtime):
    """The kubelet dies in the middle of what it does, and is started again."""

    when: FaultPoint | None = None
    """At which effect; left out: now."""

    @override
    def engine_action(self, surroundings: Surroundings) -> actions.Action:
        node = surroundings.node(self.node_name)
        if self.when is None:
            return actions.CrashKubelet(node, self.downtime)
        side = actions.When(self.when.phase)
        return actions.CrashKubelet(node, self.downtime, self.when.op, side, self.when.nth)


class UpgradeKubelet(Downtime):
    """A restart into another version, newer or older."""

    version: KubeletVersion
    """The version that starts."""

    @override
    def engine_action(self, surroundings: Surroundings) -> actions.Action:
        node = surroundings.node(self.node_name)
        return actions.UpgradeKubelet(node, self.version, self.downtime)


class Migrate(Downtime):
    """Stop the kubelet, move its bindings between file and database, and start it.

    The phases in order: `checkpoint` (the file alone), `imported` (rows were made from it),
    `dualWrite` (both are written, the file is believed), `databasePrimary` (both are written, the
    database is believed), `database` (the file is set aside). All on the way are gone through,
    forward or back. A crash of the kubelet meanwhile breaks it off.
    """

    to: Literal["checkpoint", "imported", "dualWrite", "databasePrimary", "database"]
    """The phase to be reached."""

    @override
    def engine_action(self, surroundings: Surroundings) -> actions.Action:
        node = surroundings.node(self.node_name)
        return actions.Migrate(node, Phase(self.to), self.downtime)


class RebootNode(Downtime):
    """Containers, plugins and kubelet end; new boot id; the disk survives.

    Done when the node is up again and its first batch was handled.
    """

    @override
    def engine_action(self, surroundings: Surroundings) -> actions.Action:
        return actions.RebootNode(surroundings.node(self.node_name), self.downtime)


class RecreateNode(Downtime):
    """A node of the same name with a blank disk; bound pods stay bound."""

    @override
    def engine_action(self, surroundings: Surroundings) -> actions.Action:
        return actions.RecreateNode(surroundings.node(self.node_name), self.downtime)


class PowerCut(Downtime):
    """The node loses power and with it what its disk had not made durable; then as a reboot."""

    when: FaultPoint | None = None
    """At which effect; left out: now."""
    loss: Literal["all", "none", "random"] = "all"
    """What it takes of what the disk had not made durable."""

    @override
    def engine_action(self, surroundings: Surroundings) -> actions.Action:
        node = surroundings.node(self.node_name)
        loss = Loss(self.loss)
        if self.when is None:
            return actions.PowerCut(node, self.downtime, loss=loss)
        side = actions.When(self.when.phase)
        return actions.PowerCut(
            node, self.downtime, self.when.op, side, loss=loss, nth=self.when.nth
        )


class FailEffect(NodeAction):
    """An effect of the node fails, and nothing of it has happened."""

    op: EffectName
    """The kind of effect: a step of a file, a transaction's boundary, or a call."""
    nth: Annotated[int, Field(ge=1, le=EFFECTS_MAX)] = 1
    """Which one of this kind that begins after the step."""
    message: str = "input/output error"
    """The error text."""

    @override
    def engine_action(self, surroundings: Surroundings) -> actions.Action:
        node = surroundings.node(self.node_name)
        return actions.FailEffect(node, self.op, self.message, self.nth)


class CheckpointFile(NodeAction):
    """Damage, delete or replace the node's checkpoint file."""

    action: Literal["delete", "truncate", "corrupt", "replace"]
    """What happens to the file."""
    path: str | None = None
    """With `replace`: the file to put there, relative to the scenario."""

    @model_validator(mode="after")
    def _has_a_path_to_replace(self) -> Self:
        if (self.action == "replace") != (self.path is not None):
            reason = '"path" belongs to "action: replace", and to no other'
            raise ValueError(reason)
        return self

    @override
    def engine_action(self, surroundings: Surroundings) -> actions.Action:
        content = surroundings.file(self.path) if self.path is not None else None
        kind = actions.FileAction(self.action)
        return actions.CheckpointFile(surroundings.node(self.node_name), kind, content)


class DatabaseFile(NodeAction):
    """Damage or delete the node's database: the counterpart of checkpointFile."""

    action: Literal["delete", "truncate", "corrupt", "replace"]
    """What happens to the database; `replace` puts a sound copy of it back."""

    @override
    def engine_action(self, surroundings: Surroundings) -> actions.Action:
        kind = actions.FileAction(self.action)
        return actions.DatabaseFile(surroundings.node(self.node_name), kind)


class DiskFull(NodeAction):
    """Writes fail with `no space left on device`."""

    duration: GoDuration | None = None
    """For how long; left out: for good."""

    @override
    def engine_action(self, surroundings: Surroundings) -> actions.Action:
        return actions.DiskFull(surroundings.node(self.node_name), self.duration)


class SlowDisk(NodeAction):
    """Every fsync takes longer."""

    added_fsync: GoDuration
    """By how much."""
    duration: GoDuration | None = None
    """For how long; left out: for good."""

    @override
    def engine_action(self, surroundings: Surroundings) -> actions.Action:
        node = surroundings.node(self.node_name)
        return actions.SlowDisk(node, self.added_fsync, self.duration)


class ApiOutage(NodeAction):
    """The node cannot reach the API server."""

    duration: GoDuration
    """For how long."""

    @override
    def engine_action(self, surroundings: Surroundings) -> actions.Action:
        return actions.ApiOutage(surroundings.node(self.node_name), self.duration)
