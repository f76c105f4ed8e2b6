"""Short runs that show what the PodResources service of a version answers (S8).

Each returns what is to be seen under a behavior, whether or not this version serves the method.
"""

from __future__ import annotations

from simulator.core.behavior import Behavior
from simulator.core.instants import Instant
from simulator.core.pod_resources import LookupFailed, PodResourcesGates, call_limit, served_methods
from simulator.core.pods import ContainerKind
from tests.core.driving import GPU, container, device, pod
from tests.core.kubelet_pods import Kubelet


def served(behavior: Behavior) -> object:
    """S8.2, S8.6."""
    return served_methods(behavior)


def list_after_a_pod_has_ended(behavior: Behavior) -> object:
    """R46, S8.11: whether its devices are freed, and whether it is listed and found."""
    kubelet = Kubelet(behavior)
    kubelet.rig.plug(GPU, "g0")
    kubelet.admit(pod("job", {GPU: 1}))
    kubelet.finish("job")
    found = kubelet.view.pod("default", "name-job")
    return kubelet.listed(), kubelet.rig.held("job"), isinstance(found, LookupFailed)


def list_after_a_pod_has_ended_with_the_gate_off(behavior: Behavior) -> object:
    """R46, S8.8, PR 135485."""
    kubelet = Kubelet(behavior, PodResourcesGates(active_pods=False))
    kubelet.admit(pod("job", {}))
    kubelet.finish("job")
    return kubelet.listed()


def list_with_a_sidecar(behavior: Behavior) -> object:
    """R42."""
    kubelet = Kubelet(behavior)
    kubelet.admit(pod("p1", container("side", {}, ContainerKind.SIDECAR), container("main", {})))
    return kubelet.listed()


def entries_of_devices_of_one_node(behavior: Behavior) -> object:
    """1.20.2 list 19; which devices are allocatable does not matter, all are healthy."""
    kubelet = Kubelet(behavior)
    kubelet.rig.plug(GPU, device("g0", nodes=[0]), device("g1", nodes=[0]), "g2")
    kubelet.admit(pod("p1", {GPU: 3}))
    return kubelet.list_pods(), kubelet.view.allocatable()


def eleven_calls_at_once(behavior: Behavior) -> object:
    """S8.3."""
    limit = call_limit(behavior, Instant(0))
    answers = []
    for _ in range(11):
        allowed, limit = (True, None) if limit is None else limit.take(Instant(0))
        answers.append(allowed)
    return answers
