"""A node that begins in the middle of its life: with a checkpoint, and the pods that it names.

The pods run, unless their status says otherwise, with the devices that the checkpoint gives them;
the database holds what the checkpoint says when that is where state is kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TypeAlias

from simulator.config import CHECKPOINT_FILE_NAME
from simulator.core.api_calls import PutDeviceBinding
from simulator.core.checkpoint.bindings import read_bindings
from simulator.core.checkpoint.recognition import inspect
from simulator.core.checkpoint.values import Checkpoint
from simulator.core.devices import device_ids
from simulator.core.pods import Container, ContainerKind, ContainerName, Pod, PodUid
from simulator.core.transitions import (
    CheckpointImported,
    DeviceBinding,
    OnConflict,
    PodIdentity,
)
from simulator.engine.api import ApiServer
from simulator.engine.api_objects import PENDING, SUCCEEDED, TERMINAL_PHASES, ApiPod, PodStatus
from simulator.engine.authority import read_checkpoint
from simulator.engine.node import Node
from simulator.engine.runtime import GivenDevices
from simulator.engine.spec import ContainerStart, ContainerState, PodSpec, PodStart
from simulator.errors import CheckpointError, ScenarioError

DevicesByContainer: TypeAlias = Mapping[tuple[PodUid, ContainerName], GivenDevices]


def place_initial_pods(node: Node, api: ApiServer) -> None:
    """Give a node the state from which it starts.

    Raises:
        ScenarioError: The checkpoint is damaged, and the state is to be kept in a database.
    """
    content = node.spec.checkpoint
    regime = node.phase.regime
    if content is not None and regime.writes_rows:
        _import(node, content)
    if content is not None and regime.writes_file:
        node.storage.disk.put(CHECKPOINT_FILE_NAME, content)
    bindings = _begun_with(node, content)
    devices = _devices_by_container(bindings)
    of_pods: dict[PodUid, list[DeviceBinding]] = {}
    for binding in bindings:
        of_pods.setdefault(binding.pod, []).append(binding)
    for pod in node.spec.pods:
        start = _start(node, pod)
        if start.gone:
            continue
        own = of_pods.get(pod.uid, [])
        known = _with_devices(pod, devices) if own and node.kept.in_specs else pod
        api.place(_api_pod(node, known, start))
        if own and node.kept.in_objects:
            owner = PodIdentity(pod.uid, pod.namespace, pod.name)
            api.devices.answer(PutDeviceBinding(node.name, owner, tuple(own)))
        _place_containers(node, pod, start, devices)


def pods_only_recorded(node: Node) -> dict[str, ApiPod]:
    """Return by name the pods that the node's records name and no API has any more."""
    gone = [(pod, _start(node, pod)) for pod in node.spec.pods if _start(node, pod).gone]
    pods = {pod.name: _api_pod(node, pod, start) for pod, start in gone}
    for pod in pods.values():
        pod.deleted = True
    return pods


def _begun_with(node: Node, content: bytes | None) -> tuple[DeviceBinding, ...]:
    """Return the node's records; without file and rows they are only in the API, from now on."""
    if node.kept.in_file or node.kept.in_rows:
        return node.authority.state(node.behavior).bindings
    return read_checkpoint(content, node.behavior).bindings


def _with_devices(pod: Pod, given: DevicesByContainer) -> Pod:
    """Return a pod with its devices in its spec, as a kubelet that ran before has bound them."""

    def of(container: Container) -> Container:
        return replace(container, compute_devices=given.get((pod.uid, container.name), ()))

    return replace(
        pod,
        init_containers=tuple(of(each) for each in pod.init_containers),
        containers=tuple(of(each) for each in pod.containers),
    )


def _start(node: Node, pod: Pod) -> PodStart:
    return node.spec.pod_starts.get(pod.uid, PodStart())


def _api_pod(node: Node, pod: Pod, start: PodStart) -> ApiPod:
    spec = PodSpec(pod.name, pod, node=node.name, restart_policy=start.restart_policy)
    restarts = sum(container.restarts for container in start.containers.values())
    status = PodStatus(start.phase, start.reason, start.message, restarts=restarts)
    return ApiPod(spec, pod, node.name, status)


def _readable(node: Node, content: bytes) -> Checkpoint:
    """Return what a file of whatever format says, as `rebind checkpoint import` reads it."""
    problem = "its checksum is wrong"
    try:
        inspection = inspect(content)
        if inspection.is_valid:
            return inspection.checkpoint
    except CheckpointError as error:
        problem = str(error)
    reason = (
        f'the checkpoint of node "{node.name}" cannot be imported into a database: {problem}; '
        "run it with the persistence checkpoint"
    )
    raise ScenarioError(reason)


def _import(node: Node, content: bytes) -> None:
    checkpoint = _readable(node, content)
    read = read_bindings(checkpoint, lenient=node.behavior.lenient_allocate_responses)
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


def _devices_by_container(bindings: Iterable[DeviceBinding]) -> DevicesByContainer:
    """Return what bindings give to each container, sorted by resource."""
    found: dict[tuple[PodUid, ContainerName], GivenDevices] = {}
    for binding in sorted(bindings, key=lambda each: each.resource):
        given = (binding.resource, tuple(device_ids(binding.devices)))
        key = binding.pod, binding.container
        found[key] = (*found.get(key, ()), given)
    return found


def _place_containers(node: Node, pod: Pod, start: PodStart, given: DevicesByContainer) -> None:
    """List the pod's containers as they stand; one that was restarted has exited once before."""
    if start.phase not in TERMINAL_PHASES:
        node.runtime.create_sandbox(pod.uid)
    for container in pod.all_containers():
        devices = given.get((pod.uid, container.name), ())
        found = start.containers.get(container.name) or _implied(container, start.phase)
        if found.restarts:
            node.runtime.place(pod.uid, container.name, devices, succeeded=False)
        if found.state is not ContainerState.WAITING:
            ended = {ContainerState.SUCCEEDED: True, ContainerState.FAILED: False}
            node.runtime.place(pod.uid, container.name, devices, succeeded=ended.get(found.state))


def _implied(container: Container, phase: str) -> ContainerStart:
    """Return what the phase says of a container; a plain init container has done its work."""
    if phase == PENDING:
        return ContainerStart(ContainerState.WAITING)
    if container.kind is ContainerKind.INIT or phase == SUCCEEDED:
        return ContainerStart(ContainerState.SUCCEEDED)
    failed = phase in TERMINAL_PHASES
    return ContainerStart(ContainerState.FAILED if failed else ContainerState.RUNNING)
