"""From what a user names to the API server whose clients nodes become."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

from simulator.api.client.endpoint import endpoint_at
from simulator.api.client.kubeconfig import read_kubeconfig
from simulator.errors import ConfigError
from simulator.live.remote.settings import RemoteSettings


def api_server_at(url: str, token_file: Path | None, authority: Path | None) -> RemoteSettings:
    """Return the API server at a URL, for nodes to be its clients.

    Args:
        url: Its URL.
        token_file: The file with the bearer token, which is read again when the server does not
            know the token any more; None for no token.
        authority: The file of the authority that has signed its certificate; None for the system's.

    Raises:
        ConfigError: That is no server, or a file has not what is wanted.
        OSError: The file of the token cannot be read.
    """
    if token_file is None:
        return RemoteSettings(endpoint_at(url, authority=str(authority or "")))
    endpoint = endpoint_at(url, _token_in(token_file), str(authority or ""))
    return RemoteSettings(replace(endpoint, token=partial(_token_again, token_file)))


def _token_in(file: Path) -> str:
    """Read the token of a file.

    Raises:
        ConfigError: There is none in it.
        OSError: It cannot be read.
    """
    token = file.read_text("ascii", "replace").strip()
    if not token or not token.isprintable() or " " in token:
        reason = f"{file}: no token; the file has one, and nothing else"
        raise ConfigError(reason)
    return token


def _token_again(file: Path) -> str:
    """Read it anew: the tokens of service accounts run out, and their files are renewed.

    Raises:
        ConfigError: It cannot be read, or there is none in it.
    """
    try:
        return _token_in(file)
    except OSError as cause:
        reason = f"{file}: no token can be read: {cause}"
        raise ConfigError(reason) from cause


def api_server_of(kubeconfig: Path, context: str) -> RemoteSettings:
    """Return the API server of a kubeconfig, for nodes to be its clients.

    Raises:
        ConfigError: It is no kubeconfig, or cannot be used.
        OSError: It cannot be read.
    """
    return RemoteSettings(read_kubeconfig(kubeconfig, context))
