"""A node that begins in the middle of its life: with a checkpoint, and the pods that it names.

The pods run, with the devices that the checkpoint gives them; the database holds what the
checkpoint says when that is where state is kept.
"""

from __future__ import annotations

from simulator.config import CHECKPOINT_FILE_NAME
from simulator.core.checkpoint.bindings import read_bindings
from simulator.core.checkpoint.parse import parse
from simulator.core.devices import device_ids
from simulator.core.pods import Pod
from simulator.core.transitions import (
    CheckpointImported,
    DeviceBinding,
    OnConflict,
    PodIdentity,
)
from simulator.engine.api import RUNNING, ApiPod, ApiServer, PodStatus
from simulator.engine.node import Node
from simulator.engine.spec import PodSpec


def place_initial_pods(node: Node, api: ApiServer) -> None:
    """Give a node the state from which it starts.

    Raises:
        CheckpointError: The checkpoint cannot be read by the node's kubelet version, and the state
            is to be kept in a database.
    """
    content = node.spec.checkpoint
    if content is not None and node.database is not None:
        bindings = _import(node, content)
    elif content is not None:
        node.storage.disk.put(CHECKPOINT_FILE_NAME, content)
        bindings = node.authority.state(node.behavior).bindings
    else:
        bindings = ()
    for pod in node.spec.pods:
        spec = PodSpec(pod.name, pod, node=node.name)
        api.create(ApiPod(spec, pod, node.name, PodStatus(phase=RUNNING)))
        _run_containers(node, pod, bindings)


def _import(node: Node, content: bytes) -> tuple[DeviceBinding, ...]:
    behavior = node.behavior
    checkpoint = parse(content, behavior.checkpoints_read)
    read = read_bindings(checkpoint, lenient=behavior.lenient_allocate_responses)
    registered = checkpoint.registered or {}
    if node.database is not None:
        node.database.apply(
            (
                CheckpointImported(
                    node=node.name,
                    at=node.now,
                    content=content,
                    bindings=read.bindings,
                    registered=tuple((name, ids or ()) for name, ids in registered.items()),
                    on_conflict=OnConflict.KEEP,
                    pods=tuple(
                        PodIdentity(pod.uid, pod.namespace, pod.name) for pod in node.spec.pods
                    ),
                ),
            )
        )
    return read.bindings


def _run_containers(node: Node, pod: Pod, bindings: tuple[DeviceBinding, ...]) -> None:
    """Let the pod's containers run; init containers have done their work."""
    node.runtime.create_sandbox(pod.uid)
    for container in pod.all_containers():
        devices = tuple(
            (binding.resource, device_ids(binding.devices))
            for binding in sorted(bindings, key=lambda each: each.resource)
            if (binding.pod, binding.container) == (pod.uid, container.name)
        )
        node.runtime.place(pod.uid, container, devices)
