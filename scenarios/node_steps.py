"""What steps do to nodes, kubelets and disks, as written in the file and as the engine takes it."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import model_validator
from typing_extensions import override

from scenarios.fields import GoDuration, KubeletVersion, Model, Name
from scenarios.surroundings import ActionModel, Surroundings
from simulator.core.instants import Duration
from simulator.engine import actions
from simulator.engine.disk import Loss

DurabilityEffect = Literal["write", "fsync", "rename", "dirFsync", "commit"]


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


class CrashKubelet(Downtime):
    """The kubelet dies in the middle of what it does, and is started again."""

    @override
    def engine_action(self, surroundings: Surroundings) -> actions.Action:
        return actions.CrashKubelet(surroundings.node(self.node_name), self.downtime)


class UpgradeKubelet(Downtime):
    """A restart into another version, newer or older."""

    version: KubeletVersion
    """The version that starts."""

    @override
    def engine_action(self, surroundings: Surroundings) -> actions.Action:
        node = surroundings.node(self.node_name)
        return actions.UpgradeKubelet(node, self.version, self.downtime)


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


class FaultPoint(Model):
    """The effect at which something breaks."""

    op: DurabilityEffect
    """The next effect of this kind."""
    phase: Literal["before", "after"] = "after"
    """On which side of the effect."""


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
        return actions.PowerCut(node, self.downtime, self.when.op, side, loss)


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
