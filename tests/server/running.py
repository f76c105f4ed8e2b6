"""A server in this process, on a loop of its own, as `rebind serve` runs it."""

from __future__ import annotations

import asyncio
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from simulator.assembly import served
from simulator.core.instants import SECOND, Duration
from simulator.core.transitions import NodeName
from simulator.engine.spec import NodeSpec, SimulationSpec
from simulator.live.remote.settings import RemoteSettings
from simulator.live.settings import LiveSettings
from simulator.wire.control_client import ControlClient, connected

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
    started: Future[tuple[Path, asyncio.Event]] = Future()
    settings = replace(
        LiveSettings(root=root), speed=speed, dial_timeout=Duration(int(DIAL * speed)), api=api
    )

    async def serve() -> None:
        try:
            async with served(run, settings, db=db, http=http, record=record) as server:
                over = asyncio.Event()
                started.set_result((server.socket, over))
                await over.wait()
        except BaseException as error:
            if not started.done():
                started.set_exception(error)
            raise

    loop = asyncio.new_event_loop()
    ended: list[BaseException] = []

    def turn() -> None:
        try:
            loop.run_until_complete(serve())
        except Exception as error:  # noqa: BLE001 - raised in the thread that waits
            ended.append(error)
        finally:
            loop.run_until_complete(loop.shutdown_default_executor())
            loop.close()

    thread = threading.Thread(target=turn)
    thread.start()
    try:
        socket, over = started.result(60)
        try:
            yield socket
        finally:
            loop.call_soon_threadsafe(over.set)
    finally:
        thread.join(60)
    if ended:
        raise ended[0]


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
