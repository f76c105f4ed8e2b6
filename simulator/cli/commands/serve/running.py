"""Runs a server until a signal ends it, and says when it is ready."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click

from simulator.assembly.servers import served
from simulator.cli.stopping import stopped_by_signals
from simulator.collecting import seldom_collected
from simulator.engine.spec import SimulationSpec
from simulator.live.settings import LiveSettings
from simulator.reports.text import printable
from simulator.server.serving import Server

_SHOWN_MAX: Final = 4
"""Nodes whose sockets are named in the ready line."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What else a server is asked for.

    Attributes:
        db: The database.
        http: Where metrics are; None for nowhere.
        record: The recording's file.
        api_http: Where an API server in this process listens; None for none.
    """

    db: str
    http: str | None
    record: Path | None
    api_http: str | None = None


def serve_until_stopped(run: SimulationSpec, settings: LiveSettings, shown: Shown) -> None:
    """Serve until SIGINT or SIGTERM; a second one ends the process at once.

    Raises:
        RebindError: The server cannot be started.
        OSError: As above.
    """
    asyncio.run(_serve(run, settings, shown))


async def _serve(run: SimulationSpec, settings: LiveSettings, shown: Shown) -> None:
    with stopped_by_signals() as stop:
        async with served(
            run,
            settings,
            db=shown.db,
            http=shown.http,
            record=shown.record,
            api_http=shown.api_http,
        ) as server:
            click.echo(_ready(server, run), err=True)
            with seldom_collected():
                await _stopped_or_failed(stop, server)
            click.echo("stopping; once more to stop at once", err=True)


async def _stopped_or_failed(stop: asyncio.Event, server: Server) -> None:
    """Wait for a signal.

    Raises:
        ServerError: The server cannot go on.
    """
    stopped = asyncio.create_task(stop.wait())
    failed = asyncio.create_task(server.failure())
    await asyncio.wait((stopped, failed), return_when=asyncio.FIRST_COMPLETED)
    stopped.cancel()
    failed.cancel()
    if not stopped.done():
        raise failed.result()


def _ready(server: Server, run: SimulationSpec) -> str:
    """Name what can be connected to, a line each."""
    count = len(run.nodes)
    first = (
        f"ready: {count} node{'s' if count > 1 else ''}, kubelet {run.kubelet_version}, "
        f"persistence {run.persistence}"
    )
    lines = [first, f"  commands on {server.socket}"]
    if server.api:
        lines.append(f"  pods of the API server {server.api}")
    if server.http:
        lines.append(f"  {server.http}/metrics and /healthz")
    for name, paths in list(server.paths.items())[:_SHOWN_MAX]:
        lines.append(f"  {name}: plugins {paths.kubelet_socket}")
        lines.append(f"  {' ' * len(name)}  agents  {paths.pod_resources_socket}")
    more = len(server.paths) - _SHOWN_MAX
    if more > 0:
        lines.append(f"  and {more} more, one folder each in {server.socket.parent}")
    return "\n".join(printable(line) for line in lines)
