"""Names of pods by uid, from plain manifests such as `kubectl get pods -o yaml` prints."""

from __future__ import annotations

from scenarios.files.documents import Document, Path, read_documents
from scenarios.files.values import Values
from simulator.core.pods import PodUid
from simulator.core.transitions import PodIdentity
from simulator.errors import ManifestError


def read_pod_identities(content: bytes, path: str) -> list[PodIdentity]:
    """Read uid, namespace and name of every pod in a file; nothing else is looked at.

    Args:
        content: Documents of kind Pod or List, YAML or JSON.
        path: The file's name in messages.

    Raises:
        ManifestError: It is no such file, or a pod in it has no uid.
    """
    return [
        identity
        for document in read_documents(content, path, error=ManifestError)
        for identity in _pods(document, ())
    ]


def _pods(document: Document, path: Path) -> list[PodIdentity]:
    values = Values(document)
    values.keys(path)
    kind = values.text((*path, "kind"))
    if kind in {"List", "PodList"}:
        return [
            identity
            for item in values.items((*path, "items"))
            for identity in _pods(document, item)
        ]
    if kind != "Pod":
        reason = f"{kind[:80]} is not a pod; only Pod and List are read for names"
        raise values.fault((*path, "kind"), reason)
    metadata = (*path, "metadata")
    values.keys(metadata)
    return [
        PodIdentity(
            uid=PodUid(values.text((*metadata, "uid"))),
            namespace=values.text((*metadata, "namespace"), default="default"),
            name=values.text((*metadata, "name")),
        )
    ]
