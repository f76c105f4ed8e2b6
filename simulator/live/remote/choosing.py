"""From what a user names to the API server whose clients nodes become."""

from __future__ import annotations

from pathlib import Path

from simulator.api.client.endpoint import endpoint_at
from simulator.api.client.kubeconfig import read_kubeconfig
from simulator.errors import ConfigError
from simulator.live.remote.settings import RemoteSettings


def api_server_at(url: str, token_file: Path | None, authority: Path | None) -> RemoteSettings:
    """Return the API server at a URL, for nodes to be its clients.

    Args:
        url: Its URL.
        token_file: The file with the bearer token; None for no token.
        authority: The file of the authority that has signed its certificate; None for the system's.

    Raises:
        ConfigError: That is no server, or a file has not what is wanted.
        OSError: The file of the token cannot be read.
    """
    token = ""
    if token_file is not None:
        token = token_file.read_text("ascii", "replace").strip()
        if not token or not token.isprintable() or " " in token:
            reason = f"{token_file}: no token; the file has one, and nothing else"
            raise ConfigError(reason)
    return RemoteSettings(endpoint_at(url, token, str(authority or "")))


def api_server_of(kubeconfig: Path, context: str) -> RemoteSettings:
    """Return the API server of a kubeconfig, for nodes to be its clients.

    Raises:
        ConfigError: It is no kubeconfig, or cannot be used.
        OSError: It cannot be read.
    """
    return RemoteSettings(read_kubeconfig(kubeconfig, context))
