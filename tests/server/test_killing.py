"""Kill -9 of a running server loses nothing that a client was told (issue 4, acceptance 7)."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from simulator.wire.control_client import connected
from tests.server import looking
from tests.server.ledger import Sight, disagreements, faults
from tests.server.load import Load
from tests.server.processes import Process, fake_plugin, serve, until
from tests.server.running import short_folder

SEED: Final = 20
_DONE_MIN: Final = 5
_UNDER_LOAD_MAX_S: Final = 0.7
_STARTING_MAX_S: Final = 1.0


@pytest.fixture
def folder() -> Iterator[Path]:
    with short_folder() as folder:
        yield folder


class Story:
    """One server after the other in one folder, each killed, with clients that look on.

    Args:
        folder: Where they run.
        arguments: Options of `rebind serve`.
        persistence: What `--persistence` says.
        seed: What the moments and the load are drawn from.
    """

    def __init__(self, folder: Path, *arguments: str, persistence: str, seed: int) -> None:
        print(f"seed {seed}")  # noqa: T201 - shown with a failure, to have it again
        self._folder = folder
        self._root = folder / "lab"
        self._arguments = ("--persistence", persistence, *arguments)
        self._persistence = persistence
        self._chance = random.Random(seed)  # noqa: S311 - no secret
        self.load = Load(self._root, self._chance)
        self._plugins: list[Process] = []

    def play(self, kills: int) -> None:
        """Kill the server at random moments; after each, look at what the next one has."""
        try:
            server = serve(self._folder, *self._arguments)
            for left in reversed(range(kills)):
                server.ready()
                self._start_plugins()
                self._check()
                self.load.begin()
                time.sleep(self._chance.uniform(0, _UNDER_LOAD_MAX_S))
                if not left:  # A busy machine may have needed longer for what is to be told of.
                    until(lambda: self.load.done > _DONE_MIN or not self.load.is_under_way)
                server.kill()
                self.load.end()
                self._end(server)
                if self._chance.random() < 0.3:
                    server = serve(self._folder, *self._arguments)
                    time.sleep(self._chance.uniform(0.3, _STARTING_MAX_S))
                    server.kill()
                    self._end(server)
                server = serve(self._folder, *self._arguments)
            server.ready()
            self._check()
            assert server.terminate() == 0
            self._end(server)
            for plugin in self._plugins:
                assert "Traceback" not in plugin.said, plugin.said
        finally:
            for process in (*self._plugins, server):
                process.end()

    def _start_plugins(self) -> None:
        """Run plugins as processes of their own, which outlive the servers."""
        if not self._plugins:
            flaps = ("--flap-period", "150ms", "--flap-illness", "50ms")
            self._plugins = [
                fake_plugin(self._folder, node, "--count", "6", *flaps) for node in looking.NODES
            ]

    def _end(self, server: Process) -> None:
        assert "Traceback" not in server.said, server.said
        server.end()

    def _check(self) -> None:
        """Wait until nothing changes any more, and compare with what clients were told."""
        ledger = self.load.ledger
        with connected(self._root / "rebind.sock") as client:
            until(
                lambda: looking.plugins_registered(client), lambda: looking.objects(client, "nodes")
            )
            seen: list[Sight] = []

            def is_settled() -> bool:
                seen[:] = [looking.sight(client, self._root, self._persistence)]
                return seen[0].is_settled and not disagreements(seen[0])

            until(is_settled, lambda: [*seen, *disagreements(seen[0])], pause_s=0.03)
        wrong = [*self.load.wrong, *faults(ledger, self.load.disturber.rebooted, seen[0])]
        assert not wrong, "\n".join(wrong)


def test_a_server_that_is_killed_under_load_loses_nothing_that_it_has_told(folder: Path) -> None:
    story = Story(folder, persistence="database", seed=SEED)
    story.play(kills=2)

    assert len(story.load.ledger.applied) > _DONE_MIN
    assert story.load.disturber.done > _DONE_MIN


@pytest.mark.soak
@pytest.mark.parametrize("persistence", ["checkpoint", "database", "dual-write"])
def test_50_kills_on_sqlite_lose_nothing(persistence: str, folder: Path) -> None:
    Story(folder, persistence=persistence, seed=random.getrandbits(32)).play(kills=50)


@pytest.mark.soak
@pytest.mark.parametrize("persistence", ["database", "dual-write"])
def test_50_kills_on_postgresql_lose_nothing(
    persistence: str, folder: Path, postgres_url: str
) -> None:
    story = Story(
        folder, "--db", postgres_url, persistence=persistence, seed=random.getrandbits(32)
    )
    story.play(kills=50)
