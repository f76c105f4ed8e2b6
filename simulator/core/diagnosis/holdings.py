"""What a checkpoint file says about one pod, and about the resources that it asks for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from simulator.core.checkpoint.bindings import read_bindings
from simulator.core.checkpoint.values import Checkpoint
from simulator.core.devices import NO_NUMA_NODE, DeviceId, DevicesPerNuma, device_ids
from simulator.core.diagnosis.observed import ObservedPod
from simulator.core.plurals import counted
from simulator.core.pods import ContainerName, PodUid
from simulator.core.resources import ResourceName
from simulator.core.transitions import DeviceBinding


@dataclass(frozen=True, slots=True)
class HeldRecord:
    """One entry of the pod.

    Attributes:
        not_healthy: Ids that are not among the resource's healthy ones in the file (S4.4).
        also_held: Other pods that hold one of the ids, by id.
    """

    container: ContainerName
    resource: ResourceName
    devices: DevicesPerNuma
    not_healthy: tuple[DeviceId, ...]
    also_held: Mapping[DeviceId, tuple[PodUid, ...]]


@dataclass(frozen=True, slots=True)
class ResourceAccount:
    """One resource in the file.

    Attributes:
        healthy: Ids in RegisteredDevices; None when the resource has no key there.
        holders: Number of ids by pod.
        free: Healthy ids that no pod holds.
    """

    resource: ResourceName
    healthy: int | None
    holders: Mapping[PodUid, int]
    free: int


@dataclass(frozen=True, slots=True)
class PodHoldings:
    """What the file says.

    Attributes:
        accounts: Of the resources that the pod asks for or holds.
        pods: How many pods have entries.
    """

    records: tuple[HeldRecord, ...]
    accounts: tuple[ResourceAccount, ...]
    pods: int

    def counts(self) -> dict[tuple[ContainerName, ResourceName], int]:
        """Return how many devices the pod holds by container and resource."""
        return {
            (record.container, record.resource): len(device_ids(record.devices))
            for record in self.records
        }


def holdings_of(pod: ObservedPod, checkpoint: Checkpoint, *, lenient: bool) -> PodHoldings:
    """Look a pod up in a checkpoint.

    Args:
        pod: Its uid counts.
        checkpoint: A valid one.
        lenient: `Behavior.lenient_allocate_responses`.
    """
    bindings = read_bindings(checkpoint, lenient=lenient).bindings
    healthy = {
        resource: frozenset(ids or ()) for resource, ids in (checkpoint.registered or {}).items()
    }
    own = [binding for binding in bindings if binding.pod == pod.uid]
    wanted = [resource for _, resource, _ in pod.requests()]
    resources = dict.fromkeys([*wanted, *(binding.resource for binding in own)])
    return PodHoldings(
        records=tuple(_record(binding, bindings, healthy) for binding in own),
        accounts=tuple(_account(resource, bindings, healthy) for resource in resources),
        pods=len({binding.pod for binding in bindings}),
    )


def _record(
    binding: DeviceBinding,
    bindings: Sequence[DeviceBinding],
    healthy: Mapping[ResourceName, frozenset[DeviceId]],
) -> HeldRecord:
    others: dict[DeviceId, dict[PodUid, None]] = {}
    ids = device_ids(binding.devices)
    for other in bindings:
        if other.pod != binding.pod and other.resource == binding.resource:
            for device in frozenset(ids).intersection(device_ids(other.devices)):
                others.setdefault(device, {})[other.pod] = None
    known = healthy.get(binding.resource, frozenset())
    return HeldRecord(
        binding.container,
        binding.resource,
        binding.devices,
        tuple(device for device in ids if device not in known),
        {device: tuple(others[device]) for device in ids if device in others},
    )


def _account(
    resource: ResourceName,
    bindings: Sequence[DeviceBinding],
    healthy: Mapping[ResourceName, frozenset[DeviceId]],
) -> ResourceAccount:
    held: dict[PodUid, set[DeviceId]] = {}
    for binding in bindings:
        if binding.resource == resource:
            held.setdefault(binding.pod, set()).update(device_ids(binding.devices))
    known = healthy.get(resource)
    free = frozenset(known or ()).difference(*held.values())
    return ResourceAccount(
        resource,
        None if known is None else len(known),
        {uid: len(ids) for uid, ids in held.items()},
        len(free),
    )


def sentences(holdings: PodHoldings) -> Iterator[str]:
    """Say what the file says, one sentence at a time."""
    if not holdings.records:
        yield (
            f"It has no entry of this pod (entries of {counted(holdings.pods, 'other pod')}): by "
            "the file the pod holds no device."
        )
    for record in holdings.records:
        yield f"Container {record.container} holds {record.resource}: {_groups(record.devices)}."
        if record.not_healthy:
            yield (
                f"Not among the healthy devices of {record.resource}: "
                f"{', '.join(record.not_healthy)}."
            )
        for device, pods in record.also_held.items():
            yield (
                f"{device} of {record.resource} is also held by "
                f"{counted(len(pods), 'other pod')}: {', '.join(pods)} (R79)."
            )
    for account in holdings.accounts:
        yield _account_text(account)


def _groups(devices: DevicesPerNuma) -> str:
    return "; ".join(
        f"{'no NUMA node' if node == NO_NUMA_NODE else f'NUMA {node}'}: {', '.join(ids)}"
        for node, ids in sorted(devices.items())
    )


def _account_text(account: ResourceAccount) -> str:
    if account.healthy is None:
        return f"{account.resource} is not registered in the file: no plugin had reported it."
    held = ", ".join(f"{uid} holds {count}" for uid, count in account.holders.items())
    return (
        f"{account.resource} is registered with {counted(account.healthy, 'healthy device')}, "
        f"{account.free} of them free ({held or 'no pod holds any'})."
    )
