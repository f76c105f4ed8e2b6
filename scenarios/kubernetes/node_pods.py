"""The pods of a running node, from what `kubectl get pods -o yaml` prints of one or all nodes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final

from scenarios.files.documents import read_documents
from scenarios.files.values import Values
from scenarios.kubernetes.manifests import ManifestPod, read_manifest
from scenarios.kubernetes.pod_status import read_pod_start
from simulator.core.pods import PodUid
from simulator.engine.spec import PodStart
from simulator.errors import ManifestError

POD_FILE_SIZE_MAX: Final = 64 * 1024 * 1024
"""Largest file of pods, in bytes; a cluster prints some 10 KiB for each."""

MIRROR: Final = "kubernetes.io/config.mirror"
"""Annotation of a static pod's mirror: the uid by which the kubelet itself knows the pod."""


@dataclass(frozen=True, slots=True)
class NodePod:
    """One pod of a cluster.

    Attributes:
        uid: As the kubelet knows it; of a static pod that is not the uid of its mirror in the API.
        created: Its creationTimestamp, which sorts as text; empty when it has none.
        start: How it stands.
    """

    manifest: ManifestPod
    uid: PodUid
    created: str
    start: PodStart


def read_node_pods(content: bytes, path: str) -> list[NodePod]:
    """Read the pods of a file, in its order.

    Args:
        content: Documents of kind Pod or List, YAML or JSON.
        path: The file's name in messages.

    Raises:
        ManifestError: It is no such file, or a pod in it has no uid.
    """
    documents = read_documents(content, path, error=ManifestError, size_max=POD_FILE_SIZE_MAX)
    return [_pod(manifest) for document in documents for manifest in read_manifest(document)]


def _pod(manifest: ManifestPod) -> NodePod:
    values, metadata = Values(manifest.document), (*manifest.path, "metadata")
    if not values.has((*metadata, "uid")):
        reason = (
            f'the pod "{manifest.pod.name}" has no metadata.uid, by which a checkpoint names pods; '
            "give what `kubectl get pods -A -o yaml` prints"
        )
        raise values.fault(metadata if values.has(metadata) else manifest.path, reason)
    uid = values.text((*metadata, "uid"))
    mirrored = (*metadata, "annotations", MIRROR)
    return NodePod(
        manifest,
        PodUid(values.text(mirrored, default=uid)),
        values.text((*metadata, "creationTimestamp"), default=""),
        read_pod_start(manifest),
    )


def choose_node(pods: Sequence[NodePod], recorded: AbstractSet[PodUid], name: str | None) -> str:
    """Return the node to which a checkpoint belongs; empty when the pods name none.

    Args:
        pods: Pods of one or several nodes.
        recorded: The pods that the checkpoint names.
        name: The node, if the user names it.

    Raises:
        ManifestError: There is no such node, or it is not clear which one is meant.
    """
    nodes = _nodes(pods)
    if name is not None:
        if name not in nodes:
            reason = f'no pod is bound to a node "{name}"; there are: {", ".join(nodes) or "none"}'
            raise ManifestError(reason)
        return name
    holding = _nodes(pod for pod in pods if pod.uid in recorded)
    candidates = holding or nodes
    if len(candidates) > 1:
        what = "the checkpoint names pods" if holding else "there are pods, none in the checkpoint,"
        reason = f"{what} of several nodes: {', '.join(candidates)}; say which with --node-name"
        raise ManifestError(reason)
    return candidates[0] if candidates else ""


def _nodes(pods: Iterable[NodePod]) -> list[str]:
    return sorted({pod.manifest.node for pod in pods if pod.manifest.node})
