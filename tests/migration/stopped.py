"""A stopped node with a real file and a real database, whose effects are counted and cut.

Each effect of a migration, a write of the file, its setting aside, a commit, is numbered over a
whole way there or back. A cut is a number and a side: before the effect has happened, or after it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from typing_extensions import override

from simulator.cli.commands.migrate.stopped_node import NodeFiles, StoppedNode
from simulator.core.allocate_response import AllocateResponse, encode
from simulator.core.calls import Commit, SetCheckpointAside, StoreCall, StoreReply, WriteCheckpoint
from simulator.core.checkpoint.bindings import checkpoint_of
from simulator.core.checkpoint.render import render
from simulator.core.devices import DeviceId, NumaNode, device_ids
from simulator.core.instants import Instant
from simulator.core.migration.phases import Phase, Side
from simulator.core.migration.steps import migrate
from simulator.core.migration.survey import Migration, Survey, survey
from simulator.core.pods import ContainerName, PodUid
from simulator.core.resources import ResourceName
from simulator.core.switches import behavior_for
from simulator.core.transitions import DeviceBinding, NodeName
from simulator.ports import Durability, Store
from store.sql_store import SqlStore

NODE = NodeName("n0")
GPU = ResourceName("example.com/gpu")
EFFECTS = (Commit, WriteCheckpoint, SetCheckpointAside)

Held = dict[tuple[str, str, str], tuple[str, ...]]


class Killed(Exception):  # noqa: N818  no error: the process ended
    """The migration was killed."""


@dataclass(frozen=True, slots=True)
class Cut:
    """An effect, counted from 1, and whether it has happened."""

    number: int
    after: bool


class CountingNode(StoppedNode):
    """Counts effects, and is killed at one of them."""

    def __init__(self, store: Store, files: NodeFiles, cut: Cut | None = None) -> None:
        super().__init__(NODE, store, files)
        self.effects = 0
        self._cut = cut

    @override
    def answer(self, call: StoreCall) -> StoreReply:
        if not isinstance(call, EFFECTS):
            return super().answer(call)
        self.effects += 1
        at_cut = self._cut is not None and self.effects == self._cut.number
        if at_cut and self._cut is not None and not self._cut.after:
            raise Killed
        reply = super().answer(call)
        if at_cut:
            raise Killed
        return reply


def checkpoint_file(pods: int, version: str = "1.36.2", *, devices: int | None = None) -> bytes:
    """Return the file of a node with so many pods; each has a device, as long as they last."""
    response = encode(AllocateResponse(envs={"IDS": "x"}))
    bindings = [
        DeviceBinding(
            PodUid(f"uid-{number}"),
            ContainerName("main"),
            GPU,
            {NumaNode(number % 2): (DeviceId(f"gpu-{number % (devices or pods)}"),)},
            response,
        )
        for number in range(pods)
    ]
    healthy = [DeviceId(f"gpu-{number}") for number in range(pods + 2)]
    form = behavior_for(version).checkpoint_written
    return render(checkpoint_of(bindings, [(GPU, healthy)], form))


class Bench:
    """A folder with a file and the URL of a database."""

    def __init__(self, folder: Path, url: str, content: bytes, version: str = "1.36.2") -> None:
        plugins = folder / "device-plugins"
        plugins.mkdir(parents=True, exist_ok=True)
        self.files = NodeFiles(plugins / "kubelet_internal_checkpoint")
        self.content = content
        if content:
            self.files.path.write_bytes(content)
        self.version = version
        self._url = url

    @classmethod
    def found(cls, folder: Path, url: str) -> Self:
        """Use the folder as it is."""
        return cls(folder, url, b"")

    @contextmanager
    def node(self, cut: Cut | None = None) -> Iterator[CountingNode]:
        """Open the database as a process of its own would."""
        store = SqlStore(self._url, durability=Durability.OFF)
        try:
            yield CountingNode(store, self.files, cut)
        finally:
            store.close()

    def job(self) -> Migration:
        return Migration(node=NODE, now=Instant(1), behavior=behavior_for(self.version))

    def go(self, to: Phase, cut: Cut | None = None) -> int:
        """Go to a phase; return the number of effects it took."""
        with self.node(cut) as node:
            outcome = node.run(migrate(self.job(), to))

            assert isinstance(outcome, Survey), outcome
            assert outcome.phase is to
            return node.effects

    def kill(self, to: Phase, cut: Cut) -> None:
        """Be killed on the way to a phase."""
        try:
            self.go(to, cut)
        except Killed:
            return
        message = f"there is no effect {cut.number}"
        raise AssertionError(message)

    def look(self) -> Survey:
        with self.node() as node:
            found = node.run(survey(self.job()))
        assert isinstance(found, Survey)
        return found


def held(bindings: tuple[DeviceBinding, ...]) -> Held:
    return {(one.pod, one.container, one.resource): device_ids(one.devices) for one in bindings}


def believed(found: Survey) -> Held:
    """Return what a kubelet restores that starts now: the side that status names."""
    if found.regime.writes_both:
        return held(found.compared.bindings)
    side = found.file.bindings if found.believed is Side.FILE else found.rows.bindings
    return held(side)


def of_file(pods: int) -> Held:
    """Return what `checkpoint_file` says."""
    return {(f"uid-{number}", "main", str(GPU)): (f"gpu-{number}",) for number in range(pods)}
