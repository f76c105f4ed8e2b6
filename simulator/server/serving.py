"""A running server: live nodes, their control interface, and the order in which they begin and end.

What is served is decided here; where the database comes from is the composition root's business.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, AsyncExitStack, ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from simulator.config import CONTROL_SOCKET
from simulator.core.instants import SECOND, Duration, Instant
from simulator.core.transitions import NodeName
from simulator.engine.node import Node
from simulator.engine.spec import SimulationSpec
from simulator.errors import ServerError
from simulator.live.settings import LiveSettings
from simulator.live.world import LiveWorld
from simulator.ports import Durability, Store, StoreReader
from simulator.server.journal import Journal, read_journal
from simulator.server.kept import Kept
from simulator.server.plugin_host import BuiltInPlugins
from simulator.server.recordings.inputs import STOPPED, ServerStopped
from simulator.server.recordings.recording import Recorder, beginning_of
from simulator.server.recordings.tape import Tape
from simulator.server.served import NodePaths, Served
from simulator.server.service import Service
from simulator.wire.control import ControlServer
from simulator.wire.control_socket import Claim, claim
from simulator.wire.sockets import require_room
from simulator.wire.status_pages import HttpAddress, StatusServer
from store.committer import Committer

if TYPE_CHECKING:
    from simulator.server.remote_pods import RemotePods

JOURNAL_NAME: Final = "objects.jsonl"
"""The pods of the server, in the root directory: what another cluster's API server would keep."""
SEED_NAME: Final = "seed"
"""What the machines' boot ids follow from, in the root directory."""
_START: Final = Duration(60 * SECOND)
_GRACE_S: Final = 0.5
_PLUGIN_SOCKET_BYTES: Final = 50
"""Room that a plugin's own socket needs in the plugin directory (conventions 4)."""

_LOG: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """What to serve.

    Attributes:
        run: The choices of all nodes.
        settings: Where their files are, and how their sockets behave.
        store: The open database; None unless the persistence keeps its state there.
        committer: Who commits to that database, if an API server in this process uses it too.
        reader: Opens that database to be read; None where the answers come from the records.
        db: The database's URL, for people.
        http: Where `/metrics` and `/healthz` are; None for nowhere.
        record: The file of the recording, if there is to be one.
    """

    run: SimulationSpec
    settings: LiveSettings
    store: Store | None = None
    committer: Committer | None = None
    reader: Callable[[], AbstractContextManager[StoreReader]] | None = None
    db: str = ""
    http: HttpAddress | None = None
    record: Path | None = None


