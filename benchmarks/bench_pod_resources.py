"""PodResources: what List costs, and what a storm of calls costs everybody else."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from statistics import median, quantiles

from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.agent_process import ANSWERED, agent
from benchmarks.figures import FigureTable
from benchmarks.live_nodes import LiveNodes, live_nodes, loop_of_its_own, plugins
from benchmarks.plugin_process import SENT_AT, Order
from benchmarks.timing import Contest, Contestant, hold
from simulator.core.instants import SECOND, Duration
from simulator.core.records import DevicesListed, Stamped
from simulator.core.resources import ResourceName
from simulator.protocol.rebind_podresources_v1_pb2 import ListPodResourcesRequest
from simulator.protocol.services import LIST
from simulator.wire.connections import Connection, ConnectionSettings, dial

PODS = (110, 1_000)
ROUNDS = 20

STORM_RATE = 1_000
ROUNDS_OF_STORM = 8
ENDED_WITHIN_S = 20
SLICE_S = 1.0
PACE_S = 0.01
"""A pod is admitted every so often: busy, and far from what a node can do."""
UPDATE_PERIOD_S = 0.02
DEVICES = 256
NIC = ResourceName("example.com/nic")


def listing(nodes: LiveNodes, connection: Connection, *, admit: bool) -> Contestant:
    """Return one List, of what was listed before or with one pod more."""

    def prepare() -> None:
        nodes.world.put_forward(Duration(SECOND))  # The limit of calls is not what is measured.
        if admit:
            nodes.turn(nodes.admit(nodes.names[0]))

    request = ListPodResourcesRequest()
    return Contestant(lambda: nodes.turn(connection.call_for_bytes(LIST, request)), before=prepare)


def _close(nodes: LiveNodes, connection: Connection) -> None:
    nodes.turn(connection.close())


def bench_list(benchmark: BenchmarkFixture, figures: FigureTable) -> None:
    """List 110 and 1,000 pods, unchanged and after an admission, in turns."""
    with ExitStack() as stack:
        loop = stack.enter_context(loop_of_its_own())
        contestants = {}
        for pods in PODS:
            made = live_nodes(loop, nodes=1, devices=pods + 2 * ROUNDS)
            nodes = stack.enter_context(made)
            nodes.turn(nodes.admit_everywhere(pods))
            socket = nodes.world.settings.folder(nodes.names[0]).pod_resources_socket
            connection = nodes.turn(dial(socket, ConnectionSettings()))
            stack.callback(_close, nodes, connection)
            contestants[f"list-pods/{pods}"] = listing(nodes, connection, admit=False)
            contestants[f"list-pods/{pods}/changed"] = listing(nodes, connection, admit=True)
        contest = Contest(contestants)
        hold(contest, benchmark, rounds=ROUNDS)
    for name in contestants:
        figures.report(name, contest.median_ns(name) / 1e6)


class Slice:
    """How long admissions and device updates took in one slice of time, in ms."""

    def __init__(self) -> None:
        self.admissions: list[float] = []
        self.updates: list[float] = []

    def p99(self, what: str) -> float:
        """Return the 99th percentile of one of them."""
        times: list[float] = getattr(self, what)
        return quantiles(times, n=100, method="inclusive")[98]


@contextmanager
def updates_noted(nodes: LiveNodes, into: list[Slice]) -> Iterator[None]:
    """Note how old each device update of the other plugin is when it was folded in."""

    def note(stamped: Stamped) -> None:
        record = stamped.record
        if into and isinstance(record, DevicesListed) and record.resource == NIC:
            sent = int(record.devices[-1].id.removeprefix(SENT_AT))
            into[-1].updates.append((time.monotonic_ns() - sent) / 1e6)

    nodes.world.watch_records(note)
    order = Order((str(nodes.folder(nodes.names[0])),), NIC, 8, UPDATE_PERIOD_S)
    with plugins(order):
        nodes.until(lambda: nodes.listed(NIC, 9))
        yield


async def paced_admissions(nodes: LiveNodes, latencies: Slice) -> None:
    """Admit a pod in every beat of one slice."""
    begun = nodes.loop.time()
    for beat in range(round(SLICE_S / PACE_S)):
        await asyncio.sleep(max(0.0, begun + beat * PACE_S - nodes.loop.time()))
        started = time.perf_counter_ns()
        await nodes.admit(nodes.names[0])
        latencies.admissions.append((time.perf_counter_ns() - started) / 1e6)


def bench_storm(benchmark: BenchmarkFixture, figures: FigureTable) -> None:
    """Call List 1,000 times a second in every other slice of time; medians over the slices."""
    quiet: list[Slice] = []
    stormy: list[Slice] = []
    answers: Counter[str] = Counter()
    with ExitStack() as stack:
        loop = stack.enter_context(loop_of_its_own())
        nodes = stack.enter_context(live_nodes(loop, nodes=1, devices=DEVICES))
        present: list[Slice] = []
        stack.enter_context(updates_noted(nodes, present))
        socket = nodes.world.settings.folder(nodes.names[0]).pod_resources_socket
        caller = stack.enter_context(agent(socket, STORM_RATE))

        def one_slice(slices: list[Slice]) -> None:
            present.append(Slice())
            nodes.turn(paced_admissions(nodes, present[-1]))
            slices.append(present.pop())
            nodes.release()

        def one_round() -> None:
            one_slice(quiet)
            caller.begin()
            one_slice(stormy)
            ended = loop.run_in_executor(None, caller.end)
            answers.update(nodes.turn(asyncio.wait_for(ended, ENDED_WITHIN_S)))

        one_round()  # Connections are made in the first one.
        for kept in (quiet, stormy, answers):
            kept.clear()
        benchmark.pedantic(one_round, rounds=ROUNDS_OF_STORM)
    called = answers.total() / (ROUNDS_OF_STORM * SLICE_S)
    note = f"{called:,.0f} calls/s, {answers[ANSWERED] / answers.total():.0%} answered"
    for what in ("admissions", "updates"):
        calm, rough = (median(each.p99(what) for each in slices) for slices in (quiet, stormy))
        figures.report(f"storm/{what}", rough / calm, f"{rough:.3g} / {calm:.3g} ms, {note}")
