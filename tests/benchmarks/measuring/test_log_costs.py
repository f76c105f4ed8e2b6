"""What a PostgreSQL server does for its log agrees with what was asked of it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from typing import Final

import pytest

from benchmarks.measuring.costs import Instruments
from benchmarks.measuring.instruments import ProcessMeter
from benchmarks.postgresql_server import PostgresServer
from simulator.core.instants import MILLISECOND
from store.scratch import LogCosts, Scratch, scratch, statistics_of
from store.sql_store import SqlStore
from tests.benchmarks.measuring.runs import Written, ms
from tests.benchmarks.measuring.test_counts import Witness
from tests.store.world import admits_one

COMMITS: Final = 20
PAGE: Final = 8_192


def others(seconds: float) -> int:
    """Return the most fsyncs of the server itself: its log writer looks five times a second."""
    return 8 + round(5 * seconds)


@pytest.fixture(scope="module")
def syncing() -> Iterator[PostgresServer]:
    """Return a server that waits for its disk."""
    with closing(PostgresServer(durable=True)) as server:
        server.start()
        yield server


@pytest.fixture
def syncing_url(syncing: PostgresServer) -> Iterator[str]:
    """Return the URL of an empty database of it."""
    name = syncing.lend_database()
    yield syncing.url(name)
    syncing.give_back(name)


def grown(server: PostgresServer) -> int:
    """Return how long the log is, as the server knows it at any moment."""
    with closing(server.connect()) as connection:
        found = connection.execute("SELECT (pg_current_wal_lsn() - '0/0')::bigint").fetchone()
    assert found is not None
    return int(found[0])


def spent(made: Scratch, store: SqlStore) -> tuple[int, int]:
    """Return fsyncs and bytes, which are both known."""
    costs = made.log_costs(store)
    assert costs.syncs is not None
    assert costs.written is not None
    return costs.syncs, costs.written


def test_each_commit_is_one_fsync_of_the_log_and_at_least_the_bytes_it_grew_by(
    syncing: PostgresServer, syncing_url: str
) -> None:
    with scratch(syncing_url) as made, closing(SqlStore(made.url)) as store:
        store.apply([admits_one("first", "gpu-first")])
        length = grown(syncing)
        begun = time.monotonic()
        syncs, written = spent(made, store)
        for number in range(COMMITS):
            store.apply([admits_one(f"p{number}", f"gpu-{number}")])
        length = grown(syncing) - length
        syncs_after, written_after = spent(made, store)
        seconds = time.monotonic() - begun

    assert COMMITS <= syncs_after - syncs <= COMMITS + others(seconds)
    assert length <= written_after - written
    assert (written_after - written) % PAGE == 0


def test_a_batch_on_a_server_is_one_fsync(syncing_url: str) -> None:
    with scratch(syncing_url) as made, closing(SqlStore(made.url)) as store:
        store.apply([admits_one("first", "gpu-first")])
        begun = time.monotonic()
        syncs, _ = spent(made, store)
        store.apply([admits_one(f"p{number}", f"gpu-{number}") for number in range(COMMITS)])
        syncs_after, _ = spent(made, store)
        seconds = time.monotonic() - begun

    assert 1 <= syncs_after - syncs <= 1 + others(seconds)


def test_a_row_counts_the_fsyncs_of_a_server(syncing_url: str) -> None:
    """S4.9; one for each durable state that the nodes were told of."""
    witness = Witness()
    row = Written(
        nodes=2,
        clock="real",
        load="{burst: {pods: 10}}",
        lifetime="1h",
        phases="- {name: churn, load: load, pods: pod, drain: 60s}",
        matrix="store: postgresql\n    commitBatch: 1",
    ).row(witness.watch, postgresql=syncing_url)

    assert row.served == row.bindings == witness.bound == 10
    assert row.fsyncs is not None
    assert witness.writes <= row.fsyncs <= witness.writes + others(row.elapsed)
    assert row.bytes_written is not None
    assert row.bytes_written >= witness.writes * PAGE


def test_what_one_cannot_tell_is_not_made_up_from_what_others_tell() -> None:
    """So it is with a store in another process, whose session cannot be asked."""
    costs = Instruments(lambda: 3, client=ProcessMeter(), log=LogCosts).read(0)

    assert (costs.fsyncs, costs.written) == (None, None)


def test_a_commit_on_a_server_takes_as_much_longer_as_is_asked_for(syncing_url: str) -> None:
    with (
        scratch(syncing_url, added_fsync=ms(40)) as made,
        closing(SqlStore(made.url)) as store,
    ):
        begun = time.monotonic_ns()
        store.apply([admits_one("a", "gpu-0")])
        took = time.monotonic_ns() - begun

    assert took >= 40 * MILLISECOND


@pytest.fixture
def syncing_by_writing(syncing: PostgresServer) -> Iterator[None]:
    """Let the server write its log so that each write waits for the disk by itself."""
    with closing(syncing.connect()) as connection:
        connection.execute("ALTER SYSTEM SET wal_sync_method = open_datasync")
        reload(syncing, "open_datasync")
        yield
        connection.execute("ALTER SYSTEM RESET wal_sync_method")
        reload(syncing, "fdatasync")


def reload(server: PostgresServer, method: str) -> None:
    """Wait until new sessions find the log synced in this way."""
    until = time.monotonic() + 30
    while True:
        with closing(server.connect()) as connection:
            if connection.execute("SHOW wal_sync_method").fetchone() == (method,):
                return
            connection.execute("SELECT pg_reload_conf()")
        assert time.monotonic() < until
        time.sleep(0.02)


@pytest.mark.usefixtures("syncing_by_writing")
def test_a_server_that_syncs_by_writing_has_no_fsyncs_to_count(syncing_url: str) -> None:
    with scratch(syncing_url) as made, closing(SqlStore(made.url)) as store:
        costs = made.log_costs(store)

    assert costs.syncs is None
    assert costs.written is not None


def test_each_version_of_a_server_is_asked_where_it_counts() -> None:
    """`pg_stat_io` has the log from 18 on; before 15 a session cannot be told to tell."""
    assert "pg_stat_io" in str(statistics_of(19))
    assert "pg_stat_io" in str(statistics_of(18))
    assert "wal_sync, wal_bytes FROM pg_stat_wal" in str(statistics_of(17))
    assert "wal_sync, wal_bytes FROM pg_stat_wal" in str(statistics_of(15))
    assert statistics_of(14) is None
