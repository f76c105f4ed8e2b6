"""Which devices a container gets of one resource: steps A to L of S3.

Steps A to F tell whether anything is to be done at all, G to L choose. The plugin is asked for its
preference in the middle (S3.18); what was chosen before is reserved by then.

Kubelet: devicesToAllocate (devicemanager/manager.go). Differs: where Go's map order chooses,
`Choices` is asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from simulator.core.affinity import split_by_affinity
from simulator.core.api_refusals import (
    ABSENT,
    UNHEALTHY,
    AssignedCountDiffers,
    AssignedDeviceUnfit,
    held_by,
)
from simulator.core.behavior import Readmission, ReadmissionHealthCheck, Reservations, RunningCheck
from simulator.core.calls import (
    CallFailed,
    Decision,
    PreferredAllocationCall,
    PreferredAllocationReply,
)
from simulator.core.device_pool import DevicePool
from simulator.core.devices import DeviceId, NumaNode
from simulator.core.manager_state import ContainerRequest, ManagerState
from simulator.core.panics import KubeletPanic
from simulator.core.plugin_calls import call_plugin
from simulator.core.records import KubeletPanicked
from simulator.core.refusals import (
    AllocatedTooFew,
    DevicesUnavailable,
    EndpointNotCached,
    NoHealthyDevices,
    PreferredAllocationFailed,
    RecordedDevicesUnhealthy,
    Refusal,
    RequestChanged,
    ResourceUnregistered,
)
from simulator.core.resources import ResourceName
from simulator.core.slot_set import SlotSet

Chosen = tuple[DeviceId, ...]
"""The devices to ask the plugin for, sorted; empty when nothing is to be done."""


def devices_to_allocate(
    state: ManagerState, request: ContainerRequest
) -> Decision[Chosen | Refusal]:
    """Choose and reserve devices for one resource of one container.

    Returns:
        The reserved ids; empty when the container already has what it needs or counts as running;
        or why it gets none. Under `reservations: upstream` a refusal may leave ids reserved (S6.4).
    """
    verdict = readmission_verdict(state, request)
    if isinstance(verdict, Refusal):
        return verdict
    if not verdict:
        return ()
    assigned = _assigned(state, request)
    if assigned is not None:
        return assigned
    picking = _Picking(state, request)
    refusal = yield from _choose(picking)
    if refusal is not None:
        state.abandon(request.resource, picking.reserved, "S3.18")
        return refusal
    return tuple(sorted(picking.chosen))


def _assigned(state: ManagerState, request: ContainerRequest) -> Chosen | Refusal | None:
    """Reserve the devices that the API assigns, or say why not; None when it leaves the choice.

    What containers of the same pod have is theirs to share (S3.2).
    """
    pod, resource = request.pod, request.resource
    container = pod.container_named(request.container)
    named = state.persistence.assigned(pod, container, resource)
    if named is None or state.pod_devices.ids(pod.uid, container.name, resource) is not None:
        return None
    if len(named) != request.count:
        return AssignedCountDiffers(resource, len(named), request.count)
    pool = state.pool(resource)
    in_use = frozenset(pool.allocated()).difference(state.pod_devices.pod_ids(pod.uid, resource))
    for device in sorted(named):
        if device in in_use:
            holder = held_by(state.holder(resource, device))
            return AssignedDeviceUnfit(resource, device, holder)
        if device not in pool.listed:
            return AssignedDeviceUnfit(resource, device, ABSENT)
        if not pool.are_healthy((device,)):
            return AssignedDeviceUnfit(resource, device, UNHEALTHY)
    pool.reserve(named)
    return tuple(sorted(named))


def readmission_verdict(state: ManagerState, request: ContainerRequest) -> Refusal | bool:
    """Tell whether devices are to be chosen, or why the container is refused (steps A to F).

    Under `readmission: reassign` devices are chosen again when the recorded ones are not available.
    """
    recorded = state.pod_devices.ids(request.pod.uid, request.container, request.resource)
    needed = request.count - len(recorded or ())
    if recorded is not None and needed:
        return RequestChanged(
            request.pod.uid, request.container, request.resource, len(recorded), request.count
        )
    check = state.health_check
    if check is ReadmissionHealthCheck.ABSENT and not needed:
        return False
    if check is ReadmissionHealthCheck.AFTER_RUNNING_CHECK and _is_left_alone(
        state, request, recorded
    ):
        return False
    refusal = _unavailable(state, request.resource, recorded)
    if refusal is None:
        return needed > 0
    chooses_again = state.readmission is Readmission.REASSIGN
    return (chooses_again and isinstance(refusal, RecordedDevicesUnhealthy)) or refusal


def _is_left_alone(
    state: ManagerState, request: ContainerRequest, recorded: Sequence[DeviceId] | None
) -> bool:
    """Tell whether the container passes without a look at its devices (step B).

    That is so when it was running at kubelet start and not all sources are ready, recorded or not;
    and in the variant that trusts the checkpoint, when it has a record and the plugin has not
    reported since (S5.16).
    """
    if state.behavior.trusts_checkpoint:
        return recorded is not None and not state.pool(request.resource).is_reported
    return not state.facts.sources_ready and _was_running(state, request)


def _was_running(state: ManagerState, request: ContainerRequest) -> bool:
    """Look the container up in the runtime's snapshot (S5.5, S5.6)."""
    instances = state.instances.get((request.pod.uid, request.container), [])
    if state.behavior.running_check is RunningCheck.ANY or len(instances) <= 1:
        return any(running for _, running in instances)
    index = state.choices.pick_instance(
        request.pod.uid, request.container, request.resource, instances
    )
    return instances[index][1]


