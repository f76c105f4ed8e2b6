"""What a kubelet would do with a checkpoint file at its next start, as facts and in words.

The facts come from the readers and switches that the simulated kubelet uses, so that the words
cannot say anything else than what happens.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from simulator.core.behavior import (
    Behavior,
    CheckpointFormat,
    ExtendedResourceReset,
    ReadmissionHealthCheck,
    RunningCheck,
)
from simulator.core.checkpoint.bindings import read_bindings
from simulator.core.checkpoint.parse import parse
from simulator.core.checkpoint.values import Checkpoint, CheckpointEntry
from simulator.core.devices import device_ids
from simulator.core.instants import format_duration
from simulator.core.plurals import counted
from simulator.core.releases import spans, spans_text
from simulator.core.resources import ResourceName
from simulator.core.transitions import DeviceBinding
from simulator.errors import CheckpointError


@dataclass(frozen=True, slots=True)
class Outlook:
    """What one kubelet makes of a file.

    Attributes:
        kubelet: The kubelet.
        content: What the file says, whoever reads it; None when it is damaged.
        error: Why the kubelet cannot read it and starts empty (S4.12); empty when it can.
        restored: What it restores; nothing when it cannot read the file.
        skipped: Entries whose response it cannot decode (S4.13).
        registered: Resources that it knows from the start (S2.8).
    """

    kubelet: Behavior
    content: Checkpoint | None
    error: str
    restored: tuple[DeviceBinding, ...] = ()
    skipped: tuple[CheckpointEntry, ...] = ()
    registered: tuple[ResourceName, ...] = ()

    @property
    def is_read(self) -> bool:
        """Whether the kubelet reads the file."""
        return not self.error

    @property
    def is_other_format(self) -> bool:
        """Whether the file has a format that the kubelet does not read."""
        content = self.content
        return content is not None and content.format not in self.kubelet.checkpoints_read

    @property
    def numa_is_assumed(self) -> bool:
        """Whether ids get NUMA node 0 because the format has no nodes (S4.15)."""
        old = self.content is not None and self.content.format is CheckpointFormat.V1
        return self.is_read and old and self.kubelet.checkpoint_written is CheckpointFormat.V2

    @property
    def lost(self) -> tuple[DeviceBinding, ...]:
        """What the file says and the kubelet forgets."""
        if self.content is None:
            return ()
        kept = {(each.pod, each.container, each.resource) for each in self.restored}
        return tuple(
            each
            for each in read_bindings(self.content, lenient=True).bindings
            if (each.pod, each.container, each.resource) not in kept
        )

    @property
    def refuses_running_pods(self) -> bool:
        """Whether running pods are refused at a kubelet restart when the plugin is late (S5.4)."""
        check = self.kubelet.readmission_health_check
        trusted = not self.is_read or self.kubelet.trusts_checkpoint
        return not trusted and check is ReadmissionHealthCheck.WITHOUT_RUNNING_CHECK

    @property
    def refuses_after_reboot(self) -> bool:
        """Whether pods with records are refused after a reboot when the plugin is late (S5.4)."""
        check = self.kubelet.readmission_health_check
        trusted = not self.is_read or self.kubelet.trusts_checkpoint
        return not trusted and check is not ReadmissionHealthCheck.ABSENT

    @property
    def zeroes_node(self) -> bool:
        """Whether the node's extended resources are set to 0 although there is a file (S2.16)."""
        return self.kubelet.extended_resource_reset is ExtendedResourceReset.ALWAYS


def outlook(content: bytes, checkpoint: Checkpoint | None, kubelet: Behavior) -> Outlook:
    """Return what a kubelet would make of a file.

    Args:
        content: The file.
        checkpoint: What it says by any format; None when it is damaged.
        kubelet: The kubelet.
    """
    try:
        parsed = parse(content, kubelet.checkpoints_read)
    except CheckpointError as error:
        return Outlook(kubelet, checkpoint, str(error))
    read = read_bindings(parsed, lenient=kubelet.lenient_allocate_responses)
    return Outlook(kubelet, parsed, "", read.bindings, read.skipped, tuple(parsed.registered or ()))


def summary(outlook: Outlook) -> str:
    """Say in one line what a kubelet makes of the file."""
    if not outlook.is_read:
        return f"cannot read it and starts without any record: {outlook.error}"
    left_out = f", leaves {len(outlook.skipped)} out" if outlook.skipped else ""
    return f"restores {counted(len(outlook.restored), 'entry', 'entries')}{left_out}"


def sentences(outlook: Outlook) -> Iterator[str]:
    """Say what a kubelet does at its next start, and after it."""
    if outlook.is_read:
        yield from _reading(outlook)
        yield from _pods(outlook)
    else:
        yield from _losing(outlook)
    yield from _writing(outlook)


def _totals(bindings: Sequence[DeviceBinding]) -> tuple[int, int]:
    pods = {binding.pod for binding in bindings}
    devices = {
        (binding.resource, device) for binding in bindings for device in device_ids(binding.devices)
    }
    return len(pods), len(devices)


