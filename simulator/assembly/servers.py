"""Servers of nodes: one to run, or one that runs already."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, closing, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path

from simulator.api.client.endpoint import endpoint_at
from simulator.assembly.api_server import API_RETENTION, committer_here, extra_api
from simulator.assembly.stores import opened_store, outlives_its_process
from simulator.engine.node_phase import keeps_database
from simulator.engine.spec import SimulationSpec
from simulator.live.remote.settings import RemoteSettings
from simulator.live.settings import LiveSettings
from simulator.ports import Store, StoreReader
from simulator.protocol.control_services import INFO
from simulator.protocol.rebind_control_pb2 import InfoRequest
from simulator.server.reading import RemoteReader
from simulator.server.serving import Server, Serving, claim_root, seed_of
from simulator.wire.control_client import ControlClient, connected
from simulator.wire.control_socket import is_served
from simulator.wire.status_pages import parse_http_address


@contextmanager
def server_at(socket: Path) -> Iterator[ControlClient | None]:
    """Connect to the server on a socket; None when nobody listens there."""
    if not is_served(socket):
        yield None
        return
    with connected(socket) as client:
        yield client


def server_reader(client: ControlClient) -> tuple[StoreReader, str]:
    """Return what a server's store can be asked, and where its answers come from."""
    return RemoteReader(client), client.call(INFO, InfoRequest()).source


@asynccontextmanager
async def served(  # noqa: PLR0913 - what is served, and where
    run: SimulationSpec,
    settings: LiveSettings,
    *,
    db: str,
    http: str | None = None,
    record: Path | None = None,
    api_http: str | None = None,
) -> AsyncIterator[Server]:
    """Run a server: its nodes, their sockets, and its control interface.

    Args:
        run: The choices of all nodes.
        settings: Where their files are, and how their sockets behave.
        db: The database, if the persistence keeps its state there.
        http: Where `/metrics` and `/healthz` are; None for nowhere.
        record: The file of the recording, if there is to be one.
        api_http: Where an API server in this process listens, whose clients the nodes are; it has
            its objects in the database. None for no such server.

    Raises:
        RebindError: It cannot be started.
        OSError: As above.
    """
    address = None if http is None else parse_http_address(http)
    async with AsyncExitStack() as stack:
        stack.callback(claim_root(run, settings).give_up)
        run = replace(run, seed=seed_of(settings.root, run.seed))
        serving = Serving(run=run, settings=settings, http=address, record=record)
        if keeps_database(run) or api_http is not None:
            store = stack.enter_context(opened_store(db, durability=run.durability))
            serving = replace(serving, store=store, db=db)
            if keeps_database(run) and outlives_its_process(db):
                serving = replace(serving, reader=partial(opened_store, db, read_only=True))
            if api_http is not None:
                serving = await _with_api(serving, store, api_http, stack)
        server = Server(serving)
        with extra_api() if serving.settings.api is not None else nullcontext():
            await server.start()
        try:
            yield server
        finally:
            await server.stop()


async def _with_api(serving: Serving, store: Store, http: str, stack: AsyncExitStack) -> Serving:
    """Run an API server over the database of the nodes, by the same committer (details 9)."""
    with extra_api():
        # As in `api_loop`.
        from simulator.api.serving import setup as api  # noqa: PLC0415
    setup = api.set_up(http, None, retention=API_RETENTION)
    settings = serving.settings
    committer = stack.enter_context(closing(committer_here(store, settings.commit_batch)))
    url = await stack.enter_async_context(api.running(setup, store.objects, committer, None))
    remote = RemoteSettings(endpoint_at(url), schedules=True)
    return replace(serving, settings=replace(settings, api=remote), committer=committer)
