"""A lost connection costs no acknowledged write and doubles none (W6, acceptance 5)."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing

import pytest

from benchmarks.postgresql_server import PostgresServer
from simulator.errors import StoreError, StoreUnavailableError, WriterLockedError
from simulator.object_ports import AlreadyExists, NotFound, Written
from simulator.ports import Committed, Outcome, Refused
from store.committer import Committer
from store.postgresql import writer as postgresql_writer
from store.sql_store import SqlStore
from tests.postgresql.proxy import Cut, Proxy
from tests.store.objects import changed, deleted, made, seen_since
from tests.store.world import NODE, admits_one

TERMINATE = """
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()
"""


class Cutter:
    """A store behind a proxy that can cut its connection at any statement."""

    def __init__(self, proxy: Proxy, store: SqlStore) -> None:
        self.proxy = proxy
        self.store = store

    def cut_at(self, statement: str, cut: Cut) -> None:
        """Cut once, when the store says this statement."""

        def watch(sql: str, _rows: object) -> None:
            if sql.startswith(statement):
                self.store.writer.watch = None
                self.proxy.cut_next(cut)

        self.store.writer.watch = watch


@pytest.fixture
def cutter(postgres: PostgresServer, postgres_url: str) -> Iterator[Cutter]:
    with ExitStack() as undo:
        proxy = undo.enter_context(closing(Proxy(postgres.folder)))
        database = postgres_url.partition("@/")[2].partition("?")[0]
        store = undo.enter_context(closing(SqlStore(proxy.url(database))))
        store.apply([admits_one("first", "g0")])
        yield Cutter(proxy, store)


@pytest.fixture(scope="module")
def own_server() -> Iterator[PostgresServer]:
    """Return a server that tests may kill; each leaves it running."""
    server = PostgresServer()
    server.start()
    yield server
    server.close()


def _taken_over(url: str) -> SqlStore:
    """Open a store as soon as the server has noticed that the last writer is cut off."""
    until = time.monotonic() + 60
    while True:
        try:
            return SqlStore(url)
        except WriterLockedError:
            if time.monotonic() > until:
                raise


def _state(store: SqlStore) -> dict[str, str]:
    return {holding.device: holding.pod.name for holding in store.holders(past=True)}


@pytest.mark.parametrize("cut", list(Cut))
@pytest.mark.parametrize("statement", ["BEGIN", "INSERT INTO pod ", "COMMIT"])
def test_a_write_whose_connection_is_cut_is_done_once(
    cutter: Cutter, statement: str, cut: Cut
) -> None:
    """W6: a commit whose answer is lost is not done again; one that did not arrive is."""
    cutter.cut_at(statement, cut)

    assert cutter.store.apply([admits_one("a", "g1")]) == [Committed(2)]
    assert cutter.store.apply([admits_one("b", "g2")]) == [Committed(3)]
    assert [each.revision for each in cutter.store.history()] == [1, 2, 3]
    assert _state(cutter.store) == {"g0": "first", "g1": "a", "g2": "b"}


@pytest.mark.parametrize("cut", list(Cut))
@pytest.mark.parametrize("statement", ["INSERT INTO api_change ", "COMMIT"])
def test_objects_whose_connection_is_cut_are_written_once(
    cutter: Cutter, statement: str, cut: Cut
) -> None:
    """Their own change is the evidence: a batch of them leaves no trace in the history."""
    objects = cutter.store.objects
    objects.apply([made("a"), made("b")])
    for batch in ([made("c")], [changed("a", "x")], [deleted("b")]):
        cutter.cut_at(statement, cut)

        assert isinstance(objects.apply(batch)[0], Written)
    assert [(each.revision, each.key.name) for each in seen_since(objects, 3)] == [
        (4, "c"),
        (5, "a"),
        (6, "b"),
    ]
    assert objects.apply([made("c"), deleted("b")]) == [AlreadyExists(), NotFound()]


@pytest.mark.parametrize("cut", list(Cut))
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_batch_with_a_conflict_is_answered_truly_after_a_cut(
    cutter: Cutter, place: int, cut: Cut
) -> None:
    cutter.cut_at("COMMIT", cut)
    batch = [admits_one("a", "g1"), admits_one("b", "g2")]
    batch.insert(place, admits_one("c", "g0"))
    expected: list[Outcome] = [Committed(2), Committed(3)]
    expected.insert(place, Refused("device g0 of example.com/gpu is held by pod uid-first"))

    assert cutter.store.apply(batch) == expected
    assert len(cutter.store.history()) == 3


def test_a_cut_between_writes_is_not_noticed(postgres: PostgresServer, postgres_url: str) -> None:
    name = postgres_url.partition("@/")[2].partition("?")[0]
    with closing(SqlStore(postgres_url)) as store, closing(postgres.connect(name)) as other:
        store.apply([admits_one("a", "g0")])
        for number in range(1, 4):
            other.execute(TERMINATE)

            assert store.load(NODE).revision == number
            assert store.apply([admits_one(f"b{number}", f"g{number}")]) == [Committed(number + 1)]


def test_what_another_has_written_is_known_though_a_step_between_batches_lost_the_connection(
    cutter: Cutter, postgres_url: str
) -> None:
    """A step of the retention that fails is no error, so nobody hears of it (R90)."""
    cutter.proxy.is_open = False
    cutter.proxy.cut_all()
    cutter.store.retention.step()
    with closing(_taken_over(postgres_url)) as other:
        other.apply([admits_one("b", "g1")])
        other.objects.apply([made("x")])
    cutter.proxy.is_open = True

    assert cutter.store.retention.effort.failures == 1
    assert cutter.store.objects.apply([made("x")]) == [AlreadyExists()]
    assert cutter.store.apply([admits_one("a", "g2")]) == [Committed(4)]


def test_whoever_lost_the_lock_to_another_is_refused_until_that_one_is_gone(
    cutter: Cutter, postgres_url: str
) -> None:
    cutter.proxy.is_open = False
    cutter.proxy.cut_all()
    with closing(_taken_over(postgres_url)) as other:
        cutter.proxy.is_open = True
        for _ in range(2):
            with pytest.raises(WriterLockedError, match=rf"is being written by pid {os.getpid()}"):
                cutter.store.apply([admits_one("a", "g1")])
        assert other.apply([admits_one("b", "g1")]) == [Committed(2)]
        assert cutter.store.load(NODE).revision == 2

    assert cutter.store.apply([admits_one("a", "g1"), admits_one("c", "g2")]) == [
        Refused("device g1 of example.com/gpu is held by pod uid-b"),
        Committed(3),
    ]


@pytest.mark.parametrize(("cut", "committed"), [(Cut.AFTER, True), (Cut.BEFORE, False)])
def test_a_commit_in_doubt_is_answered_truly_though_another_writes_now(
    cutter: Cutter, postgres_url: str, cut: Cut, *, committed: bool
) -> None:
    taken = threading.Event()
    others: list[SqlStore] = []

    def take_over() -> None:
        others.append(_taken_over(postgres_url))
        cutter.proxy.is_open = True
        taken.set()

    def watch(sql: str, _rows: object) -> None:
        if sql == "COMMIT":
            cutter.store.writer.watch = None
            cutter.proxy.is_open = False
            cutter.proxy.cut_next(cut)
            threading.Thread(target=take_over).start()

    cutter.store.writer.watch = watch
    try:
        if committed:
            assert cutter.store.apply([admits_one("a", "g1")]) == [Committed(2)]
        else:
            with pytest.raises(WriterLockedError):
                cutter.store.apply([admits_one("a", "g1")])
    finally:
        assert taken.wait(60)
        (other,) = others
        held = _state(other)
        other.close()

    assert held == ({"g0": "first", "g1": "a"} if committed else {"g0": "first"})


def test_a_server_that_stays_away_is_reported_and_nobody_waits_for_ever(
    own_server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgresql_writer, "REGAIN_S", 0.2)
    with closing(SqlStore(own_server.url(own_server.make_database()))) as store:
        store.apply([admits_one("a", "g0")])
        own_server.stop(signal.SIGQUIT)
        for _ in range(2):
            with pytest.raises(StoreUnavailableError, match=r"no server answers there|is lost"):
                store.apply([admits_one("b", "g1")])
        with closing(Committer(store, commit_batch=1)) as committer:
            waiting = [committer.commit([admits_one(f"w{n}", f"w{n}")]) for n in range(20)]
            for each in waiting:
                with pytest.raises(StoreUnavailableError, match="is lost"):
                    each.result(timeout=60)
        with pytest.raises(StoreUnavailableError, match="no server answers there"):
            store.load(NODE)
        own_server.start()

        assert store.load(NODE).revision == 1
        assert store.apply([admits_one("b", "g1")]) == [Committed(2)]


@pytest.mark.parametrize(("cut", "committed"), [(Cut.AFTER, True), (Cut.BEFORE, False)])
def test_who_cannot_learn_whether_a_commit_was_done_says_so(
    cutter: Cutter, monkeypatch: pytest.MonkeyPatch, cut: Cut, *, committed: bool
) -> None:
    monkeypatch.setattr(postgresql_writer, "REGAIN_S", 0.2)
    cutter.store.apply([admits_one("second", "g1")])

    def watch(sql: str, _rows: object) -> None:
        if sql == "COMMIT":
            cutter.store.writer.watch = None
            cutter.proxy.is_open = False
            cutter.proxy.cut_next(cut)

    cutter.store.writer.watch = watch
    with pytest.raises(
        StoreUnavailableError, match="is lost; whether its last changes were committed is not known"
    ):
        cutter.store.apply([admits_one("a", "g2")])
    cutter.proxy.is_open = True

    revision = 4 if committed else 3
    assert cutter.store.apply([admits_one("b", "g3")]) == [Committed(revision)]
    assert cutter.store.apply([admits_one("c", "g0")]) == [
        Refused("device g0 of example.com/gpu is held by pod uid-first")
    ]
    assert ("g2" in _state(cutter.store)) is committed


def _load(server: PostgresServer, *, clients: int, kills: int, writes: int) -> None:
    """Write with many clients, kill the server now and then, and compare what was said."""
    url = server.url(server.make_database())
    acknowledged: dict[str, int] = {}
    refused: list[str] = []
    progress = threading.Semaphore(0)
    done = threading.Event()

    def client(committer: Committer, number: int) -> None:
        write = 0
        while write < writes or not done.is_set():
            name = f"c{number}-{write}"
            try:
                (outcome,) = committer.commit([admits_one(name, f"g-{name}")]).result()
            except StoreError as error:
                refused.append(str(error))
            else:
                assert isinstance(outcome, Committed)
                acknowledged[name] = outcome.revision
                progress.release()
            write += 1

    with closing(SqlStore(url)) as store:
        with closing(Committer(store)) as committer:
            threads = [
                threading.Thread(target=client, args=(committer, number))
                for number in range(clients)
            ]
            for thread in threads:
                thread.start()
            for kill in range(kills):
                for _ in range(3 * clients):
                    progress.acquire()
                server.stop((signal.SIGKILL, signal.SIGQUIT, signal.SIGINT)[kill % 3])
                server.start()
            done.set()
            for thread in threads:
                thread.join()
        held = {holding.pod.name: holding.since_revision for holding in store.holders(past=True)}
        revisions = [change.revision for change in store.history()]

        assert refused == []
        assert held == acknowledged
        assert revisions == list(range(1, len(acknowledged) + 1))
        assert len(store.holders(past=True)) == len(acknowledged)


def test_a_server_killed_and_started_again_during_a_load_loses_and_doubles_nothing(
    own_server: PostgresServer,
) -> None:
    """Acceptance 5, in short: SIGKILL, immediate and orderly stop under 16 clients."""
    _load(own_server, clients=16, kills=3, writes=5)


@pytest.mark.soak
def test_many_kills_during_a_long_load_lose_and_double_nothing(
    own_server: PostgresServer,
) -> None:
    _load(own_server, clients=64, kills=60, writes=50)