def _unavailable(
    state: ManagerState, resource: ResourceName, recorded: Sequence[DeviceId] | None
) -> Refusal | None:
    """Return why no device can be given or kept, if so (steps C to E)."""
    pool = state.pool(resource)
    if not pool.is_registered:
        return ResourceUnregistered(resource)
    if state.health_check is ReadmissionHealthCheck.ABSENT:
        return None
    if not pool.healthy:
        return NoHealthyDevices(resource)
    if recorded is not None and not pool.are_healthy(recorded):
        return RecordedDevicesUnhealthy(resource)
    return None


@dataclass(slots=True)
class _Picking:
    """A choice under way.

    Attributes:
        chosen: Ids taken so far, in order.
        reserved: Those of them that this choice reserved.
        has_begun: Whether something was taken, be it nothing of an empty tier.
        needed: How many are still to be taken.
    """

    state: ManagerState
    request: ContainerRequest
    chosen: dict[DeviceId, None] = field(default_factory=dict)
    reserved: list[DeviceId] = field(default_factory=list)
    has_begun: bool = False
    needed: int = field(init=False)

    def __post_init__(self) -> None:
        self.needed = self.request.count

    @property
    def pool(self) -> DevicePool:
        return self.state.pool(self.request.resource)

    def take(self, tier: Sequence[DeviceId]) -> bool:
        """Reserve ids of a tier until enough are taken; tell whether they are (step G).

        From the first tier on the resource has a set of allocated ids, be it empty; where a later
        tier crashes for want of it, an empty tier does not bring it back.
        """
        if not tier and self.has_begun and self.state.behavior.rebuild_during_preference_crashes:
            return False
        self._require_set(tier)
        count = min(self.needed, len(tier))
        if not count:
            self.pool.reserve(())
            return self.needed == 0
        request = self.request
        taken = self.state.choices.take(
            tier,
            count,
            pod=request.pod.uid,
            container=request.container,
            resource=request.resource,
        )
        self.reserved += self.pool.reserve(taken)
        self.chosen.update(dict.fromkeys(taken))
        self.needed -= count
        return self.needed == 0

    def _require_set(self, tier: Sequence[DeviceId]) -> None:
        """Crash where the kubelet writes into a set that is not there (1.20.2/DIFFERENCES 9, R107).

        That is so at once when nobody holds the resource, and later when the set was dropped while
        the plugin was asked for its preference.
        """
        behavior = self.state.behavior
        crashes = (
            behavior.rebuild_during_preference_crashes
            if self.has_begun
            else behavior.reuse_into_missing_set_crashes
        )
        self.has_begun = True
        if crashes and tier and not self.pool.is_in_use:
            detail = f"{self.request.resource} has no set of allocated devices"
            raise KubeletPanic(KubeletPanicked(rule="S3.17", detail=detail))


