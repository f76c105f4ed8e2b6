"""The pods of a kubelet around a `Rig`, and what its PodResources service would answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from simulator.core.behavior import Behavior
from simulator.core.persistence.checkpoint import CheckpointPersistence
from simulator.core.persistence.protocol import Persistence
from simulator.core.pod_resources import PodResources, PodResourcesGates, PodResourcesView
from simulator.core.pods import Pod, PodUid
from simulator.core.refusals import Admission
from simulator.core.switches import behavior_for
from tests.core.driving import Rig


class Kubelet:
    """A rig with a pod manager: pods stay known after they have ended."""

    def __init__(
        self,
        behavior: Behavior | str,
        gates: PodResourcesGates | None = None,
        persistence: Callable[[Behavior], Persistence] = CheckpointPersistence,
    ) -> None:
        known = behavior_for(behavior) if isinstance(behavior, str) else behavior
        self.rig = Rig(behavior=known, persistence=persistence)
        self._pods: dict[PodUid, Pod] = {}
        self._ended: set[PodUid] = set()
        self._view_of: tuple[object, PodResourcesView] | None = None
        self._gates = gates or PodResourcesGates()

    def known(self) -> Iterable[Pod]:
        return list(self._pods.values())

    def is_active(self, uid: PodUid) -> bool:
        return uid in self.rig.facts.active_pods

    def is_terminal(self, uid: PodUid) -> bool:
        return uid in self._ended

    @property
    def view(self) -> PodResourcesView:
        """The service of the present kubelet process."""
        if self._view_of is None or self._view_of[0] is not self.rig.manager:
            view = PodResourcesView(self.rig.manager, self, self.rig.behavior, self._gates)
            self._view_of = (self.rig.manager, view)
        return self._view_of[1]

    def admit(self, created: Pod) -> Admission:
        self._pods[created.uid] = created
        return self.rig.admit(created)

    def finish(self, uid: str) -> None:
        """Let a pod succeed."""
        self.rig.end(uid)
        self._ended.add(PodUid(uid))

    def delete(self, uid: str) -> None:
        """Let a pod vanish from the pod manager."""
        del self._pods[PodUid(uid)]
        if self.is_active(PodUid(uid)):
            self.rig.end(uid)

    def list_pods(self, version: str = "v1") -> tuple[PodResources, ...]:
        return self.rig.run(self.view.list_pods(version))

    def listed(self, version: str = "v1") -> dict[str, dict[str, list[str]]]:
        """Return pod to container to ids, in the order of the answer."""
        return {pod.name: containers_of(pod) for pod in self.list_pods(version)}


def containers_of(pod: PodResources) -> dict[str, list[str]]:
    """Return a pod's containers with the ids of all their entries."""
    return {
        container.name: [id_ for entry in container.devices for id_ in entry.ids]
        for container in pod.containers
    }