class Server:
    """One server, from `start` to `stop`, on one asyncio loop.

    Attributes:
        http: Where its pages are; empty for nowhere.
    """

    def __init__(self, serving: Serving) -> None:
        self.http = ""
        self._serving = serving
        self._root = serving.settings.root
        self._ending = AsyncExitStack()
        self._failure: asyncio.Future[ServerError] = asyncio.get_running_loop().create_future()

    async def failure(self) -> ServerError:
        """Wait until the server cannot go on, and return why."""
        return await self._failure

    @property
    def api(self) -> str:
        """The API server whose clients the nodes are; empty for none."""
        api = self._serving.settings.api
        return "" if api is None else api.endpoint.url

    @property
    def socket(self) -> Path:
        """The control socket."""
        return self._root / CONTROL_SOCKET

    @property
    def paths(self) -> dict[NodeName, NodePaths]:
        """Where each node is found."""
        found = {}
        for node in self._serving.run.nodes:
            folder = self._serving.settings.folder(node.name)
            found[node.name] = NodePaths(
                str(folder.path), str(folder.registration_socket), str(folder.pod_resources_socket)
            )
        return found

    async def start(self) -> None:
        """Begin: start the nodes, then answer commands; the root directory is claimed before.

        Raises:
            ServerError: A kubelet does not start.
            RebindError: A database or a file cannot be used.
            OSError: As above.
        """
        try:
            await self._start()
        except BaseException:
            await self._ending.aclose()
            raise

    async def stop(self) -> None:
        """End in order: commands, plugins, kubelets, what waits to be written."""
        await self._ending.aclose()

    async def _start(self) -> None:
        serving = self._serving
        journal = Journal(
            self._root / JOURNAL_NAME,
            survives_power_cut=serving.run.durability is Durability.FULL,
        )
        kept = await self._kept(journal)
        self._ending.callback(journal.close)
        tape = Tape(None if serving.record is None else Recorder(serving.record))
        self._ending.callback(tape.close)
        world = self._world(kept.begin(serving.run), tape)
        at_last = self._ending.enter_context(ExitStack())
        self._ending.push_async_callback(world.close)
        self._ending.callback(world.enter, partial(_stop_kubelets, world, tape))
        plugins = BuiltInPlugins(world, serving.settings)
        self._ending.push_async_callback(plugins.close)
        await self._serve_pages(world)
        there = _pods_there(world)
        service = Service(world, self._served(), plugins, tape, world.enter, there=there)
        at_last.callback(service.forget)
        journal.failed = self._failure.set_result
        if there is None:
            service.pods.notes.keep(journal, kept)
        world.watch_records(tape.recorded)

        def begin() -> None:
            tape.begin(beginning_of(world, serving.run, kept))
            world.start(warm=False)
            if there is None:
                service.pods.restore(kept)

        world.enter(begin)
        await self._begun(world)
        control = ControlServer(service, self.socket, journal.check)
        await control.start()
        self._ending.push_async_callback(control.stop, _GRACE_S)
        self._ending.callback(service.close)

    async def _kept(self, journal: Journal) -> Kept:
        """Return the pods there are: those of an earlier server, or of the API server."""
        run, settings = self._serving.run, self._serving.settings
        if settings.api is not None:
            # The client of an API server is needed by those alone who have one.
            from simulator.server.remote_pods import kept_there  # noqa: PLC0415

            return await kept_there(run, settings)
        kept = read_journal(journal.path)
        _warn_of_unserved(kept, run, journal.path)
        return kept

    def _world(self, run: SimulationSpec, tape: Tape) -> LiveWorld:
        serving = self._serving
        settings = serving.settings
        if settings.api is not None:  # That server has a clock, too, and was asked meanwhile.
            settings = replace(settings, start=Instant(time.time_ns()))
        world = LiveWorld(
            run, settings, serving.store, around=tape.around, committer=serving.committer
        )
        tape.now = lambda: world.now
        return world

    async def _serve_pages(self, world: LiveWorld) -> None:
        """Serve `/metrics` and `/healthz`, if they are wanted."""
        if self._serving.http is None:
            return
        pages = StatusServer(self._serving.http, world.metering.pages, world.metering.checks)
        try:
            await pages.start()
        except ServerError as error:
            message = f"{error}; give another --http, or --http none"
            raise ServerError(message) from error
        self._ending.push_async_callback(pages.close)
        self.http = pages.address.url

    def _served(self) -> Served:
        run = self._serving.run
        return Served(
            root_dir=str(self._root),
            kubelet_version=run.kubelet_version,
            persistence=run.persistence,
            db=self._serving.db,
            http=self.http,
            paths=self.paths,
            reader=self._serving.reader,
        )

    async def _begun(self, world: LiveWorld) -> None:
        """Wait until every kubelet listens.

        Raises:
            ServerError: One does not.
        """

        def all_serve() -> bool:
            return all(_has_begun(node) for node in world.nodes.values())

        if not await world.until(all_serve, _START):
            late = [name for name, node in world.nodes.items() if not _has_begun(node)]
            message = f"the kubelet of {late[0]} did not start within a minute"
            raise ServerError(message)
        for name, failure in world.start_failures():
            message = f"the kubelet of {name} does not start: {failure}"
            raise ServerError(message)


def _pods_there(world: LiveWorld) -> RemotePods | None:
    """Return the pods of the API server whose clients the nodes are, if there is one."""
    remote = world.parts.remote
    if remote is None:
        return None
    # As in `Server._kept`.
    from simulator.server.remote_pods import RemotePods  # noqa: PLC0415

    return RemotePods(remote)


def claim_root(run: SimulationSpec, settings: LiveSettings) -> Claim:
    """Make the root directory, and make sure that no other server has it.

    Raises:
        ServerError: A living server has it, or some socket's path would be too long.
        OSError: It cannot be made.
    """
    root = settings.root
    require_room(root / CONTROL_SOCKET)
    for node in run.nodes:
        folder = settings.folder(node.name)
        require_room(folder.pod_resources_socket)
        require_room(folder.device_plugins / ("x" * _PLUGIN_SOCKET_BYTES))
    root.mkdir(parents=True, exist_ok=True)
    return claim(root / CONTROL_SOCKET)


def seed_of(root: Path, new: int) -> int:
    """Return the seed of the machines in a root directory, which gets `new` if it has none.

    Boot ids follow from it: a server that is started anew has not booted its machines (S5.5).

    Raises:
        ServerError: The file holds no seed.
        OSError: It cannot be read or written.
    """
    path = root / SEED_NAME
    if not path.exists():
        path.write_text(f"{new}\n", "ascii")
        return new
    text = path.read_text("ascii", "replace").strip()
    if not text.isdecimal():
        message = f"{path} holds no seed; remove it, and the machines are new ones"
        raise ServerError(message)
    return int(text)


def _stop_kubelets(world: LiveWorld, tape: Tape) -> None:
    """End the kubelets, as a shutdown of their machines would."""
    for name, node in world.nodes.items():
        tape.told(name, ServerStopped())
        node.stop_kubelet(STOPPED)


def _warn_of_unserved(kept: Kept, run: SimulationSpec, path: Path) -> None:
    for name in sorted(kept.nodes() - {node.name for node in run.nodes}):
        _LOG.warning("%s has pods of the node %s, which is not served", path, name)


def _has_begun(node: Node) -> bool:
    return node.kubelet is None or node.serves