def _choose(picking: _Picking) -> Decision[Refusal | None]:
    """Take devices: reusable, aligned, preferred by the plugin, others (steps H to L)."""
    request = picking.request
    pool = picking.pool
    if picking.take(_own(picking)):
        return None
    available = pool.of_slots(pool.free)
    if len(available) < picking.needed:
        return DevicesUnavailable(request.resource, picking.needed, len(available))
    aligned, unaligned, no_affinity = _split(picking, available)
    candidates: SlotSet = aligned
    fallback: tuple[SlotSet, ...] = (aligned,)
    if picking.needed >= len(aligned):
        if picking.take(aligned):
            return None
        candidates, fallback = available, (unaligned, no_affinity)
    preferred = yield from _preferred(picking, candidates)
    if isinstance(preferred, Refusal):
        return preferred
    for tier in (candidates.only(preferred), *fallback):
        if picking.take(_still_free(picking, tier)):
            return None
    return AllocatedTooFew(request.count, request.count - picking.needed)


def _own(picking: _Picking) -> Sequence[DeviceId]:
    """Return what the container may take of what its pod already has (step H).

    That is what init containers hand on, whose health is not looked at; and when devices are
    chosen again, those recorded ones that are healthy.
    """
    state, request, pool = picking.state, picking.request, picking.pool
    reusable = state.reusable.of(request.pod.uid, request.resource)
    recorded = state.pod_devices.ids(request.pod.uid, request.container, request.resource)
    if recorded is None:
        return reusable
    kept = pool.of_slots(pool.healthy).only(recorded)
    return tuple(sorted({*reusable, *kept}))


def _split(picking: _Picking, available: SlotSet) -> tuple[SlotSet, SlotSet, SlotSet]:
    """Sort free devices into aligned, unaligned and without affinity (step J)."""
    state, request, pool = picking.state, picking.request, picking.pool
    hint = state.hints.get(request.pod.uid, {}).get(request.container)
    if hint is None or hint.mask is None or not pool.has_topology:
        nothing = pool.of_slots(0)
        return nothing, nothing, available

    def node_order(nodes: Sequence[NumaNode]) -> Sequence[NumaNode]:
        return state.choices.order_nodes(
            nodes, pod=request.pod.uid, container=request.container, resource=request.resource
        )

    groups = split_by_affinity(
        available,
        affinity=hint.mask,
        devices=pool.listed,
        behavior=state.behavior,
        node_order=node_order,
    )
    return (
        available.only(groups.aligned),
        available.only(groups.unaligned),
        available.only(groups.no_affinity),
    )


def _preferred(picking: _Picking, candidates: SlotSet) -> Decision[Sequence[DeviceId] | Refusal]:
    """Ask the plugin which of the candidates it prefers, if it wants to be asked (S3.18)."""
    state, request = picking.state, picking.request
    if not state.behavior.preferred_allocation_known:
        return ()
    endpoint = state.inventory.endpoints.get(request.resource)
    if endpoint is None:
        return EndpointNotCached(request.resource)
    if endpoint.options is None or not endpoint.options.preferred_allocation:
        return ()
    call = PreferredAllocationCall(
        resource=request.resource,
        available=tuple(sorted({*candidates, *picking.chosen})),
        must_include=tuple(sorted(picking.chosen)),
        size=request.count,
        pod=request.pod.uid,
        container=request.container,
    )
    reply = yield from call_plugin(state, call, PreferredAllocationReply)
    if isinstance(reply, CallFailed):
        return PreferredAllocationFailed(reply.message)
    return reply.devices


def _still_free(picking: _Picking, tier: SlotSet) -> SlotSet:
    """Return what may be taken of a tier that was found before the plugin was asked.

    The kubelet takes all of it, whatever changed while it had dropped its lock. Without leaks
    there are no double reservations either: what is no longer healthy and free is left out.
    """
    rest = tier.without(picking.chosen)
    if picking.state.reservations is Reservations.UPSTREAM:
        return rest
    return rest.only(picking.pool.of_slots(picking.pool.free))
