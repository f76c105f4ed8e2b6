"""Three stories of a node, in which every kind of call is made and every way out is taken."""

from __future__ import annotations

from simulator.core.devices import Device
from simulator.core.endpoints import PluginOptions
from simulator.core.machine import TopologyPolicy
from simulator.core.pods import ContainerKind
from tests.core.driving import GPU, NIC, container, device, pod
from tests.recovery.exploring import Story
from tests.recovery.node import Node

ALL_CALLS = PluginOptions(pre_start_required=True, preferred_allocation=True)


def gpus(*numbers: int, prefix: str = "g") -> tuple[Device, ...]:
    """Return devices that alternate between two NUMA nodes."""
    return tuple(device(f"{prefix}{number}", nodes=[number % 2]) for number in numbers)


def pods_come_and_go(node: Node) -> None:
    """Init containers hand devices on; ended pods free theirs; health changes under a pod."""
    node.plug(GPU, *gpus(0, 1, 2, 3), options=ALL_CALLS)
    setup = container("setup", {GPU: 2}, ContainerKind.INIT)
    node.create(pod("p1", setup, container("main", {GPU: 1})))
    node.create(pod("p2", {GPU: 1}))
    node.end("p1")
    node.create(pod("p3", {GPU: 2}))
    node.report(GPU, *gpus(0, 1, 2), device("g3", "Unhealthy", nodes=[1]))
    node.restart_container("p2", "main")
    node.end("p2")
    node.release()
    node.create(pod("p4", {GPU: 1}))


def a_restart_before_a_late_plugin(node: Node) -> None:
    """Two resources, one plugin late; pods end, arrive and are refused around two restarts."""
    node.plug(GPU, *gpus(0, 1), options=PluginOptions(preferred_allocation=True))
    node.plug(NIC, device("n0"), device("n1"), is_late=True)
    node.create(
        pod("p1", container("train", {GPU: 1, NIC: 1}), container("serve", {GPU: 1, NIC: 1}))
    )
    node.restart()
    node.create(pod("p2", {NIC: 1}))
    node.end("p1")
    node.restart()
    node.create(pod("p3", {GPU: 2, NIC: 1}))
    node.create(pod("p4", {NIC: 1}))


def refusals_and_a_reboot_with_other_ids(node: Node) -> None:
    """Admissions fail in their second container or resource; a reboot renames a device.

    Under a topology policy the kubelet of 1.36 would crash for ever on the vanished id (S7.7).
    """
    node.plug(GPU, *gpus(0, 1, 2), options=PluginOptions(pre_start_required=True))
    node.plug(NIC, device("n0"))
    node.create(pod("p1", {GPU: 1}))
    node.create(pod("p2", container("first", {GPU: 1}), container("second", {GPU: 2})))
    node.create(pod("p3", {GPU: 1, NIC: 2}))
    node.create(pod("p4", {GPU: 1, NIC: 1}))
    node.end("p3")
    node.reboot()
    node.report(GPU, *gpus(1, 2), *gpus(0, prefix="x"))
    node.reboot()
    node.create(pod("p5", {GPU: 2}))


STORIES = {
    story.play.__name__: story
    for story in (
        Story(pods_come_and_go, TopologyPolicy.BEST_EFFORT),
        Story(a_restart_before_a_late_plugin, TopologyPolicy.BEST_EFFORT),
        Story(refusals_and_a_reboot_with_other_ids),
    )
}
