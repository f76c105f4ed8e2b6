"""Where an API server is, and as whom one talks to it."""

from __future__ import annotations

import ipaddress
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final
from urllib.parse import SplitResult, urlsplit
from urllib.request import getproxies, proxy_bypass

from simulator.errors import ConfigError


def no_token() -> str:
    """Return nothing: the server asks for no token."""
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiEndpoint:
    """An API server, and a user of it.

    Attributes:
        url: Without a slash at its end.
        token: Returns the bearer token; asked again after the server has said 401.
        tls: How the server is verified, and the client's certificate; None for the system's own
            authorities.
        server_name: Which name its certificate must have; empty for that of the URL.
        proxy: URL of the proxy through which it is reached; empty for none.
    """

    url: str
    token: Callable[[], str] = no_token
    tls: ssl.SSLContext | None = None
    server_name: str = ""
    proxy: str = ""


def endpoint_at(url: str, token: str = "", authority: str = "") -> ApiEndpoint:
    """Return the server at a URL; the proxy to it is the one that the environment names.

    Args:
        url: Such as `http://127.0.0.1:9181`.
        token: The bearer token; empty for none.
        authority: The file of the authority that has signed the server's certificate; empty for
            the system's own authorities.

    Raises:
        ConfigError: The URL is none, the file has no certificate, or the token would cross the
            network in the clear.
    """
    parts = urlsplit(url)
    try:
        is_url = parts.scheme in _SCHEMES and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_url = False
    if not is_url or parts.query or parts.fragment or parts.username is not None:
        reason = f'"{url[:100]}" is no API server; give a URL such as http://127.0.0.1:9181'
        raise ConfigError(reason)
    if token and parts.scheme == "http" and not _is_loopback(parts.hostname or ""):
        reason = f"a token would cross the network in the clear to {url[:100]}; use https"
        raise ConfigError(reason)
    tls = None
    if authority:
        try:
            tls = ssl.create_default_context(cafile=authority)
        except (OSError, ssl.SSLError) as cause:
            reason = f"{authority}: no certificates of an authority can be read: {cause}"
            raise ConfigError(reason) from cause
    return ApiEndpoint(
        url=url.rstrip("/"), token=lambda: token, tls=tls, proxy=_environment_proxy(parts)
    )


_SCHEMES: Final = ("http", "https")


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _environment_proxy(server: SplitResult) -> str:
    """Return the proxy that the environment names for a server, as Go's clients find it.

    There is none to this machine itself, and none to who is exempt by NO_PROXY: a name, the end of
    one, an address, or a network such as 10.0.0.0/8.
    """
    proxies, host = getproxies(), server.hostname or ""
    if _is_loopback(host) or proxy_bypass(host):
        return ""
    if any(_is_within(host, each.strip()) for each in proxies.get("no", "").split(",")):
        return ""
    return proxies.get(server.scheme, "")


def _is_within(host: str, network: str) -> bool:
    try:
        return ipaddress.ip_address(host) in ipaddress.ip_network(network, strict=False)
    except ValueError:
        return False
