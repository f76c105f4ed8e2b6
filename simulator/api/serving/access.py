"""Who asks: whoever has a token, or on loopback without tokens everybody of this machine.

A browser is of this machine too, and runs the pages of strangers. So without tokens, what a page
sends is refused: such a request names the page's origin, says that it is of another site, or names
a host that is not this machine when the page's own name was made to lead here.
"""

from __future__ import annotations

import ipaddress
from functools import lru_cache
from typing import Final

from simulator.api.dialect.authorization import ADMIN, ANONYMOUS, Identity, Tokens
from simulator.api.dialect.statuses import StatusError, unauthorized
from simulator.api.serving.exchange import Exchange
from simulator.errors import ConfigError

_PORT_MAX: Final = 65_535
_BEARER: Final = "bearer "
_HOSTS_KEPT: Final = 64
_HOST_MAX: Final = 300
"""No name is longer; what is cut off is no name of this machine."""
_OWN_SITES: Final = frozenset({b"", b"none", b"same-origin"})
"""What `Sec-Fetch-Site` says of no browser, an address that somebody typed, and own pages."""


class Access:
    """Tells callers apart.

    Args:
        tokens: Who has which token; None for a server on loopback that asks for none.
    """

    def __init__(self, tokens: Tokens | None) -> None:
        self._tokens = tokens

    def identity(self, exchange: Exchange) -> Identity:
        """Return who asks; somebody unknown is `ANONYMOUS`.

        Raises:
            StatusError: 401, the token is none; 403, it is a page in a browser that asks.
        """
        if self._tokens is None:
            said = exchange.headers.get
            is_own = said(b"sec-fetch-site", b"") in _OWN_SITES and not said(b"origin")
            if not is_own or not _is_here(said(b"host", b"")[:_HOST_MAX]):
                message = "this server has no tokens, so it answers no pages in browsers"
                raise StatusError(403, "Forbidden", message)
            return ADMIN
        token = exchange.header(b"authorization")
        if not token:
            return ANONYMOUS
        if token[: len(_BEARER)].lower() != _BEARER:
            raise unauthorized()
        identity = self._tokens.identity(token[len(_BEARER) :].strip())
        if identity is None:
            raise unauthorized()
        return identity


@lru_cache(maxsize=_HOSTS_KEPT)
def _is_here(header: bytes) -> bool:
    """Tell whether a `Host` header names this machine; HTTP/1.0 has none."""
    if not header:
        return True
    host = header.decode("latin-1")
    name = host.rpartition(":")[0] if not host.endswith("]") and ":" in host else host
    return name.lower() == "localhost" or is_loopback(name.strip("[]"))


def is_loopback(host: str) -> bool:
    """Tell whether an address is one that only this machine reaches."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def parse_address(text: str) -> tuple[str, int]:
    """Read `ADDRESS:PORT`; `localhost` is 127.0.0.1.

    Raises:
        ConfigError: It is none.
    """
    host, colon, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if host == "localhost":
        host = "127.0.0.1"
    try:
        ipaddress.ip_address(host)
        is_address = bool(colon) and port.isascii() and port.isdecimal()
    except ValueError:
        is_address = False
    if not is_address or int(port[:6]) > _PORT_MAX:
        message = f"{text!r} is no address for the API; write e.g. 127.0.0.1:9181"
        raise ConfigError(message)
    return host, int(port)
