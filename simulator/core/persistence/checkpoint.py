"""The strategy `checkpoint`: the node-local file, written as the kubelet writes it (S4.10).

After every devices message, after every container that got devices, after a resource was removed;
not when devices are released, so entries of dead pods stay in the file until the next write.

Kubelet: writeCheckpoint, readCheckpoint (devicemanager/manager.go).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from typing_extensions import override

from simulator.core.behavior import Behavior
from simulator.core.calls import (
    CheckpointContent,
    KeepingReply,
    Missing,
    ReadCheckpoint,
    Stored,
    StoreDecision,
    StoreFailed,
    WriteCheckpoint,
)
from simulator.core.checkpoint.bindings import with_rewritten_responses
from simulator.core.checkpoint.incremental import CheckpointRenderer
from simulator.core.checkpoint.reading import FileState, read_file
from simulator.core.devices import Device, DeviceId
from simulator.core.persistence.defaults import PersistenceDefaults, nothing_to_do
from simulator.core.persistence.protocol import ManagerView, Restored
from simulator.core.pods import Pod, PodUid
from simulator.core.records import StateWritten
from simulator.core.refusals import CheckpointNotWritten, Refusal
from simulator.core.resources import ResourceName
from simulator.core.transitions import DeviceBinding

_TARGET: Final = "checkpoint"
"""What records call the file, under whatever strategy it is written."""

Registered = Sequence[tuple[ResourceName, Sequence[DeviceId]]]
"""Registered resources with their healthy devices."""


class CheckpointPersistence(PersistenceDefaults):
    """Keeps the rendered form of every entry, so that a write costs one join and one hash.

    A pod that is admitted costs no write, for every container was written; nor does one that is
    refused, for the file knows bindings only.

    Attributes:
        directory_synced: Whether the directory is fsynced with each write, which no kubelet does.
    """

    def __init__(self, behavior: Behavior) -> None:
        self.directory_synced = False
        self._behavior = behavior
        self._renderer = CheckpointRenderer(
            behavior.checkpoint_written, legacy_escapes=behavior.legacy_json_escapes
        )

    @property
    @override
    def name(self) -> str:
        return "checkpoint"

    @override
    def load(self, view: ManagerView) -> StoreDecision[Restored]:
        """Read the file; whatever is wrong with it, the kubelet starts empty (S4.12)."""
        return self.understood((yield ReadCheckpoint()))

    def understood(self, reply: KeepingReply) -> Restored:
        """Return what a kubelet restores from the file, and write that from now on."""
        file = file_of(reply, self._behavior)
        if file.checkpoint is None:
            return Restored(source="nothing", error=file.error)
        bindings = self.as_kept(file.bindings)
        self.take(bindings)
        return Restored(
            source=_TARGET,
            bindings=bindings,
            registered=file.registered,
            skipped=file.skipped,
        )

    def as_kept(self, bindings: Iterable[DeviceBinding]) -> tuple[DeviceBinding, ...]:
        """Return bindings of a file as the kubelet keeps them."""
        return with_rewritten_responses(
            bindings,
            lenient=self._behavior.lenient_allocate_responses,
            cdi_devices=self._behavior.cdi_devices_known,
        )

    def take(self, bindings: Iterable[DeviceBinding]) -> None:
        """Have these bindings in every file from now on."""
        self._renderer.put(bindings)

    def leave_out(self, pods: Iterable[PodUid]) -> None:
        """Have nothing of these pods in any file from now on."""
        self._renderer.remove_pods(pods)

    @override
    def record(self, binding: DeviceBinding) -> None:
        """Have the binding in every file from now on, also if its admission is refused (S3.16)."""
        self._renderer.put((binding,))

    @override
    def on_devices_changed(
        self, view: ManagerView, resource: ResourceName, devices: Sequence[Device]
    ) -> StoreDecision[Refusal | None]:
        """Write, even if nothing changed (S1.19)."""
        return self._write(view, "devices")

    @override
    def on_container_allocated(
        self, view: ManagerView, pod: Pod, added: Sequence[DeviceBinding]
    ) -> StoreDecision[Refusal | None]:
        """Write once for the container; up to 1.19 also for one without devices (R50)."""
        if added or self._behavior.checkpoint_at_every_admission:
            return self._write(view, "allocation")
        return nothing_to_do()

    @override
    def on_taken_back(
        self, view: ManagerView, pod: Pod, added: Sequence[DeviceBinding]
    ) -> StoreDecision[Refusal | None]:
        """Write the file without what a refused allocation had brought into it."""
        self._renderer.remove_pods([pod.uid])
        self._renderer.put(view.pod_bindings(pod.uid))
        return self._write(view, "refusal")

    @override
    def on_released(
        self, view: ManagerView, pods: Sequence[PodUid]
    ) -> StoreDecision[Refusal | None]:
        """Leave the entries out of the next write (S4.10)."""
        self.leave_out(pods)
        return nothing_to_do()

    @override
    def on_resources_removed(
        self, view: ManagerView, resources: Sequence[ResourceName]
    ) -> StoreDecision[Refusal | None]:
        """Write once for all of them (S2.10)."""
        return self._write(view, "removal")

    def _write(self, view: ManagerView, cause: str) -> StoreDecision[Refusal | None]:
        return self.write(view, cause, view.registered())

    def write(
        self, view: ManagerView, cause: str, registered: Registered
    ) -> StoreDecision[Refusal | None]:
        """Write the file with these resources and their healthy devices."""
        content = self._renderer.render(registered)
        reply = yield WriteCheckpoint(content, cause, self.directory_synced)
        if not isinstance(reply, Stored | StoreFailed):
            message = f"a checkpoint write cannot be answered with {reply}"
            raise TypeError(message)
        error = reply.message if isinstance(reply, StoreFailed) else ""
        view.note(StateWritten(target=_TARGET, cause=cause, size=len(content), error=error))
        return CheckpointNotWritten(error) if error else None


def file_of(reply: KeepingReply, behavior: Behavior) -> FileState:
    """Return what a kubelet of this version makes of the answer to `ReadCheckpoint`.

    Raises:
        TypeError: The driver answered with a reply of another kind of call.
    """
    if isinstance(reply, Missing):
        return FileState()
    if isinstance(reply, StoreFailed):
        return FileState(error=reply.message)
    if not isinstance(reply, CheckpointContent):
        message = f"a checkpoint read cannot be answered with {reply}"
        raise TypeError(message)
    return read_file(reply.content, behavior)
