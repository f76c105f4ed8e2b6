"""DeviceBinding objects for tests: a kubelet that keeps them, and what they say."""

from __future__ import annotations

from simulator.core.api_calls import ApiStored, PutDeviceBinding
from simulator.core.devices import NO_NUMA_NODE, device_ids
from simulator.core.persistence.binding_object import BindingObjectPersistence
from simulator.core.pods import Pod
from simulator.core.refusals import ADMITTED
from simulator.core.transitions import DeviceBinding, NodeName, PodIdentity
from tests.core.driving import GPU, MAIN, Rig, ids, pod
from tests.core.persistence.api_server import Server

NODE = NodeName("n0")


def rig_of(server: Server, *, synchronous: bool = True) -> Rig:
    rig = Rig(
        persistence=lambda _: BindingObjectPersistence(synchronous=synchronous),
        on_api=server.answer,
    )
    rig.plug(GPU, "g0", "g1", "g2", "g3")
    return rig


def started(rig: Rig, server: Server, uid: str, count: int = 1) -> Pod:
    """Let a pod come up to its first container."""
    created = server.create(pod(uid, {GPU: count}))
    assert rig.admit(created).admitted
    assert rig.run(rig.manager.api.before_start(created)) == ADMITTED
    return created


def kinds(server: Server) -> list[type]:
    return [type(call) for call in server.taken()]


def said(server: Server) -> dict[str, tuple[str, ...]]:
    """Return what the objects say, by pod uid."""
    return {
        each.pod.uid: tuple(one for b in each.bindings for one in device_ids(b.devices))
        for each in server.devices.objects()
    }


def object_of(server: Server, name: str, uid: str, *devices: str, node: NodeName = NODE) -> None:
    """Let somebody else make an object."""
    found = {NO_NUMA_NODE: ids(*devices)}
    owner = pod(uid).uid
    call = PutDeviceBinding(
        node,
        PodIdentity(owner, "default", name),
        (DeviceBinding(owner, MAIN, GPU, found, None),),
    )
    assert isinstance(server.devices.answer(call), ApiStored)
