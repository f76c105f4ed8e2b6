"""What `apply` takes: the objects of a file, each with the pods that are made from it.

A file is read whole before anything of it is made, so one that is not valid changes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from typing_extensions import override

from scenarios.files.documents import Document, Path, Plain, plain, read_documents
from scenarios.kubernetes.manifests import ManifestPod, read_manifest
from simulator.core.instants import Duration
from simulator.core.transitions import NodeName
from simulator.engine.spec import Controller, PodSpec
from simulator.engine.termination import TERMINATION, termination_time
from simulator.errors import InputError, ManifestError

FILE_SIZE_MAX: Final = 16 * 1024 * 1024
"""Largest file of manifests, in bytes."""
PODS_MAX: Final = 10_000
"""Most pods that one file makes."""

_RESOURCES: Final = {
    "Pod": "pod",
    "Deployment": "deployment.apps",
    "ReplicaSet": "replicaset.apps",
    "Job": "job.batch",
}
WORKLOADS: Final = {
    "deployment": "deployment.apps",
    "deployments": "deployment.apps",
    "deploy": "deployment.apps",
    "replicaset": "replicaset.apps",
    "replicasets": "replicaset.apps",
    "rs": "replicaset.apps",
    "job": "job.batch",
    "jobs": "job.batch",
}
"""What a user may call a kind to what kubectl prints of it."""


@dataclass(frozen=True, slots=True)
class ObjectKey:
    """Names an object: `pod/trainer` in a namespace."""

    resource: str
    namespace: str
    name: str

    @override
    def __str__(self) -> str:
        """Return it as kubectl prints it."""
        return f"{self.resource}/{self.name}"


@dataclass(frozen=True, slots=True)
class Template:
    """A pod to be made, and the manifest that it shows."""

    spec: PodSpec
    manifest: Mapping[str, Plain]


@dataclass(frozen=True, slots=True)
class Applied:
    """One object of a file.

    Attributes:
        content: The object in a form in which two that say the same are equal.
        document, path: Where it stands.
    """

    key: ObjectKey
    templates: tuple[Template, ...]
    content: str
    document: Document
    path: Path

    def fault(self, reason: str) -> InputError:
        """Return the error that says `reason` about this object."""
        return self.document.fault(self.path, reason)


def read_objects(content: bytes, name: str) -> list[Applied]:
    """Read the objects of a file.

    Args:
        content: Documents of kind Pod, Deployment, ReplicaSet, Job or List, YAML or JSON.
        name: The file's name in messages.

    Raises:
        ManifestError: It is no such file, or the API server would refuse an object in it.
    """
    documents = read_documents(content, name, error=ManifestError, size_max=FILE_SIZE_MAX)
    pods = [pod for document in documents for pod in read_manifest(document)]
    if not pods:
        reason = f"{name}: no object in it; write a Pod, Deployment, ReplicaSet, Job or List"
        raise ManifestError(reason)
    if len(pods) > PODS_MAX:
        reason = f"{name}: it makes {len(pods)} pods; at most {PODS_MAX} are made from a file"
        raise ManifestError(reason)
    objects: dict[tuple[int, Path], list[ManifestPod]] = {}
    for pod in pods:
        path = pod.path if pod.controller is Controller.NONE else pod.path[:-2]
        objects.setdefault((id(pod.document), path), []).append(pod)
    return [_object(path, of_object) for (_, path), of_object in objects.items()]


def _object(path: Path, pods: list[ManifestPod]) -> Applied:
    document = pods[0].document
    root = _plain(document, path)
    metadata = root.get("metadata")
    given = metadata if isinstance(metadata, dict) else {}
    namespace = str(given.get("namespace") or "default")
    key = ObjectKey(_RESOURCES[str(root["kind"])], namespace, str(given.get("name")))
    templates = tuple(_template(pod, namespace) for pod in pods)
    return Applied(key, templates, content_of(root), document, path)


def content_of(manifest: Mapping[str, Plain]) -> str:
    """Return what a manifest wants, in a form in which two that want the same are equal."""
    wanted = {part: value for part, value in manifest.items() if part != "status"}
    return json.dumps(wanted, sort_keys=True)


def _template(pod: ManifestPod, namespace: str) -> Template:
    manifest = _plain(pod.document, pod.path)
    spec = PodSpec(
        name=pod.pod.name,
        pod=replace(pod.pod, namespace=namespace),
        node=NodeName(pod.node) if pod.node else None,
        controller=pod.controller,
        restart_policy=pod.restart_policy,
        termination_grace=_termination(pod, manifest),
    )
    return Template(spec, manifest)


def _plain(document: Document, path: Path) -> dict[str, Plain]:
    node = document.find(path)
    found = plain(node) if node is not None else {}
    return found if isinstance(found, dict) else {}


def _termination(pod: ManifestPod, manifest: Mapping[str, Plain]) -> Duration:
    """Return how long the pod's containers take to end; the grace period bounds it (S6.5)."""
    metadata = manifest.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    text = annotations.get(TERMINATION) if isinstance(annotations, dict) else None
    try:
        return termination_time(None if text is None else str(text), pod.termination_grace)
    except ValueError as cause:
        where = (*pod.path, "metadata", "annotations", TERMINATION)
        raise pod.document.fault(where, f"{TERMINATION}: {cause}") from cause


def with_grace(spec: PodSpec, seconds: int) -> PodSpec:
    """Return a pod's spec with at most so many seconds to end."""
    return replace(
        spec, termination_grace=Duration(min(spec.termination_grace, seconds * 1_000_000_000))
    )
