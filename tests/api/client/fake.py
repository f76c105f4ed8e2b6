"""An API server that says what a test wants, on a free port."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from typing_extensions import override

from simulator.api.dialect.documents import Object

Respond = Callable[[str, str, Object], tuple[int, Object]]
"""From method, path and body to code and document."""


@dataclass
class Asked:
    """What was asked: method and path, and the token that came with it."""

    requests: list[str] = field(default_factory=list)
    tokens: list[str] = field(default_factory=list)


@contextmanager
def fake_server(
    respond: Respond, *, tls: ssl.SSLContext | None = None
) -> Iterator[tuple[str, Asked]]:
    """Serve until the end of the block; yield the URL and what is asked."""
    asked = Asked()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        @override
        def log_message(self, format: str, *args: object) -> None:
            del format, args

        def _answer(self) -> None:
            size = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(size)) if size else {}
            asked.requests.append(f"{self.command} {self.path}")
            asked.tokens.append(self.headers.get("Authorization") or "")
            code, document = respond(self.command, self.path, body)
            content = json.dumps(document).encode()
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = _answer  # noqa: N815 - the library's

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        scheme = "http" if tls is None else "https"
        yield f"{scheme}://127.0.0.1:{server.server_address[1]}", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def refusal(code: int, reason: str, message: str) -> tuple[int, Object]:
    """Return a refusal."""
    status: Object = {"kind": "Status", "status": "Failure", "reason": reason, "message": message}
    return code, {**status, "code": code}
