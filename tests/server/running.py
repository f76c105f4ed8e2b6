"""A server in this process, on a loop of its own, as `rebind serve` runs it."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from simulator.assembly.servers import served
from simulator.core.instants import SECOND, Duration
from simulator.core.transitions import NodeName
from simulator.engine.spec import NodeSpec, SimulationSpec
from simulator.live.remote.settings import RemoteSettings
from simulator.live.settings import LiveSettings
from simulator.wire.control_client import ControlClient, connected
from tests.looping import opened_beside

RUN = SimulationSpec(
    nodes=(NodeSpec(NodeName("n0")), NodeSpec(NodeName("n1"))), persistence="checkpoint", seed=1
)
SPEED = 20.0
"""How much faster time passes on the nodes than for the tests."""
DIAL = Duration(60 * SECOND)
"""How long a plugin is dialed, by the real clock, which a busy machine needs."""


@contextmanager
def running_server(  # noqa: PLR0913 - what a server is given
    root: Path,
    run: SimulationSpec = RUN,
    *,
    db: str = "",
    speed: float = SPEED,
    http: str | None = None,
    record: Path | None = None,
    api: RemoteSettings | None = None,
) -> Iterator[Path]:
    """Run a server in `root`, and give its control socket."""
    settings = replace(
        LiveSettings(root=root), speed=speed, dial_timeout=Duration(int(DIAL * speed)), api=api
    )
    opening = served(run, settings, db=db, http=http, record=record)
    with opened_beside(asyncio.new_event_loop(), opening) as server:
        yield server.socket


@contextmanager
def short_folder() -> Iterator[Path]:
    """Give a folder whose path is short enough for sockets in it."""
    with tempfile.TemporaryDirectory(prefix="rb") as name:
        yield Path(name)


@contextmanager
def a_client(run: SimulationSpec = RUN) -> Iterator[ControlClient]:
    """Run a server in a folder of its own, and connect to it."""
    with short_folder() as root, running_server(root, run) as socket, connected(socket) as client:
        yield client
