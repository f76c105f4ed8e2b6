"""A kubeconfig for those who are to reach the server: where it is, whom to trust, which token."""

from __future__ import annotations

import base64
import json

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
