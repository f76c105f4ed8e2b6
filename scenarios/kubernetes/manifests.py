"""Plain Kubernetes manifests to pods: Pod, List, and the templates of Deployment, ReplicaSet, Job.

Reads what the device manager and the pod's life depend on. Keys of the levels it reads must be
Kubernetes' own, so that `limit:` for `limits:` is found; deeper levels (volumes, probes, …) are
left alone, so that production files can be pasted. Faults use the API server's wording.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from scenarios.files.documents import Document, Path
from scenarios.files.phrases import found, nearest
from scenarios.files.values import Values
from scenarios.kubernetes import keys
from simulator.api.dialect.names import label_faults, subdomain_faults
from simulator.core.instants import SECOND, Duration
from simulator.core.pods import Container, ContainerKind, ContainerName, Pod, PodUid
from simulator.core.resource_requests import (
    LIMITS,
    REQUESTS,
    extended_counts,
    request_faults,
)
from simulator.core.resources import ResourceName
from simulator.engine.spec import Controller

REPLICAS_MAX: Final = 1_000
"""Most pods that one template makes."""
GRACE_SECONDS_MAX: Final = 86_400
"""Longest terminationGracePeriodSeconds that is read."""

_KINDS: Final = {
    ("v1", "Pod"): Controller.NONE,
    ("apps/v1", "Deployment"): Controller.REPLICA_SET,
    ("apps/v1", "ReplicaSet"): Controller.REPLICA_SET,
    ("batch/v1", "Job"): Controller.JOB,
}
_LIST: Final = ("v1", "List")
_RESTART_POLICIES: Final = ("Always", "OnFailure", "Never")


@dataclass(frozen=True, slots=True)
class ManifestPod:
    """One pod as a manifest describes it.

    Attributes:
        pod: Its containers; the uid is empty.
        controller: What kind of manifest it came from.
        node: `spec.nodeName`, empty when absent.
        document: Where it stands, with `path`.
    """

    pod: Pod
    controller: Controller
    restart_policy: str
    termination_grace: Duration
    node: str
    document: Document
    path: Path


def read_manifest(document: Document, path: Path = ()) -> list[ManifestPod]:
    """Read the manifest at `path` of a document.

    Raises:
        InputError: It is no manifest, or the API server would refuse it.
    """
    return _manifest(Values(document), path, inside_list=False)


def read_containers(document: Document, path: Path) -> Pod:
    """Read `containers` and `initContainers` at `path` as the containers of a pod without a name.

    Raises:
        InputError: The API server would refuse them.
    """
    values = Values(document)
    pod = Pod(
        PodUid(""),
        "",
        init_containers=_containers(values, path, "initContainers"),
        containers=_containers(values, path, "containers"),
    )
    _check_containers(values, path, pod)
    return pod


def read_limits(document: Document, path: Path) -> tuple[tuple[ResourceName, int], ...]:
    """Read a map of resource names to quantities; only extended resources are returned.

    Raises:
        InputError: The API server would refuse it.
    """
    values = Values(document)
    limits = _quantities(values, path)
    for fault in request_faults(limits, {}):
        where = (*path, fault.name)
        raise values.fault(where, f"{fault.field}: {fault.message}", key=fault.about_key)
    return tuple(extended_counts(limits).items())


def _manifest(values: Values, path: Path, *, inside_list: bool) -> list[ManifestPod]:
    values.keys(path)
    kind = (values.text((*path, "apiVersion")), values.text((*path, "kind")))
    if kind == _LIST and not inside_list:
        items = values.items((*path, "items"))
        return [pod for item in items for pod in _manifest(values, item, inside_list=True)]
    controller = _KINDS.get(kind)
    if controller is None:
        allowed = ", ".join(" ".join(one) for one in (*_KINDS, _LIST))
        reason = f"{' '.join(kind)[:80]} is not a manifest with pods; allowed: {allowed}"
        raise values.fault((*path, "kind"), reason)
    values.keys(path, keys.OBJECT)
    name = _object_name(values, path)
    if controller is Controller.NONE:
        return [_pod(values, path, name, controller)]
    count_key = "parallelism" if controller is Controller.JOB else "replicas"
    count = values.whole((*path, "spec", count_key), default=1, most=REPLICAS_MAX)
    names = [name] if count == 1 else [f"{name}-{index}" for index in range(count)]
    template = (*path, "spec", "template")
    values.keys(template, keys.OBJECT)
    return [_pod(values, template, one, controller) for one in names]


def _object_name(values: Values, path: Path) -> str:
    where = (*path, "metadata", "name")
    values.keys((*path, "metadata"), keys.METADATA)
    name = values.text(where)
    if subdomain_faults(name):
        raise values.fault(where, f"metadata.name: {_invalid(name)}: must be a DNS-1123 name")
    where = (*path, "metadata", "namespace")
    namespace = values.text(where, default="default")
    if label_faults(namespace):
        reason = f"metadata.namespace: {_invalid(namespace)}: must be a DNS-1123 label"
        raise values.fault(where, reason)
    return name


def _pod(values: Values, path: Path, name: str, controller: Controller) -> ManifestPod:
    spec = (*path, "spec")
    values.keys(spec, keys.POD_SPEC)
    default = "Never" if controller is Controller.JOB else "Always"
    policy = values.text((*spec, "restartPolicy"), default=default)
    if policy not in _RESTART_POLICIES:
        reason = f"spec.restartPolicy: {found(policy)} is not allowed"
        fault = f"{reason}{nearest(policy, _RESTART_POLICIES)}"
        raise values.fault((*spec, "restartPolicy"), fault)
    pod = Pod(
        uid=PodUid(""),
        name=name,
        namespace=values.text((*path, "metadata", "namespace"), default="default"),
        init_containers=_containers(values, spec, "initContainers"),
        containers=_containers(values, spec, "containers"),
    )
    _check_containers(values, spec, pod)
    grace = values.whole(
        (*spec, "terminationGracePeriodSeconds"), default=30, most=GRACE_SECONDS_MAX
    )
    node = values.text((*spec, "nodeName"), default="")
    return ManifestPod(
        pod, controller, policy, Duration(grace * SECOND), node, values.document, path
    )


def _check_containers(values: Values, spec: Path, pod: Pod) -> None:
    if not pod.containers:
        raise values.fault(spec, "spec.containers: Required value")
    names = [container.name for container in pod.all_containers()]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise values.fault(spec, f'spec.containers: Duplicate value: "{twice}"')


def _containers(values: Values, spec: Path, key: str) -> tuple[Container, ...]:
    return tuple(
        _container(values, item, f"spec.{key}[{item[-1]}]", init=key == "initContainers")
        for item in values.items((*spec, key))
    )


def _container(values: Values, path: Path, shown: str, *, init: bool) -> Container:
    values.keys(path, keys.CONTAINER)
    name = values.text((*path, "name"))
    if label_faults(name):
        reason = f"{shown}.name: {_invalid(name)}: must be a DNS-1123 label"
        raise values.fault((*path, "name"), reason)
    kind = ContainerKind.REGULAR
    if init:
        always = values.text((*path, "restartPolicy"), default="") == "Always"
        kind = ContainerKind.SIDECAR if always else ContainerKind.INIT
    return Container(ContainerName(name), _limits(values, path, shown), kind)


def _limits(values: Values, path: Path, shown: str) -> tuple[tuple[ResourceName, int], ...]:
    """Return the limits; the API server's rules about resources hold."""
    resources = (*path, "resources")
    if not values.has(resources):
        return ()
    values.keys(resources, keys.RESOURCES)
    limits = _quantities(values, (*resources, LIMITS))
    for fault in request_faults(limits, _quantities(values, (*resources, REQUESTS))):
        where = (*resources, fault.section, fault.name)
        reason = f"{shown}.resources.{fault.field}: {fault.message}"
        raise values.fault(where, reason, key=fault.about_key)
    return tuple(extended_counts(limits).items())


def _quantities(values: Values, path: Path) -> dict[str, str]:
    names = values.keys(path) if values.has(path) else ()
    return {name: values.raw((*path, name)) for name in names}


def _invalid(value: str) -> str:
    return f'Invalid value: "{value[:60]}"'
