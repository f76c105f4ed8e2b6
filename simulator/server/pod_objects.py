"""Pods as the API server shows them: `v1` Pod objects with their status."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from scenarios.files.documents import Plain
from simulator.api.dialect.documents import timestamp
from simulator.api.dialect.pods import GRACE_SECONDS
from simulator.core.devices import device_ids
from simulator.core.instants import Instant, after
from simulator.core.pods import PodUid
from simulator.core.resource_health import AllocatedResourcesStatus
from simulator.engine.api_objects import ApiPod
from simulator.engine.node import Node
from simulator.live.pod_specs import containers_spec
from simulator.live.pod_statuses import PodSight, pod_status
from simulator.reports.documents import Json


class PodObjects:
    """Makes pod objects; keeps of each pod what its kubelet last said of its devices' health.

    A kubelet that is down says nothing new, so the status stays as it was (S9.4).
    """

    def __init__(self) -> None:
        self._health: dict[PodUid, AllocatedResourcesStatus] = {}

    def forget(self, pod: PodUid) -> None:
        """Let go of a pod that is gone."""
        self._health.pop(pod, None)

    def document(  # noqa: PLR0913 - what a pod is shown from, by keyword
        self,
        pod: ApiPod,
        node: Node | None,
        manifest: Mapping[str, Plain],
        *,
        version: int = 0,
        deleted_at: Instant | None = None,
        shown: Mapping[str, Plain] | None = None,
    ) -> dict[str, Json]:
        """Return a pod.

        Args:
            pod: The pod.
            node: Where it is bound.
            manifest: What it was made from; empty for one that was made from no manifest.
            version: Its resourceVersion.
            deleted_at: When its deletion was asked for; None when it was not.
            shown: As an API server shows it, if one has it: so it is, with its devices beside.
        """
        if shown is not None:
            return _with_devices(cast("dict[str, Json]", dict(shown)), pod, node)
        metadata = _metadata(pod, manifest, version)
        if deleted_at is not None:
            metadata["deletionTimestamp"] = timestamp(after(deleted_at, pod.spec.termination_grace))
        return {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": metadata,
            "spec": _spec(pod, manifest),
            "status": self._status(pod, node, manifest),
        }

    def _status(
        self, pod: ApiPod, node: Node | None, manifest: Mapping[str, Plain]
    ) -> dict[str, Json]:
        health = {} if node is None else self._device_health(pod, node)
        status = pod_status(PodSight(pod, pod.status, node, _images(manifest), health))
        shown = cast("dict[str, Json]", status)
        if node is not None:
            shown["devices"] = _devices(pod, node)
        return shown

    def _device_health(self, pod: ApiPod, node: Node) -> AllocatedResourcesStatus:
        """Return what the pod's kubelet last said; regular containers only (S9.3)."""
        kubelet = node.kubelet
        if not node.behavior.resource_health_in_status:
            return {}
        if kubelet is not None and kubelet.serving:
            self._health[pod.uid] = kubelet.manager.resource_health(pod.pod)
        return self._health.get(pod.uid, {})


def _with_devices(document: dict[str, Json], pod: ApiPod, node: Node | None) -> dict[str, Json]:
    status = document.get("status")
    if node is not None and isinstance(status, dict):
        document["status"] = {**status, "devices": _devices(pod, node)}
    return document


def _devices(pod: ApiPod, node: Node) -> dict[str, Json]:
    """Return the ids that the node's kubelet has on record for a pod, by resource.

    No part of the API, where only PodResources says so; nothing while the kubelet is down.
    """
    kubelet = node.kubelet
    ids: dict[str, set[str]] = {}
    if kubelet is not None and kubelet.serving:
        for binding in kubelet.manager.bindings_of(pod.uid):
            ids.setdefault(binding.resource, set()).update(device_ids(binding.devices))
    return {resource: sorted(of_resource) for resource, of_resource in sorted(ids.items())}


def _metadata(pod: ApiPod, manifest: Mapping[str, Plain], version: int) -> dict[str, Json]:
    given = manifest.get("metadata")
    metadata: dict[str, Json] = {
        "name": pod.pod.name,
        "namespace": pod.pod.namespace,
        "uid": pod.uid,
        "resourceVersion": str(version),
        "creationTimestamp": timestamp(pod.pod.created),
    }
    if isinstance(given, dict):
        for key in ("labels", "annotations"):
            if given.get(key):
                metadata[key] = cast("Json", given[key])
    return metadata


def _spec(pod: ApiPod, manifest: Mapping[str, Plain]) -> dict[str, Json]:
    given = manifest.get("spec")
    if isinstance(given, dict):
        spec = dict(cast("dict[str, Json]", given))
    else:
        spec = cast("dict[str, Json]", containers_spec(pod.pod))
    spec.setdefault("restartPolicy", pod.spec.restart_policy)
    spec.setdefault("terminationGracePeriodSeconds", GRACE_SECONDS)
    if pod.node is not None:
        spec["nodeName"] = pod.node
    return spec


def _images(manifest: Mapping[str, Plain]) -> dict[str, str]:
    spec = manifest.get("spec")
    images: dict[str, str] = {}
    for key in ("initContainers", "containers"):
        containers = spec.get(key) if isinstance(spec, dict) else None
        for container in containers if isinstance(containers, list) else ():
            if isinstance(container, dict) and container.get("image"):
                images[str(container.get("name"))] = str(container["image"])
    return images
