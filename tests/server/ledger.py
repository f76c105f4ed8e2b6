"""What clients of a server were told, and what must therefore be so after any kill -9."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

RUNNING: Final = "Running"
ENDED: Final = ("Failed", "Succeeded")

Devices = Mapping[str, tuple[str, ...]]
"""Device ids by resource."""


@dataclass(frozen=True)
class SeenPod:
    """A pod as a client sees it."""

    name: str
    uid: str
    node: str
    phase: str
    devices: Devices
    ending: bool = False


@dataclass
class Ledger:
    """What one client was told; each client keeps its own, of pods that only it touches.

    Attributes:
        applied: Pods that the server has said to have made.
        deleting: Pods that it was asked to delete, whatever it said.
        deleted: Pods that it has said to delete.
        gone: Pods that it has said to be gone.
        running: Pods that were seen to run, with their devices.
    """

    applied: set[str] = field(default_factory=set)
    deleting: set[str] = field(default_factory=set)
    deleted: set[str] = field(default_factory=set)
    gone: set[str] = field(default_factory=set)
    running: dict[str, SeenPod] = field(default_factory=dict)

    def see(self, pod: SeenPod) -> list[str]:
        """Note a pod; return what is wrong with it."""
        wrong = []
        if pod.name in self.gone:
            wrong.append(f"{pod.name} is there again after its deletion was answered")
        if pod.phase != RUNNING or not pod.devices:
            return wrong
        before = self.running.setdefault(pod.name, pod)
        if (before.uid, before.devices) != (pod.uid, pod.devices):
            wrong.append(f"{pod} runs, and was {before}")
        return wrong


@dataclass(frozen=True)
class Sight:
    """What a server shows when nothing changes.

    Attributes:
        pods: All pods.
        listed: What PodResources says, by node and pod name, of pods with devices.
        held: What each store says, by node and pod uid.
    """

    pods: tuple[SeenPod, ...]
    listed: Mapping[tuple[str, str], Devices]
    held: Mapping[str, Mapping[tuple[str, str], Devices]]

    @property
    def is_settled(self) -> bool:
        """Whether each pod has come to where it stays."""
        return all(not pod.ending and pod.phase in (RUNNING, *ENDED) for pod in self.pods)


def faults(ledger: Ledger, rebooted: set[str], sight: Sight) -> list[str]:
    """Return what is not as it must be.

    Args:
        ledger: What clients were told.
        rebooted: Nodes that were asked to reboot, so that their pods may have ended (S3.11).
        sight: What a server shows that was started anew.
    """
    pods = {pod.name: pod for pod in sight.pods}
    wrong = [fault for pod in sight.pods for fault in ledger.see(pod)]
    wrong += [f"{name} is lost" for name in sorted(ledger.applied - ledger.deleting - pods.keys())]
    wrong += [f"{name} is not deleted" for name in sorted(ledger.deleted & pods.keys())]
    for name, before in sorted(ledger.running.items()):
        now = pods.get(name)
        if now is None or name in ledger.deleting:
            continue
        ended_by_reboot = now.phase in ENDED and now.node in rebooted
        if now.phase != RUNNING and not ended_by_reboot:
            wrong.append(f"{now} ran as {before}")
    return wrong + disagreements(sight)


def disagreements(sight: Sight) -> list[str]:
    """Return where pods, PodResources and store say different things (S8.7, invariants)."""
    shown = {
        (pod.node, pod.name): dict(pod.devices)
        for pod in sight.pods
        if pod.devices and pod.phase not in ENDED
    }
    uids = {(pod.node, pod.uid): pod.name for pod in sight.pods}
    wrong = []
    if shown != sight.listed:
        wrong.append(f"pods have {shown}, PodResources says {sight.listed}")
    for store, rows in sight.held.items():
        held = {
            (node, uids.get((node, uid), uid)): dict(devices)
            for (node, uid), devices in rows.items()
        }
        if held != sight.listed:
            wrong.append(f"the {store} has {held}, PodResources says {sight.listed}")
    return wrong + shared(sight)


def shared(sight: Sight) -> list[str]:
    """Return the devices that more than one pod has."""
    holders = Counter(
        (node, resource, device)
        for (node, _), devices in sight.listed.items()
        for resource, ids in devices.items()
        for device in ids
    )
    return [f"{device} has {count} holders" for device, count in holders.items() if count > 1]
