"""The strategy `bind-resource`: devices stand in the pod's spec, bound before the pod starts (P3).

`BindResource` is called between admission and the first container, so it costs a pod its own wait
and not that of the others behind it. A spec once bound is never changed: devices that are chosen
again, or other hardware after a reboot, cannot be written, and the pod fails. What a spec names
before this kubelet has seen the pod is given to it, or the pod is refused.

Revision 1 of the proposal of 2018 (persistence-designs 1.1).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from typing_extensions import override

from simulator.core.api_calls import ApiRefused, ApiStored, ApiUnavailable, AwaitEcho, BindDevices
from simulator.core.api_refusals import DevicesNotBound
from simulator.core.calls import StoreDecision
from simulator.core.devices import DeviceId
from simulator.core.persistence.api_only import ApiOnlyPersistence
from simulator.core.persistence.defaults import nothing_to_do
from simulator.core.persistence.protocol import Gate, ManagerView, PodsListed, StartDelayed
from simulator.core.persistence.spec_devices import (
    SpecDevices,
    bound,
    identity_of,
    named_bindings,
)
from simulator.core.pods import Container, ContainerName, Pod, PodUid
from simulator.core.refusals import Refusal
from simulator.core.resources import ResourceName
from simulator.core.transitions import DeviceBinding


class BindResourcePersistence(ApiOnlyPersistence):
    """Keeps device bindings in pod specs.

    Args:
        waits_for_echo: Whether a pod starts only when the kubelet's own watch shows the binding.
        per_container: Whether there is one call for each container with devices; all of them come
            before the first container.
        bulk: Whether the client may put the calls of several pods into one request.
    """

    def __init__(
        self, *, waits_for_echo: bool = False, per_container: bool = False, bulk: bool = False
    ) -> None:
        self._waits_for_echo = waits_for_echo
        self._per_container = per_container
        self._bulk = bulk
        self._specs = SpecDevices()

    @property
    @override
    def name(self) -> str:
        return "bind-resource"

    @override
    def on_pods_listed(self, view: ManagerView, pods: Sequence[Pod]) -> StoreDecision[PodsListed]:
        """Take up what the specs name: the ids come with the pods."""
        yield from ()
        return PodsListed(named_bindings(view, pods))

    @override
    def assigned(
        self, pod: Pod, container: Container, resource: ResourceName
    ) -> Sequence[DeviceId] | None:
        """Give a container what its spec names."""
        return container.bound_to(resource)

    @override
    def on_released(
        self, view: ManagerView, pods: Sequence[PodUid]
    ) -> StoreDecision[Refusal | None]:
        """Forget the pods; their specs go with them."""
        self._specs.forget(pods)
        return nothing_to_do()

    @override
    def before_start(self, view: ManagerView, pod: Pod) -> StoreDecision[Gate]:
        """Bind what the spec does not have yet."""
        for bindings in self._requests(self._specs.lacks(view, pod)):
            gate = yield from self._bind(view, pod, bindings)
            if gate is not None:
                return gate
        return None

    def _requests(self, lacking: tuple[DeviceBinding, ...]) -> Iterator[tuple[DeviceBinding, ...]]:
        if not self._per_container:
            if lacking:
                yield lacking
            return
        by_container: dict[ContainerName, list[DeviceBinding]] = {}
        for binding in lacking:
            by_container.setdefault(binding.container, []).append(binding)
        yield from map(tuple, by_container.values())

    def _bind(
        self, view: ManagerView, pod: Pod, bindings: tuple[DeviceBinding, ...]
    ) -> StoreDecision[Gate]:
        reply = yield BindDevices(identity_of(pod), bindings, self._bulk)
        if isinstance(reply, ApiUnavailable):
            return StartDelayed(reply.message)
        if isinstance(reply, ApiRefused):
            view.note(bound("resourcebinding", pod.uid, bindings, reply.message))
            # Of a pod that is gone the watch will tell; until then it does not start.
            waits = reply.gone or reply.is_forbidden
            return StartDelayed(reply.message) if waits else DevicesNotBound(reply.message)
        if not isinstance(reply, ApiStored):
            message = f"BindResource cannot be answered with {reply}"
            raise TypeError(message)
        if self._waits_for_echo:
            echo = yield AwaitEcho(identity_of(pod), reply.revision)
            if isinstance(echo, ApiUnavailable):
                return StartDelayed(echo.message)
        self._specs.answered(bindings)
        view.note(bound("resourcebinding", pod.uid, bindings))
        return None
