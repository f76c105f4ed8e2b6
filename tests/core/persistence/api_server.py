"""An API server for tests of strategies: it answers at once, unless it is down or loses a reply."""

from __future__ import annotations

from dataclasses import dataclass, field

from simulator.core.api_calls import ApiCall, ApiReply, ApiStored, ApiUnavailable, AwaitEcho
from simulator.core.devices import DeviceId
from simulator.core.facts import ContainerInstance
from simulator.core.pods import ContainerName, Pod, PodUid
from simulator.core.resource_bindings import bind
from simulator.core.resources import ResourceName
from simulator.core.transitions import PodIdentity
from simulator.engine.api_devices import DeviceObjects
from tests.core.driving import GPU, MAIN, Rig


@dataclass
class Stored:
    """A pod object."""

    pod: Pod
    revision: int


@dataclass
class Server:
    """Pods and DeviceBinding objects.

    Attributes:
        calls: What it was asked, in order; asked in vain too.
        is_down: Whether nothing reaches it.
        loses: How many of the next replies are lost after the request was carried out.
    """

    calls: list[ApiCall] = field(default_factory=list)
    is_down: bool = False
    loses: int = 0
    devices: DeviceObjects = field(init=False)

    def __post_init__(self) -> None:
        self._revision = 0
        self._pods: dict[str, Stored] = {}
        self.devices = DeviceObjects(self._present, self._changed, self._next)

    def create(self, pod: Pod) -> Pod:
        self._pods[pod.name] = Stored(pod, self._next())
        return pod

    def delete(self, pod: Pod) -> None:
        del self._pods[pod.name]

    def seen(self, pod: Pod) -> Pod:
        """Return the pod as the watch shows it now."""
        return self._pods[pod.name].pod

    def listed(self) -> list[Pod]:
        return [each.pod for each in self._pods.values()]

    def name_devices(self, pod: Pod, *ids: str, resource: ResourceName = GPU) -> Pod:
        """Let somebody else bind devices to the container `main`."""
        bound = bind(pod, {MAIN: ((resource, tuple(map(DeviceId, ids))),)})
        assert isinstance(bound, Pod)
        self._pods[pod.name] = Stored(bound, self._next())
        return bound

    def named(self, pod: Pod, container: ContainerName = MAIN) -> tuple[DeviceId, ...] | None:
        """Return the GPUs in the spec of a pod."""
        return self.seen(pod).container_named(container).bound_to(GPU)

    def answer(self, call: ApiCall) -> ApiReply:
        self.calls.append(call)
        if self.is_down:
            return ApiUnavailable("connection refused")
        if isinstance(call, AwaitEcho):
            return ApiStored(call.revision)
        reply = self.devices.answer(call)
        if self.loses:
            self.loses -= 1
            return ApiUnavailable("timeout")
        return reply

    def taken(self) -> list[ApiCall]:
        """Return the calls since the last time."""
        calls, self.calls = self.calls, []
        return calls

    def _changed(self, uid: PodUid) -> None:
        for each in self._pods.values():
            if each.pod.uid == uid:
                each.revision = self._next()

    def _present(self, pod: PodIdentity) -> Stored | None:
        return self._pods.get(pod.name)

    def _next(self) -> int:
        self._revision += 1
        return self._revision


def flush(rig: Rig) -> bool:
    """Write to the API what is owed to it; return whether the server answered."""
    return rig.run(rig.manager.api.flush())


def restart(rig: Rig, server: Server, *running: Pod) -> str:
    """Restart the kubelet up to the moment at which the pods are listed, and not admitted yet.

    Args:
        rig: The kubelet.
        server: What lists them.
        running: Those whose containers run.

    Returns:
        What keeps the kubelet from knowing its devices, if anything does.
    """
    rig.facts.active_pods.clear()
    rig.start(
        *(
            ContainerInstance(each.uid, one.name, f"{each.uid}-{one.name}", running=True)
            for each in running
            for one in each.containers
        ),
        sources_ready=False,
    )
    rig.calls.clear()
    rig.writes.clear()
    return rig.run(rig.manager.api.pods_listed(server.listed()))
