"""What must always hold inside a device manager, recounted from scratch.

Slow on purpose and used by tests and scenarios; the device manager itself counts as it goes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from simulator.core.behavior import Reservations
from simulator.core.device_pool import DevicePool
from simulator.core.devices import DeviceId, device_ids
from simulator.core.manager_state import ManagerState
from simulator.core.pods import PodUid
from simulator.core.records import InvariantViolated
from simulator.core.resources import ResourceName


def violations(state: ManagerState) -> list[InvariantViolated]:
    """Return the broken invariants of a device manager with no decision under way.

    Held equals the bindings; the slots in use are the held and reserved ids; no device is in two
    pods; nothing is reserved, unless the kubelet's leaks are wanted. With its leaks come its races:
    what it found free before a plugin call may be given elsewhere during the call (S3.12, S3.18).
    """
    races = state.reservations is Reservations.UPSTREAM
    return [
        InvariantViolated(name, detail, by_kubelet=races and check is _one_pod_each)
        for check in (_held_equals_bindings, _slots_agree, _one_pod_each, _nothing_reserved)
        for name, detail in check(state)
    ]


def _held_equals_bindings(state: ManagerState) -> Iterator[tuple[str, str]]:
    counted: dict[ResourceName, Counter[DeviceId]] = {}
    bindings: Counter[ResourceName] = Counter()
    for binding in state.pod_devices:
        counted.setdefault(binding.resource, Counter()).update(device_ids(binding.devices))
        bindings[binding.resource] += 1
    for resource, pool in sorted(state.inventory.pools.items()):
        found = dict(counted.get(resource, {}))
        if pool.held != found or pool.bindings != bindings[resource]:
            yield "held equals bindings", f"{resource}: counted {found}, held {pool.held}"


def _slots_agree(state: ManagerState) -> Iterator[tuple[str, str]]:
    for resource, pool in sorted(state.inventory.pools.items()):
        if pool.taken != pool.slots_of(pool.allocated()) or pool.ids != tuple(sorted(pool.ids)):
            yield "slots agree", f"{resource}: taken {pool.taken:b}, in use {pool.allocated()}"


def _one_pod_each(state: ManagerState) -> Iterator[tuple[str, str]]:
    holders: dict[tuple[ResourceName, DeviceId], PodUid] = {}
    for binding in state.pod_devices:
        for device in device_ids(binding.devices):
            holder = holders.setdefault((binding.resource, device), binding.pod)
            if holder != binding.pod:
                yield "I1", f"{binding.resource} {device} is held by {holder} and {binding.pod}"


def _nothing_reserved(state: ManagerState) -> Iterator[tuple[str, str]]:
    if state.reservations is Reservations.UPSTREAM:
        return
    for resource, pool in sorted(state.inventory.pools.items()):
        if pool.reserved:
            yield "nothing reserved at rest", f"{resource}: {_reserved(pool)}"


def _reserved(pool: DevicePool) -> tuple[DeviceId, ...]:
    return tuple(pool.reserved or ())
