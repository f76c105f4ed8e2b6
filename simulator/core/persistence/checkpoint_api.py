"""The strategy `checkpoint+api`: the file, and a copy in the pods' specs that follows it (P2).

A pod whose spec does not have its devices is dirty; dirty pods are flushed to the API in the sync
loop, once every `flushPeriod`, in the order in which they became dirty. Nothing waits for it, so
between two flushes a crash together with the disk loses what was not flushed.

The file counts wherever it says something of a pod that is there (W11): what the API has then is a
copy, and one that differs stays, since devices in a spec are never exchanged. What the file does
not have is taken from the specs of the node's pods, so a lost, damaged or outdated file is repaired
from them, but for the plugins' responses: null stands for those in the file, and the plugins are
asked again. What is repaired is a record like any other: on a machine that has not these devices
the pod fails (step E).

Offered in the review of 2018 (persistence-designs 1.2).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from typing_extensions import override

from simulator.core.api_calls import (
    ApiAnsweredEach,
    ApiRefused,
    ApiStored,
    ApiUnavailable,
    BindDevices,
    BindManyDevices,
)
from simulator.core.behavior import Behavior
from simulator.core.calls import KeepingReply, StoreDecision
from simulator.core.devices import DeviceId
from simulator.core.instants import Duration
from simulator.core.persistence.checkpoint import CheckpointPersistence
from simulator.core.persistence.protocol import ManagerView, PodsListed
from simulator.core.persistence.spec_devices import (
    SpecDevices,
    bound,
    identity_of,
    named_bindings,
    outdated_holders,
)
from simulator.core.pods import Container, Pod, PodUid
from simulator.core.records import StatesDiffer
from simulator.core.refusals import Refusal
from simulator.core.resources import ResourceName
from simulator.core.transitions import DeviceBinding


class CheckpointApiPersistence(CheckpointPersistence):
    """Writes the file at once and the specs later.

    Args:
        behavior: The kubelet version.
        flush_period: From one flush to the next; 0 for none, so at once.
        bulk: Whether a flush is one request for all pods (`bulkBind`).
    """

    def __init__(self, behavior: Behavior, *, flush_period: Duration, bulk: bool = False) -> None:
        super().__init__(behavior)
        self._flush_period = flush_period
        self._bulk = bulk
        self._specs = SpecDevices()
        self._dirty: dict[PodUid, Pod] = {}

    @property
    @override
    def name(self) -> str:
        return "checkpoint+api"

    @property
    @override
    def recalls_ids_only(self) -> bool:
        return True

    @property
    @override
    def flush_period(self) -> Duration | None:
        return self._flush_period

    @property
    @override
    def owes_api(self) -> bool:
        return bool(self._dirty)

    @override
    def as_kept(self, bindings: Iterable[DeviceBinding]) -> tuple[DeviceBinding, ...]:
        """Keep apart what has an empty response and what has none."""
        read = tuple(bindings)
        return tuple(
            before if before.response is None else after
            for before, after in zip(read, super().as_kept(read), strict=True)
        )

    @override
    def assigned(
        self, pod: Pod, container: Container, resource: ResourceName
    ) -> Sequence[DeviceId] | None:
        """Give a container that is not in the file what its spec names."""
        return container.bound_to(resource)

    @override
    def on_pods_listed(self, view: ManagerView, pods: Sequence[Pod]) -> StoreDecision[PodsListed]:
        """Take up what specs name and the file lacks, and have it in the file."""
        outdated = outdated_holders(view, pods)
        found = named_bindings(view, pods, outdated)
        if found:
            detail = f"{len(found)} device bindings stand in pod specs only"
            view.note(StatesDiffer(believed="api", detail=detail))
            self.leave_out(outdated)
            self.take(found)
            registered = {resource: tuple(ids) for resource, ids in view.registered()}
            for binding in found:
                registered.setdefault(binding.resource, ())
            yield from self.write(view, "repair", sorted(registered.items()))
        return PodsListed(found, outdated)

    @override
    def on_pod_admitted(
        self, view: ManagerView, pod: Pod, added: Sequence[DeviceBinding]
    ) -> StoreDecision[Refusal | None]:
        """Owe the API what the pod's spec does not have."""
        if self._specs.lacks(view, pod):
            self._dirty[pod.uid] = pod
        return super().on_pod_admitted(view, pod, added)

    @override
    def on_pod_rejected(
        self, view: ManagerView, pod: Pod, reason: str, message: str
    ) -> StoreDecision[Refusal | None]:
        """Owe nothing for a pod that does not run."""
        self.owe_nothing(pod.uid)
        return super().on_pod_rejected(view, pod, reason, message)

    @override
    def owe_nothing(self, pod: PodUid) -> None:
        """Leave the pod's spec as it is: it never had what it would say."""
        self._dirty.pop(pod, None)

    @override
    def on_released(
        self, view: ManagerView, pods: Sequence[PodUid]
    ) -> StoreDecision[Refusal | None]:
        """Forget the pods; their specs go with them."""
        self._specs.forget(pods)
        for pod in pods:
            self.owe_nothing(pod)
        return super().on_released(view, pods)

    @override
    def on_tick(self, view: ManagerView) -> StoreDecision[bool]:
        """Flush the pods that are dirty now, each with one write at most."""
        requests = tuple(
            BindDevices(identity_of(pod), self._specs.lacks(view, pod))
            for pod in self._dirty.values()
        )
        if self._bulk and requests:
            return (yield from self._flush_at_once(view, requests))
        is_granted = True
        for request in requests:
            if request.pod.uid not in self._dirty:
                continue
            reply = yield request
            if isinstance(reply, ApiUnavailable):
                return False
            if not isinstance(reply, ApiStored | ApiRefused):
                raise TypeError(_misfit(reply))
            is_granted &= self._answered(view, request, reply)
        return is_granted

    def _flush_at_once(
        self, view: ManagerView, requests: tuple[BindDevices, ...]
    ) -> StoreDecision[bool]:
        reply = yield BindManyDevices(requests)
        if isinstance(reply, ApiUnavailable):
            return False
        if not isinstance(reply, ApiAnsweredEach):
            raise TypeError(_misfit(reply))
        is_granted = True
        for request, answer in zip(requests, reply.replies, strict=True):
            is_granted &= self._answered(view, request, answer)
        return is_granted

    def _answered(
        self, view: ManagerView, request: BindDevices, reply: ApiStored | ApiRefused
    ) -> bool:
        """Take note of an answer; tell whether the server has said its word about the devices.

        A refusal is final: what is in the file counts, whatever the API says of it (W11). Only
        where this kubelet is forbidden to ask, it asks again.
        """
        uid = request.pod.uid
        error = reply.message if isinstance(reply, ApiRefused) else ""
        view.note(bound("resourcebinding", uid, request.bindings, error))
        if isinstance(reply, ApiRefused) and reply.is_forbidden:
            return uid not in self._dirty
        pod = self._dirty.get(uid)
        if pod is not None:
            self._specs.answered(request.bindings)
            if not self._specs.lacks(view, pod):
                del self._dirty[uid]
        return True


def _misfit(reply: KeepingReply) -> str:
    return f"a flush cannot be answered with {reply}"
