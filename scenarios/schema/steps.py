"""The steps of a scenario: one action each, and when it happens."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from scenarios.schema import node_steps, pod_steps
from scenarios.schema.fields import GoDuration, Items, Model, Name
from scenarios.schema.surroundings import ActionModel
from scenarios.schema.variants import Persistence, PersistenceVariant
from simulator.core.instants import Duration


class Step(Model):
    """One action and when it happens.

    Without `at` and `after` it happens when the step before it is done; the first one at 0s.
    """

    name: Name
    """How expectations and other steps refer to it."""
    at: GoDuration | None = None
    """Virtual time at which it happens."""
    after: Name | None = None
    """The step whose completion it waits for."""
    delay: GoDuration = Duration(0)
    """Time between that completion and this step."""
    persistence: Annotated[Items[PersistenceVariant], Field(min_length=1)] | None = None
    """Persistences under which it is done, and is nothing under others; left out: all."""
    create_pod: pod_steps.CreatePod | None = None
    """Create a pod."""
    delete_pod: pod_steps.DeletePod | None = None
    """Delete a pod."""
    finish_pod: pod_steps.FinishPod | None = None
    """End a pod's containers."""
    restart_container: pod_steps.RestartContainer | None = None
    """Restart a container in place."""
    start_plugin: pod_steps.StartPlugin | None = None
    """Start a plugin."""
    stop_plugin: pod_steps.StopPlugin | None = None
    """Stop a plugin."""
    crash_plugin: pod_steps.CrashPlugin | None = None
    """Kill a plugin."""
    hang_plugin: pod_steps.HangPlugin | None = None
    """Let a plugin hang."""
    report_devices: pod_steps.ReportDevices | None = None
    """Let a plugin send a list of devices."""
    break_stream: pod_steps.BreakStream | None = None
    """Break a plugin's ListAndWatch stream."""
    restart_kubelet: node_steps.RestartKubelet | None = None
    """Restart the kubelet."""
    crash_kubelet: node_steps.CrashKubelet | None = None
    """Kill the kubelet."""
    upgrade_kubelet: node_steps.UpgradeKubelet | None = None
    """Restart the kubelet into another version."""
    migrate: node_steps.Migrate | None = None
    """Move a node's bindings between file and database."""
    reboot_node: node_steps.RebootNode | None = None
    """Reboot a node."""
    recreate_node: node_steps.RecreateNode | None = None
    """Replace a node by a blank one."""
    power_cut: node_steps.PowerCut | None = None
    """Cut a node's power."""
    fail_effect: node_steps.FailEffect | None = None
    """Let an effect of a node fail."""
    checkpoint_file: node_steps.CheckpointFile | None = None
    """Damage the checkpoint file."""
    database_file: node_steps.DatabaseFile | None = None
    """Damage the database."""
    disk_full: node_steps.DiskFull | None = None
    """Fill a node's disk."""
    slow_disk: node_steps.SlowDisk | None = None
    """Slow a node's disk down."""
    api_outage: node_steps.ApiOutage | None = None
    """Cut a node off from the API server."""
    advance: pod_steps.Advance | None = None
    """Let time pass."""
    description: str = ""
    """A sentence for people."""

    def _actions(self) -> list[tuple[str, ActionModel]]:
        """Return the actions that are given, with their keys."""
        fields = type(self).model_fields
        return [
            (str(fields[name].alias), value)
            for name in fields
            if isinstance(value := getattr(self, name), ActionModel)
        ]

    def is_done_under(self, persistence: Persistence) -> bool:
        """Tell whether the step is meant for this persistence."""
        meant = self.persistence
        return meant is None or any(variant.includes(persistence) for variant in meant)

    @property
    def action(self) -> ActionModel:
        """The one action."""
        return self._actions()[0][1]

    @property
    def action_key(self) -> str:
        """The action's key, e.g. `rebootNode`."""
        return self._actions()[0][0]

    @model_validator(mode="after")
    def _has_one_action(self) -> Self:
        keys = [key for key, _ in self._actions()]
        if len(keys) != 1:
            named = f"has {len(keys)}: {', '.join(keys)}" if keys else "has none"
            reason = f'the step "{self.name}" wants one action, it {named}'
            raise ValueError(reason)
        if self.at is not None and self.after is not None:
            reason = f'the step "{self.name}" has both "at" and "after"; leave one out'
            raise ValueError(reason)
        if self.at is not None and self.delay:
            reason = f'the step "{self.name}" has both "at" and "delay"; add the delay to "at"'
            raise ValueError(reason)
        return self
