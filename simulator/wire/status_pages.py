"""`/metrics` and `/healthz` of a running server, over HTTP on a loopback address.

Requests are read and written on the owner's loop and parsed by the standard library. They need no
token, so nothing but loopback is listened on.
"""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from io import BytesIO
from typing import Final
from urllib.parse import unquote, urlsplit

from typing_extensions import override

from simulator.errors import ConfigError, ServerError
from simulator.wire.metric_families import CONTENT_TYPE
from simulator.wire.metrics_pages import MetricsPages

_REQUEST_BYTES_MAX: Final = 16 * 1024
_REQUEST_TIMEOUT_S: Final = 5.0
_CONNECTIONS_MAX: Final = 64
_PORT_MAX: Final = 65_535
_TEXT: Final = "text/plain; charset=utf-8"
_OK: Final = "ok"


@dataclass(frozen=True, slots=True)
class HttpAddress:
    """Where pages are served: a loopback address and a port, 0 for a free one."""

    host: str
    port: int

    @property
    def url(self) -> str:
        """The address as the beginning of a URL."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"


@dataclass(frozen=True, slots=True)
class HealthCheck:
    """One check of `/healthz`.

    Attributes:
        name: e.g. `device-plugin` (S1.11).
        error: What is wrong; empty when nothing is.
    """

    name: str
    error: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """An answer."""

    status: HTTPStatus
    content: bytes
    content_type: str = _TEXT


def parse_http_address(text: str) -> HttpAddress:
    """Read `HOST:PORT`.

    Raises:
        ConfigError: It is none, or not a loopback address.
    """
    host, colon, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not colon or not port.isascii() or not port.isdigit() or int(port) > _PORT_MAX:
        message = f"{text!r} is no address for pages; write e.g. 127.0.0.1:9180"
        raise ConfigError(message)
    if host == "localhost":
        host = "127.0.0.1"
    try:
        is_loopback = ipaddress.ip_address(host).is_loopback
    except ValueError:
        is_loopback = False
    if not is_loopback:
        message = (
            f"pages cannot be served on {text}: they need no token, so only loopback addresses "
            f"are allowed; use 127.0.0.1:{port}"
        )
        raise ConfigError(message)
    return HttpAddress(host, int(port))


class StatusServer:
    """Serves the pages until it is closed.

    Args:
        address: Where.
        pages: The metrics.
        checks: Returns the present state of all checks.
    """

    def __init__(
        self,
        address: HttpAddress,
        pages: MetricsPages,
        checks: Callable[[], Sequence[HealthCheck]],
    ) -> None:
        self.address = address
        self._pages = pages
        self._checks = checks
        self._server: asyncio.Server | None = None
        self._connections: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    async def start(self) -> None:
        """Listen; `address` has the real port afterwards.

        Raises:
            ServerError: The address cannot be had.
        """
        try:
            self._server = await asyncio.start_server(
                self._connected, self.address.host, self.address.port, limit=_REQUEST_BYTES_MAX
            )
        except OSError as error:
            message = f"no pages can be served on {self.address.url}: {error.strerror or error}"
            raise ServerError(message) from error
        self.address = HttpAddress(self.address.host, self._server.sockets[0].getsockname()[1])

    async def close(self) -> None:
        """Stop at once."""
        server, self._server = self._server, None
        if server is None:
            return
        server.close()
        for writer in self._connections.values():
            writer.transport.abort()
        if self._connections:
            await asyncio.wait(self._connections)

    def page(self, target: str) -> Page:
        """Return what is at a path."""
        parts = urlsplit(target)
        path = [unquote(part) for part in parts.path.strip("/").split("/")]
        if path == ["metrics"]:
            return Page(HTTPStatus.OK, self._pages.everything(), CONTENT_TYPE)
        if path[0] == "metrics":
            content = self._pages.of_node("/".join(path[1:]))
            if content is not None:
                return Page(HTTPStatus.OK, content, CONTENT_TYPE)
        elif path == ["healthz"]:
            return _health(self._checks(), verbose="verbose" in parts.query.split("&"))
        elif path[0] == "healthz":
            for check in self._checks():
                if check.name == "/".join(path[1:]):
                    return _one_check(check)
        text = "404 page not found\n"
        return Page(HTTPStatus.NOT_FOUND, text.encode())

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is None or len(self._connections) >= _CONNECTIONS_MAX:
            writer.close()  # The client sees the end of its connection.
            return
        self._connections[task] = writer
        try:
            async with asyncio.timeout(_REQUEST_TIMEOUT_S):
                request = await reader.readuntil(b"\r\n\r\n")
                writer.write(_Exchange(request, self.page).answer())
                await writer.drain()
        except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # Whoever asks like this gets no answer.
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()
            del self._connections[task]


class _Exchange(BaseHTTPRequestHandler):
    """One request that has come in whole, and its answer; the connection is the caller's."""

    server_version = "rebind"
    sys_version = ""
    error_message_format = "%(code)d %(message)s\n"
    error_content_type = _TEXT

    def __init__(  # pylint: disable=super-init-not-called
        self, request: bytes, page: Callable[[str], Page]
    ) -> None:
        # The base class would read from a socket, and block.
        self.rfile = BytesIO(request)
        self._answer = BytesIO()
        self.wfile = self._answer
        self.client_address = ("loopback", 0)
        self._page = page

    def answer(self) -> bytes:
        """Return the whole response."""
        self.handle_one_request()
        return self._answer.getvalue()

    def do_GET(self) -> None:
        """Answer with a page."""
        self._send(self._page(self.path), with_content=True)

    def do_HEAD(self) -> None:
        """Answer with a page's headers."""
        self._send(self._page(self.path), with_content=False)

    @override
    def log_message(self, format: str, *args: object) -> None:
        """Log nothing: a scraper comes every few seconds."""

    def _send(self, page: Page, *, with_content: bool) -> None:
        self.send_response(page.status)
        self.send_header("Content-Type", page.content_type)
        self.send_header("Content-Length", str(len(page.content)))
        self.send_header("Connection", "close")
        self.end_headers()
        if with_content:
            self.wfile.write(page.content)


def _health(checks: Sequence[HealthCheck], *, verbose: bool) -> Page:
    """Answer as Kubernetes' own servers do, but with the reason of a failure."""
    failed = [check for check in checks if check.error]
    if not failed and not verbose:
        return Page(HTTPStatus.OK, _OK.encode())
    lines = ["[+]ping ok"]
    lines += [
        f"[-]{check.name} failed: {check.error}" if check.error else f"[+]{check.name} ok"
        for check in checks
    ]
    lines.append(f"healthz check {'failed' if failed else 'passed'}\n")
    status = HTTPStatus.INTERNAL_SERVER_ERROR if failed else HTTPStatus.OK
    return Page(status, "\n".join(lines).encode())


def _one_check(check: HealthCheck) -> Page:
    if check.error:
        text = f"internal server error: {check.error}\n"
        return Page(HTTPStatus.INTERNAL_SERVER_ERROR, text.encode())
    return Page(HTTPStatus.OK, _OK.encode())
