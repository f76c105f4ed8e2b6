"""Stands between a client and a PostgreSQL server, and cuts where it is told to."""

from __future__ import annotations

import contextlib
import shutil
import socket
import tempfile
import threading
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from urllib.parse import quote

from benchmarks.postgresql_server import SUPERUSER

_SOCKET = ".s.PGSQL.5432"


class Cut(Enum):
    """What becomes of the next message of the client."""

    BEFORE = "it does not arrive, and both sides are cut off"
    AFTER = "it is carried out, its answer does not arrive, and both sides are cut off"
    CLIENT = "it is carried out, its answer does not arrive, and only the client is cut off"


class Proxy:
    """Passes on all that a client and `server` say to each other.

    Attributes:
        is_open: Whether new connections are taken; others are cut off at once.
    """

    def __init__(self, server: Path) -> None:
        self.is_open = True
        self._server = server / _SOCKET
        self._folder = Path(tempfile.mkdtemp(prefix="rebind-px-"))
        self._cut: Cut | None = None
        self._ends: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._door = socket.socket(socket.AF_UNIX)
        self._door.bind(str(self._folder / _SOCKET))
        self._door.listen()
        self._begin(self._accept)

    def url(self, database: str) -> str:
        """Return the URL of a database behind the proxy."""
        folder = quote(str(self._folder), safe="")
        return f"postgresql+psycopg://{SUPERUSER}@/{database}?host={folder}"

    def cut_next(self, cut: Cut) -> None:
        """Cut at the next message of a client."""
        self._cut = cut

    def cut_all(self) -> None:
        """Cut everybody off who is there."""
        _shut(*self._ends)

    def close(self) -> None:
        """Cut everybody off, and take nobody any more."""
        _shut(self._door, *self._ends)
        for thread in self._threads:
            thread.join()
        for end in (self._door, *self._ends):
            end.close()
        shutil.rmtree(self._folder)

    def _begin(self, work: Callable[..., None], *ends: socket.socket) -> None:
        thread = threading.Thread(target=work, args=ends)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._door.accept()
            except OSError:
                return
            self._ends.append(client)
            server = socket.socket(socket.AF_UNIX)
            self._ends.append(server)
            if not self.is_open:
                _shut(client)
                continue
            server.connect(str(self._server))
            self._begin(self._ask, client, server)
            self._begin(self._answer, client, server)

    def _ask(self, client: socket.socket, server: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while said := client.recv(65_536):
                cut, self._cut = self._cut, None
                if cut is Cut.BEFORE:
                    break
                if cut is not None:
                    _shut(client)
                server.sendall(said)
                if cut is Cut.CLIENT:
                    return
                if cut is Cut.AFTER:
                    break
        _shut(client, server)

    @staticmethod
    def _answer(client: socket.socket, server: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while said := server.recv(65_536):
                client.sendall(said)
        _shut(client)


def _shut(*ends: socket.socket) -> None:
    for end in ends:
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
