"""From what a user asks for to a server: address, tokens, certificate, kubeconfig."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from simulator.api.dialect.authorization import read_tokens
from simulator.api.serving.access import is_loopback, parse_address
from simulator.api.serving.certificates import kept_beside, own_certificate
from simulator.api.serving.kubeconfig import kubeconfig
from simulator.api.serving.limits import Limits
from simulator.api.serving.loops import new_loop
from simulator.api.serving.objects import ObjectCommits
from simulator.api.serving.running import ApiServer, ApiSettings
from simulator.api.serving.secret_files import write_secret
from simulator.collecting import seldom_collected
from simulator.errors import ConfigError
from simulator.object_ports import ObjectReader

__all__ = ["Setup", "new_loop", "running", "set_up"]


@dataclass(frozen=True, slots=True)
class Setup:
    """How a server is to be, and what its clients need.

    Attributes:
        settings: The server's.
        kubeconfig: Returns the kubeconfig, once the server's URL is known.
    """

    settings: ApiSettings
    kubeconfig: Callable[[str], str]


def set_up(
    http: str,
    token_file: Path | None,
    *,
    retention: int,
    unique_devices: bool = False,
    kubeconfig_file: Path | None = None,
) -> Setup:
    """Decide how a server is to be.

    Args:
        http: `ADDRESS:PORT`.
        token_file: Who has which token; None for loopback without tokens.
        retention: Changes of each kind that watches may go back.
        unique_devices: Whether no two pods of a node may be bound to one device.
        kubeconfig_file: Where a kubeconfig for its clients will be, beside which the certificate
            is kept; None for a certificate of this start alone.

    Raises:
        ConfigError: The address is none, or is beyond loopback without tokens; the file has none;
            what stands where the certificate is kept is none.
        ServerError: There can be no certificate.
        OSError: A file cannot be read or written.
    """
    host, port = parse_address(http)
    limits = Limits(events=retention)
    if token_file is None:
        if not is_loopback(host):
            message = (
                f"the API cannot be served on {http} without tokens, since everybody who reaches "
                f"it could do everything; add --token-file, or use 127.0.0.1:{port}"
            )
            raise ConfigError(message)
        plain = ApiSettings(host, port, limits=limits, unique_devices=unique_devices)
        return Setup(plain, kubeconfig)
    try:
        text = token_file.read_text()
    except UnicodeDecodeError as error:
        message = f"{token_file}: a token file is text in UTF-8: {error}"
        raise ConfigError(message) from error
    try:
        tokens = read_tokens(text)
    except ConfigError as error:
        message = f"{token_file}: {error}"
        raise ConfigError(message) from error
    certificate = own_certificate(host, kept_beside(kubeconfig_file))
    first = next(iter(tokens.tokens()), "")

    def config(url: str) -> str:
        return kubeconfig(url, authority=certificate.authority, token=first)

    settings = ApiSettings(host, port, tokens, certificate.context, limits, unique_devices)
    return Setup(settings, config)


@asynccontextmanager
async def running(
    setup: Setup, store: ObjectReader, commits: ObjectCommits, kubeconfig_file: Path | None
) -> AsyncIterator[str]:
    """Run a server, and give its URL.

    Args:
        setup: How it is to be.
        store: What is there.
        commits: Who commits.
        kubeconfig_file: Where a kubeconfig for its clients is written; None for nowhere.

    Raises:
        ServerError: The address cannot be had.
        StoreError: The store cannot be read or written.
        OSError: The kubeconfig cannot be written.
    """
    server = ApiServer(store, commits, setup.settings)
    await server.start()
    try:
        if kubeconfig_file is not None:
            write_secret(kubeconfig_file, setup.kubeconfig(server.url) + "\n")
        with seldom_collected():
            yield server.url
    finally:
        await server.stop()
