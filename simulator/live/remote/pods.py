"""Pods as a real API server shows them, to what a node makes of them.

The server has validated them; what a node does not look at may be anything.
"""

from __future__ import annotations

from simulator.api.client.http import revision_of
from simulator.api.dialect.compute_devices import compute_devices, kind_of
from simulator.api.dialect.documents import (
    Json,
    Object,
    containers_of,
    instant_of,
    items,
    mapping,
    text,
    whole,
)
from simulator.api.dialect.pods import GRACE_SECONDS
from simulator.core.instants import SECOND, Duration, Instant, format_duration
from simulator.core.pods import Container, ContainerName, Pod, PodUid
from simulator.core.resource_requests import LIMITS, extended_counts
from simulator.core.transitions import NodeName
from simulator.engine.api_copy import SeenPod
from simulator.engine.api_objects import ApiPod
from simulator.engine.termination import TERMINATION, termination_time
from simulator.live.pod_specs import containers_spec
from simulator.live.pod_statuses import read_status, read_status_devices


def read_pod(document: Object) -> SeenPod:
    """Return what a node makes of a pod.

    Raises:
        ValueError: It is none: it has no uid, or a quantity that is none.
    """
    metadata, spec = mapping(document, "metadata"), mapping(document, "spec")
    uid = PodUid(text(metadata, "uid"))
    if not uid:
        reason = "a pod without metadata.uid"
        raise ValueError(reason)
    created = instant_of(text(metadata, "creationTimestamp"))
    pod = Pod(
        uid=uid,
        name=text(metadata, "name"),
        namespace=text(metadata, "namespace") or "default",
        init_containers=_containers(spec, "initContainers"),
        containers=_containers(spec, "containers"),
        created=created or Instant(0),
    )
    node = text(spec, "nodeName")
    return SeenPod(
        pod=pod,
        node=NodeName(node) if node else None,
        restart_policy=text(spec, "restartPolicy") or "Always",
        termination=_termination(metadata, spec),
        status=read_status(document),
        devices=read_status_devices(uid, document),
        deleting=bool(text(metadata, "deletionTimestamp")),
        revision=revision_of(document),
    )


def _termination(metadata: Object, spec: Object) -> Duration:
    """Return how long its containers take to end: a deletion may shorten its grace period."""
    seconds = whole(spec, "terminationGracePeriodSeconds")
    grace = GRACE_SECONDS if seconds is None else seconds
    deletion = whole(metadata, "deletionGracePeriodSeconds")
    if deletion is not None:
        grace = min(grace, deletion)
    annotation = mapping(metadata, "annotations").get(TERMINATION)
    limit = Duration(grace * SECOND)
    try:
        return termination_time(None if annotation is None else str(annotation), limit)
    except ValueError:
        return termination_time(None, limit)


def _containers(spec: Object, key: str) -> tuple[Container, ...]:
    return tuple(_container(one, key) for one in items(spec, key))


def _container(found: Object, key: str) -> Container:
    limits = mapping(found, "resources", LIMITS)
    counts = extended_counts({name: str(value) for name, value in limits.items()})
    return Container(
        ContainerName(text(found, "name")),
        tuple(counts.items()),
        kind_of(found, key),
        compute_devices=compute_devices(found),
    )


def images_of(document: Object) -> dict[str, str]:
    """Return the image of each container that names one."""
    named = {text(one, "name"): text(one, "image") for one in containers_of(document)}
    return {name: image for name, image in named.items() if image}


def pod_document(pod: ApiPod) -> Object:
    """Return a pod that is to be created, from what it is made of."""
    spec: Object = {
        **containers_spec(pod.pod),
        "restartPolicy": pod.spec.restart_policy,
        "terminationGracePeriodSeconds": -(-pod.spec.termination_grace // SECOND),
    }
    if pod.node is not None:
        spec["nodeName"] = pod.node
    termination: Json = {TERMINATION: format_duration(pod.spec.termination_grace)}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": pod.pod.name,
            "namespace": pod.pod.namespace,
            "annotations": termination,
        },
        "spec": spec,
    }
