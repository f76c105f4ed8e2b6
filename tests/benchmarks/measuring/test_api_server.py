"""API-backed persistences against a real server in a process of its own."""

from __future__ import annotations

import asyncio
import json
import urllib.request
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.measuring.api_server import api_server
from benchmarks.measuring.foreign_cluster import abilities
from benchmarks.measuring.phases import Target
from benchmarks.results.rows import Measure, Row, Store
from simulator.errors import ConfigError
from simulator.live.world import LiveWorld
from simulator.ports import Durability
from tests.benchmarks.measuring.runs import Written, percentile

SERVED = Written(
    nodes=2,
    devices=20,
    clock="real",
    persistence="bind-resource",
    load="{burst: {pods: 20}}",
    lifetime="1h",
    phases="- {name: churn, load: load, pods: pod, drain: 60s}",
)
READS = {"get", "list", "watch"}
VERBS = {"post": "create", "put": "update"}
"""HTTP methods as the server calls them."""


class Server:
    """Asks the measured server itself what it has counted."""

    def __init__(self) -> None:
        self.url = ""

    def watch(self, target: Target) -> None:
        """Begin to count."""
        world = target.driver.world
        assert isinstance(world, LiveWorld)
        assert world.settings.api is not None
        self.url = world.settings.api.endpoint.url

    def counted(self) -> Counter[tuple[str, str]]:
        """Return how many requests were answered so far, by verb and resource."""
        found: Counter[tuple[str, str]] = Counter()
        with urllib.request.urlopen(f"{self.url}/metrics") as answer:  # noqa: S310 - our own
            page = answer.read().decode()
        for line in page.splitlines():
            if line.startswith("apiserver_request_total{"):
                labels, _, count = line.partition("{")[2].rpartition("} ")
                named = dict(part.split("=", 1) for part in labels.split(","))
                key = (named["verb"].strip('"').lower(), named["resource"].strip('"'))
                found[key] += int(float(count))
        return found


def calls_of(row: Row) -> Counter[tuple[str, str]]:
    """Return the kubelets' calls of a row, as the server counts them: parts with their objects."""
    found: Counter[tuple[str, str]] = Counter()
    for call in row.api_calls:
        found[VERBS.get(call.verb, call.verb), call.kind.partition("/")[0]] += call.count
    return found


def test_what_is_measured_is_what_the_server_has_counted() -> None:
    server = Server()
    found: list[Counter[tuple[str, str]]] = []
    held: list[int] = []

    def watch(target: Target) -> None:
        world, count = target.driver.world, target.instruments.fsyncs
        server.watch(target)
        held.extend(len(world.holdings(name)) for name in world.nodes)

        def fsyncs() -> int | None:
            found.append(server.counted())
            return count()

        target.instruments.fsyncs = fsyncs

    row = replace(SERVED, matrix="commitBatch: 1\n    existing: 3").row(watch)
    answered = found[-1] - found[0]

    assert row.setting.store is Store.API
    assert held == [3, 3]
    assert (row.offered, row.served, row.errors, row.bindings) == (20, 20, 0, 20)
    # Devices can be read before the first container starts.
    assert percentile(row, Measure.VISIBLE, 100) <= percentile(row, Measure.START, 100)
    assert (row.at_risk_end, len(row.latencies[Measure.RUNNING])) == (0, 20)
    assert row.cpu_server_s is not None
    assert row.memory_peak is not None

    calls = calls_of(row)
    calls["create", "pods"] += row.offered  # The load itself creates them.
    for key in (("create", "pods"), ("patch", "pods"), ("create", "events")):
        assert answered[key] <= calls[key] <= answered[key] + 2, key  # Some may be under way.
    assert calls["create", "pods"] == 20 + 20
    # A write of one object is a commit, and a commit an fsync; the log moves now and then.
    writes = sum(count for (verb, _), count in answered.items() if verb not in READS)
    assert row.fsyncs is not None
    assert writes - 4 <= row.fsyncs <= writes + 8


def test_a_cluster_that_is_there_already_is_left_as_it_was_found(tmp_path: Path) -> None:
    def listed(url: str, kind: str) -> list[str]:
        with urllib.request.urlopen(f"{url}/api/v1/{kind}") as answer:  # noqa: S310 - our own
            return [item["metadata"]["name"] for item in json.load(answer)["items"]]

    database = f"sqlite:///{tmp_path}/api.db"
    with api_server(tmp_path, database, durability=Durability.OFF, commit_batch=64) as server:
        url, seen = server.endpoint.url, list[str]()
        able = asyncio.run(abilities(server.endpoint))

        def watch(_: Target) -> None:
            seen.extend(listed(url, "nodes"))

        written = replace(SERVED, matrix="existing: 2")
        row = written.row(watch, cluster=server.endpoint)
        left = listed(url, "nodes"), listed(url, "pods")
        made = urllib.request.Request(  # noqa: S310 - our own
            f"{url}/api/v1/nodes",
            data=b'{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}}',
            headers={"Content-Type": "application/json"},
        )
        urllib.request.urlopen(made).close()  # noqa: S310 - our own
        with pytest.raises(ConfigError, match="has a node n1, and the nodes of a benchmark"):
            written.row(cluster=server.endpoint)

    assert (row.served, row.errors, row.fsyncs, row.cpu_server_s) == (20, 0, None, None)
    assert able.binds_devices
    assert able.has_objects
    assert seen == ["n0", "n1"]
    assert left == ([], [])
