"""Where bindings can be kept beside files and SQLite, and how plugins can be reached."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

import pytest

from benchmarks.measuring.phases import Target
from benchmarks.postgresql_server import PostgresServer
from benchmarks.results.rows import Measure, Store
from simulator.core.instants import MILLISECOND, SECOND, Duration
from simulator.errors import ConfigError
from simulator.live.world import LiveWorld
from store.scratch import DELAY_MAX, PREFIX, scratch
from store.sql_store import SqlStore
from tests.benchmarks.measuring.runs import Written, ms
from tests.store.world import admits_one

REAL = Written(
    nodes=2,
    clock="real",
    load="{burst: {pods: 10}}",
    lifetime="1h",
    phases="- {name: churn, load: load, pods: pod, drain: 60s}",
)


LISTS = "kubelet_pod_resources_endpoint_requests_list{"


def schemas(postgres: PostgresServer, url: str) -> list[str]:
    """Return the schemas of measurements that are there."""
    name = url.partition("@/")[2].partition("?")[0]
    with closing(postgres.connect(name)) as connection:
        found = connection.execute("SELECT nspname FROM pg_namespace ORDER BY 1").fetchall()
    return [name for (name,) in found if name.startswith(PREFIX)]


def test_a_database_on_a_server_is_measured_in_a_schema_of_its_own(
    postgres: PostgresServer, postgres_url: str
) -> None:
    seen: list[str] = []
    row = replace(REAL, matrix="store: postgresql").row(
        lambda _: seen.extend(schemas(postgres, postgres_url)), postgresql=postgres_url
    )

    assert row.setting.store is Store.POSTGRESQL
    assert (row.served, row.errors, row.bindings) == (10, 0, 10)
    assert row.fsyncs == 0  # This server syncs nothing.
    assert row.bytes_written is not None
    assert row.bytes_written > 0
    assert len(seen) == 1
    assert schemas(postgres, postgres_url) == []


def test_a_combination_on_a_server_wants_to_be_told_of_one() -> None:
    written = replace(REAL, matrix="store: postgresql")

    with pytest.raises(ConfigError, match="name one with --db-url"):
        written.row(postgresql=None)


def test_the_size_on_a_server_is_that_of_the_tables_of_the_measurement(postgres_url: str) -> None:
    with scratch(postgres_url) as other, scratch(postgres_url) as made:
        assert made.stored() == 0
        with closing(SqlStore(made.url)) as store:
            empty = made.stored()
            for number in range(200):
                store.apply([admits_one(f"pod-{number}", f"gpu-{number}")])
        full = made.stored()
        assert other.stored() == 0

    assert 0 < empty < full < empty + (4 << 20)


def test_a_server_that_syncs_nothing_cannot_sync_more_slowly(postgres_url: str) -> None:
    with (
        pytest.raises(ConfigError, match="does not sync its log, so nothing can be added to it"),
        scratch(postgres_url, added_fsync=ms(1)),
    ):
        pass


def test_a_server_is_not_asked_for_more_than_it_can_wait(postgres_url: str) -> None:
    with (
        pytest.raises(ConfigError, match=r"waits at most 100ms .* 1s is asked for"),
        scratch(postgres_url, added_fsync=Duration(SECOND)),
    ):
        pass
    assert DELAY_MAX == 100 * MILLISECOND


def test_only_a_server_has_schemas() -> None:
    with pytest.raises(ConfigError, match="is no PostgreSQL database"), scratch("sqlite://"):
        pass


def test_plugins_are_asked_over_their_sockets_where_that_is_measured() -> None:
    """In processes of their own; nothing of them is in the world."""
    plugins: list[int] = []

    def watch(target: Target) -> None:
        world = target.driver.world
        assert isinstance(world, LiveWorld)
        plugins.append(len(world.plugins))

    row = replace(REAL, allocate="20ms", matrix="target: pluginSocket").row(watch)

    assert plugins == [0]
    assert (row.served, row.errors, row.bindings) == (10, 0, 10)
    assert row.latencies[Measure.ADMISSION].percentile(1) >= ms(20)


def test_agents_read_beside_the_load() -> None:
    """In a process of their own, over the nodes' sockets, while pods come and go."""
    asked: list[float] = []

    def watch(target: Target) -> None:
        world, count = target.driver.world, target.instruments.fsyncs
        assert isinstance(world, LiveWorld)

        def fsyncs() -> int | None:
            lines = world.metering.pages.everything().decode().splitlines()
            lists = [line for line in lines if line.startswith(LISTS)]
            asked.append(sum(float(line.rpartition(" ")[2]) for line in lists))
            return count()

        target.instruments.fsyncs = fsyncs

    written = replace(
        REAL,
        load="{qpsLoad: {qps: 20}}",
        devices=50,
        phases="- {name: churn, load: load, pods: pod, duration: 1s, drain: 60s}\n"
        "  reads: {podResourcesList: {qps: 20}, get: {qps: 10}}",
    )
    row = written.row(watch)

    assert (row.served, row.errors) == (20, 0)
    assert asked[-1] > asked[0]
