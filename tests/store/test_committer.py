"""Writes that wait share a commit, keep their order and do not fail one another."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor

import pytest
from typing_extensions import override

from simulator.core.devices import NO_NUMA_NODE, DeviceId
from simulator.core.instants import Instant
from simulator.core.pods import ContainerName, PodUid
from simulator.core.resources import ResourceName
from simulator.core.transitions import (
    DeviceBinding,
    NodeName,
    PodAdmitted,
    PodIdentity,
    Transition,
)
from simulator.errors import StoreUnavailableError
from simulator.ports import Committed, Outcome, Refused
from store.committer import Committer
from store.memory_store import MemoryStore

GPU = ResourceName("example.com/gpu")


def admitted(number: int, *, device: int | None = None) -> PodAdmitted:
    """Return the admission of a pod with one device, that of its own number if none is named."""
    uid = PodUid(f"pod-{number}")
    given = DeviceId(f"gpu-{number if device is None else device}")
    binding = DeviceBinding(uid, ContainerName("main"), GPU, {NO_NUMA_NODE: (given,)}, b"")
    return PodAdmitted(NodeName("n0"), Instant(number), PodIdentity(uid), (binding,))


class SlowStore(MemoryStore):
    """A store whose commits can be held up and fail; it remembers the size of each."""

    def __init__(self) -> None:
        super().__init__()
        self.fault = ""
        self.sizes: list[int] = []
        self.begun = threading.Event()
        self.may_commit = threading.Event()

    @override
    def apply(self, transitions: Sequence[Transition]) -> list[Outcome]:
        self.begun.set()
        self.may_commit.wait()
        if self.fault:
            raise StoreUnavailableError(self.fault)
        self.sizes.append(len(transitions))
        return super().apply(transitions)


def test_what_waits_during_a_commit_shares_the_next_one() -> None:
    store = SlowStore()
    with Committer(store, batch_max=4) as committer:
        futures = [committer.submit([admitted(0)])]
        store.begun.wait()
        futures += [committer.submit([admitted(number)]) for number in range(1, 7)]
        store.may_commit.set()
        outcomes = [future.result() for future in futures]

    assert store.sizes == [1, 4, 2]
    assert outcomes == [[Committed(revision)] for revision in range(1, 8)]


def test_a_batch_of_one_gathers_nothing() -> None:
    store = SlowStore()
    with Committer(store, batch_max=1) as committer:
        futures = [committer.submit([admitted(number)]) for number in range(3)]
        store.may_commit.set()
        for future in futures:
            future.result()

    assert store.sizes == [1, 1, 1]


def test_a_refused_write_does_not_fail_its_neighbours() -> None:
    store = SlowStore()
    with Committer(store) as committer:
        first = committer.submit([admitted(0)])
        store.begun.wait()
        same_device = committer.submit([admitted(1, device=0)])
        neighbour = committer.submit([admitted(2), admitted(3)])
        store.may_commit.set()

        assert first.result() == [Committed(1)]
        assert same_device.result() == [Refused(f"device gpu-0 of {GPU} is held by pod pod-0")]
        assert [type(outcome) for outcome in neighbour.result()] == [Committed, Committed]


def test_a_failed_commit_is_told_to_all_that_were_in_it_and_the_next_is_tried() -> None:
    store = SlowStore()
    store.fault = "the disk is full"
    with Committer(store) as committer:
        failed = [committer.submit([admitted(0)])]
        store.begun.wait()
        failed += [committer.submit([admitted(number)]) for number in (1, 2)]
        store.may_commit.set()
        for future in failed:
            with pytest.raises(StoreUnavailableError, match="the disk is full"):
                future.result()
        store.fault = ""

        assert committer.submit([admitted(0)]).result() == [Committed(1)]


def test_closing_commits_what_waits_and_takes_nothing_more() -> None:
    store = SlowStore()
    committer = Committer(store)
    futures = [committer.submit([admitted(number)]) for number in range(5)]
    store.may_commit.set()
    committer.close()
    committer.close()

    assert all(future.done() for future in futures)
    assert len(store.holders()) == 5
    with pytest.raises(RuntimeError, match="the committer is closed"):
        committer.submit([admitted(5)])


def test_a_write_that_nobody_wants_any_more_is_not_made() -> None:
    store = SlowStore()
    with Committer(store) as committer:
        committer.submit([admitted(0)])
        store.begun.wait()
        unwanted = committer.submit([admitted(1)])
        unwanted.cancel()
        store.may_commit.set()
        wanted = committer.submit([admitted(2)])
        wanted.result()

    assert [holding.pod.uid for holding in store.holders()] == ["pod-0", "pod-2"]
    with pytest.raises(CancelledError):
        unwanted.result()


def test_writes_of_many_threads_all_arrive() -> None:
    store = MemoryStore()
    with Committer(store) as committer, ThreadPoolExecutor(8) as threads:
        outcomes = list(
            threads.map(lambda number: committer.submit([admitted(number)]).result(), range(200))
        )

    assert len(store.holders()) == 200
    revisions = [one.revision for [one] in outcomes if isinstance(one, Committed)]
    assert sorted(revisions) == list(range(1, 201))