def _reading(outlook: Outlook) -> Iterator[str]:
    count = counted(len(outlook.restored), "entry", "entries")
    pods, devices = _totals(outlook.restored)
    yield f"It reads the file and restores {count} of {counted(pods, 'pod')}."
    if outlook.numa_is_assumed:
        yield (
            "The file is of format V1, which has no NUMA nodes: every device is put under NUMA "
            "node 0, wherever it is (S4.15)."
        )
    for entry in outlook.skipped:
        yield (
            f"It leaves out pod {entry.pod}, container {entry.container}, {entry.resource}: it "
            "cannot decode the plugin's response (S4.13)."
        )
    if devices:
        yield (
            f"{counted(devices, 'device')} of {'this pod' if pods == 1 else 'these pods'} "
            f"{'is' if devices == 1 else 'are'} in use from the first moment on, before any plugin "
            "has registered (S5.13)."
        )
    if outlook.registered:
        grace = format_duration(outlook.kubelet.endpoint_grace_period)
        yield (
            f"It knows {_names(outlook.registered)}, with 0 devices until the plugin registers; "
            f"a resource whose plugin is not back after {grace} is dropped (S2.8, S2.12)."
        )


def _pods(outlook: Outlook) -> Iterator[str]:
    pods, _ = _totals(outlook.restored)
    if not pods:
        return
    their = f"the {'pod' if pods == 1 else f'{pods} pods'} that it has records of"
    late = "when the plugin is not back yet"
    if outlook.refuses_running_pods:
        yield (
            f"At a kubelet restart it refuses {their} {late}, and kills their running containers "
            "(S3 step D, R01)."
        )
    elif outlook.refuses_after_reboot:
        yield (
            f"At a kubelet restart it admits {their} again, whatever the plugin does, as long as "
            "their containers run; a finished init container with devices has the whole pod "
            "refused (S3 step B, R36)."
        )
        if outlook.kubelet.running_check is RunningCheck.FIRST:
            yield (
                "A container that was restarted before may pass for not running, and its pod be "
                "refused (S5.6, R04)."
            )
    else:
        yield f"At a kubelet restart it admits {their} again, with the remembered devices."
    if outlook.refuses_after_reboot:
        yield (
            f"After a reboot it admits {their}, with the remembered devices, if the plugin "
            "reports all of these healthy by then; it refuses them otherwise (S3 steps D, E)."
        )
    else:
        yield (
            f"After a reboot it admits {their}, with the remembered devices, whether these are "
            "still there or not (R02)."
        )
    yield (
        "Entries of pods that are gone keep their devices until all pods of the node are known; "
        "the next admission with devices frees them, and the next write leaves them out (S6.1)."
    )


def _losing(outlook: Outlook) -> Iterator[str]:
    yield (
        f"It cannot read the file: {outlook.error}. It logs that, starts all the same, and has no "
        "record of any pod (S4.12)."
    )
    if outlook.lost:
        pods, devices = _totals(outlook.lost)
        yield (
            f"It loses {counted(len(outlook.lost), 'entry', 'entries')} of "
            f"{counted(pods, 'pod')}: containers go on running, but what they hold "
            f"({counted(devices, 'device')}) counts as free and may be given to others (S4.14)."
        )
    names = {} if outlook.content is None else outlook.content.registered or {}
    yield (
        f"It does not know {_names(names) if names else 'any resource'} until the plugin "
        "registers: pods are admitted without devices till then, after a reboot too (S3.7, R14)."
    )
    yield (
        "It sets the node's extended resources to 0 (S2.16)."
        if outlook.zeroes_node
        else "The node keeps the capacity that the API server has till then (S2.14)."
    )
    if outlook.content is not None and outlook.is_other_format:
        yield f"Files of this format are read by {_readers(outlook.content.format)}."


def _writing(outlook: Outlook) -> Iterator[str]:
    kubelet = outlook.kubelet
    form = kubelet.checkpoint_written
    when = (
        "at the next admission of any pod, and when a plugin reports its devices"
        if kubelet.checkpoint_at_every_admission
        else "when a plugin first reports its devices"
    )
    till_then = "" if outlook.is_read else ", and the file stays as it is till then"
    yield f"It writes the file next {when}, in format {form.value.upper()}{till_then} (S4.10)."
    changes = outlook.content is not None and outlook.content.format is not form
    if changes:
        yield f"That form is read by {_readers(form)}; others then start without records."


def _readers(form: CheckpointFormat) -> str:
    """Name the kubelets that read a format; those before 1.10 are not among the releases."""
    if form is CheckpointFormat.BARE:
        return "1.9 and before, and by no kubelet since"
    return spans_text(spans(lambda behavior: form in behavior.checkpoints_read))


def _names(resources: Iterable[ResourceName]) -> str:
    return ", ".join(resources)
