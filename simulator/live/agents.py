"""What a live kubelet answers to agents that ask for pod resources (S8)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence

from simulator.core.behavior import Behavior
from simulator.core.pod_resources import (
    ContainerDevices,
    LookupFailed,
    PodResources,
    PodResourcesView,
)
from simulator.core.pods import Pod, PodUid
from simulator.engine.kubelet import Kubelet
from simulator.engine.local_pods import Stage
from simulator.engine.node import Node
from simulator.live.timeline import LiveTimeline


class KubeletPods:
    """The pods of a kubelet process (`simulator.core.pod_resources.KubeletPods`)."""

    def __init__(self, kubelet: Kubelet) -> None:
        self._kubelet = kubelet

    def known(self) -> Iterator[Pod]:
        """Return all pods of the pod manager, those that have ended too (S6.7)."""
        return (local.pod for local in self._kubelet.pods if local.stage is not Stage.QUEUED)

    def is_active(self, uid: PodUid) -> bool:
        """Tell whether a pod counts as active (S6.5)."""
        return self._kubelet.pods.is_active(uid)

    def is_terminal(self, uid: PodUid) -> bool:
        """Tell whether a pod has succeeded or failed."""
        local = self._kubelet.pods.get(uid)
        return local is None or local.status.is_terminal


class PodResourcesAnswers:
    """The answers of one kubelet process (`simulator.wire.pod_resources.PodResourcesOwner`)."""

    def __init__(
        self, node: Node, behavior: Behavior, timeline: LiveTimeline, revision: Callable[[], int]
    ) -> None:
        kubelet = node.kubelet
        if kubelet is None:
            message = f"no kubelet runs on {node.name}, whose sockets are to be opened"
            raise ValueError(message)
        self._kubelet = kubelet
        self._timeline = timeline
        self.revision = revision
        self._view = PodResourcesView(kubelet.manager, KubeletPods(kubelet), behavior)

    async def list_pods(self, version: str) -> Sequence[PodResources]:
        """Release what can be released, durably, and answer List (S8.7)."""
        loop = asyncio.get_running_loop()
        listed: asyncio.Future[Sequence[PodResources]] = loop.create_future()

        def done(answer: Sequence[PodResources]) -> None:
            if not listed.done():
                listed.set_result(answer)

        self._timeline.enter(
            lambda: self._kubelet.driver.run_store(self._view.list_pods(version), done)
        )
        return await listed

    def allocatable(self) -> Sequence[ContainerDevices]:
        """Answer GetAllocatableResources (S8.10)."""
        return self._view.allocatable()

    def pod(self, namespace: str, name: str) -> PodResources | LookupFailed:
        """Answer Get (S8.11)."""
        return self._view.pod(namespace, name)
