"""Where a command finds a node: a running server, else a database (details 12).

`--server` names the server; else it is the one that runs in `--root-dir`; else, for what a database
can answer too, `--db` is read. A `--db` that is given without `--server` and `--root-dir` is meant.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeVar

import click
from click.core import ParameterSource
from typing_extensions import override

from simulator.assembly.servers import server_at, server_reader
from simulator.assembly.stores import opened_store
from simulator.cli.checkpoint_files import FileName
from simulator.cli.output import Table
from simulator.cli.store_options import db_option
from simulator.config import CONTROL_SOCKET, DEFAULT_ROOT_DIR
from simulator.errors import ConfigError, ServerNotRunningError, StoreUnavailableError
from simulator.ports import StoreReader
from simulator.wire.control_client import ControlClient

T = TypeVar("T")

_SCHEME: Final = "unix:"


@dataclass(frozen=True, slots=True)
class Where:
    """Where a command looks.

    Attributes:
        server: The socket that was named.
        root_dir: Where a server may run.
        db: The database; None for a command that only a server can do.
        prefers_db: Whether the database was asked for, and no server.
    """

    server: Path | None
    root_dir: Path
    db: str | None = None
    prefers_db: bool = False

    @property
    def socket(self) -> Path:
        """The socket of the server."""
        return self.server or self.root_dir / CONTROL_SOCKET

    @contextmanager
    def client(self) -> Iterator[ControlClient]:
        """Connect to the server.

        Raises:
            ServerNotRunningError: None runs there.
        """
        with server_at(self.socket) as client:
            if client is None:
                ask = "" if self.server else f" --root-dir {self.root_dir}"
                reason = f"no server runs on {self.socket}; start one with `rebind serve{ask}`" + (
                    "" if self.server else ", or name its socket with --server"
                )
                raise ServerNotRunningError(reason)
            yield client

    @contextmanager
    def any_client(self) -> Iterator[ControlClient | None]:
        """Connect to the server, or to none when the database is meant."""
        if self.server is not None:
            with self.client() as client:
                yield client
        elif self.prefers_db:
            yield None
        else:
            with server_at(self.socket) as found:
                yield found

    @contextmanager
    def store(self) -> Iterator[tuple[StoreReader, str]]:
        """Open what a store can be asked, and tell where its answers come from.

        Returns:
            A reader, and `database` or `records`.
        """
        with self.any_client() as client:
            if client is not None:
                yield server_reader(client)
            else:
                with self.database() as store:
                    yield store, "database"

    @contextmanager
    def database(self) -> Iterator[StoreReader]:
        """Open the database, which is asked because it is meant or because no server runs.

        Raises:
            StoreError: It cannot be read; the message tells of the server too, if none runs.
        """
        with ExitStack() as stack:
            try:
                store = stack.enter_context(opened_store(self.db or "", read_only=True))
            except StoreUnavailableError as error:
                if self.prefers_db:
                    raise
                reason = f"no server runs on {self.socket}, and {error}"
                raise StoreUnavailableError(reason) from error
            yield store

    def explained(self, table: Table[T]) -> Table[T]:
        """Return a table of the database that says, when it is empty, why no server was asked."""
        if self.server is not None or self.prefers_db:
            return table
        why = f"no server runs on {self.socket}, so the database was asked"
        return replace(table, nothing=f"{table.nothing}; {why}")


def server_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add `--server` and `--root-dir` to a command, which gets them as `where`."""

    @functools.wraps(command)
    def with_server(*args: object, server: Path | None, root_dir: Path, **options: object) -> None:
        command(*args, where=Where(server, root_dir), **options)

    return _server_options(with_server)


def where_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add `--server`, `--root-dir` and `--db` to a command, which gets them as `where`."""

    @functools.wraps(command)
    def with_where(
        *args: object, server: Path | None, root_dir: Path, db: str, **options: object
    ) -> None:
        context = click.get_current_context()
        command(*args, where=Where(server, root_dir, db, _means_database(context)), **options)

    return _server_options(db_option(with_where))


def _means_database(context: click.Context) -> bool:
    """Tell whether `--db` was given on this command line and no server was."""
    given = ParameterSource.COMMANDLINE
    return (
        context.get_parameter_source("db") is given
        and context.get_parameter_source("root_dir") is not given
    )


def _server_options(command: Callable[..., None]) -> Callable[..., None]:
    click.option(
        "--root-dir",
        type=FileName(path_type=Path),
        default=DEFAULT_ROOT_DIR,
        show_default=True,
        metavar="DIR",
        help="Where the server runs.",
    )(command)
    click.option(
        "--server",
        type=_Socket(),
        metavar="SOCKET",
        help=f"The server's socket  [default: {CONTROL_SOCKET} in --root-dir]",
    )(command)
    return command


class _Socket(click.ParamType[Path]):
    """A socket's path, with or without `unix:` before it."""

    name = "socket"

    @override
    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> Path:
        text = str(value)
        if "://" in text and not text.startswith("unix://"):
            reason = f"{text!r} is no socket; servers listen on unix sockets: unix:///PATH or PATH"
            raise ConfigError(reason)
        return Path(text.removeprefix(f"{_SCHEME}//").removeprefix(_SCHEME))
