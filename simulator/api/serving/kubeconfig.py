"""A kubeconfig for those who are to reach the server: where it is, whom to trust, which token."""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path

_NAME = "rebind"


def kubeconfig(url: str, *, authority: bytes = b"", token: str = "") -> str:
    """Return a kubeconfig, as JSON, which is YAML too.

    Args:
        url: Of the server.
        authority: The certificate that clients are to trust, as PEM; none for plain HTTP.
        token: Who they are; empty for plain HTTP, over which kubectl sends none.
    """
    cluster: dict[str, str] = {"server": url}
    if authority:
        cluster["certificate-authority-data"] = base64.b64encode(authority).decode()
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": _NAME, "cluster": cluster}],
            "users": [{"name": _NAME, "user": {"token": token} if token else {}}],
            "contexts": [{"name": _NAME, "context": {"cluster": _NAME, "user": _NAME}}],
            "current-context": _NAME,
        },
        indent=2,
    )


def write_kubeconfig(path: Path, content: str) -> None:
    """Write a kubeconfig that its owner alone can read, whole or not at all.

    Raises:
        OSError: It cannot be written.
    """
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(content + "\n")
        fresh.replace(path)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise
