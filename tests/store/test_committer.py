"""Group commit: what gathers while a commit is under way goes into the next one, and no more."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing

import pytest
from typing_extensions import override

from simulator.core.transitions import Transition
from simulator.errors import StoreUnavailableError
from simulator.ports import Committed, Outcome, Refused
from store import committer as module
from store.committer import Answer, Committer
from store.memory.store import MemoryStore
from store.sql_store import SqlStore
from tests.store.failing_store import FailingStore
from tests.store.world import NODE, admits_one


class GatedStore(MemoryStore):
    """Holds every commit back until the gate is opened, and counts what came together."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = threading.Semaphore(0)
        self.begun = threading.Semaphore(0)
        self.batches: list[int] = []

    @override
    def apply(self, transitions: Sequence[Transition]) -> list[Outcome]:
        self.batches.append(len(transitions))
        self.begun.release()
        self.gate.acquire()
        return super().apply(transitions)


@pytest.fixture
def gated() -> Iterator[GatedStore]:
    store = GatedStore()
    yield store
    store.gate.release(1_000)


def _admissions(count: int) -> list[Transition]:
    return [admits_one(f"p{number}", f"g{number}") for number in range(count)]


def test_a_single_write_is_a_batch_of_one(gated: GatedStore) -> None:
    with closing(Committer(gated)) as committer:
        future = committer.commit([admits_one("a", "g0")])
        gated.gate.release()

        assert future.result() == [Committed(1)]
    assert gated.batches == [1]


def test_what_waits_is_committed_at_once_up_to_the_batch_size(gated: GatedStore) -> None:
    with closing(Committer(gated, commit_batch=4)) as committer:
        first = committer.commit(_admissions(1))
        gated.begun.acquire()
        others = [committer.commit([each]) for each in _admissions(8)[1:]]
        gated.gate.release(3)

        assert [first.result(), *(each.result() for each in others)] == [
            [Committed(number)] for number in range(1, 9)
        ]
    assert gated.batches == [1, 4, 3]


def test_a_batch_of_one_is_no_group_commit(gated: GatedStore) -> None:
    with closing(Committer(gated, commit_batch=1)) as committer:
        futures = [committer.commit([each]) for each in _admissions(3)]
        gated.gate.release(3)
        for future in futures:
            future.result()

    assert gated.batches == [1, 1, 1]


def test_a_conflict_reaches_only_its_own_caller(database_url: str) -> None:
    with closing(SqlStore(database_url)) as store, closing(Committer(store)) as committer:
        answers = [
            committer.commit([admits_one(pod, device)])
            for pod, device in [("a", "g0"), ("b", "g0"), ("c", "g1")]
        ]

        assert [each.result() for each in answers] == [
            [Committed(1)],
            [Refused("device g0 of example.com/gpu is held by pod uid-a")],
            [Committed(2)],
        ]


def test_a_caller_gets_the_outcomes_of_its_own_transitions(gated: GatedStore) -> None:
    with closing(Committer(gated)) as committer:
        one = committer.commit(_admissions(3)[:1])
        none = committer.commit([])
        two = committer.commit(_admissions(3)[1:])
        gated.gate.release(9)

        assert one.result() == [Committed(1)]
        assert none.result() == []
        assert two.result() == [Committed(2), Committed(3)]


def test_an_error_of_the_store_reaches_all_who_wait_and_the_next_batch_works() -> None:
    store = FailingStore(MemoryStore(), fail_at=1)
    with closing(Committer(store)) as committer:
        with pytest.raises(StoreUnavailableError, match="disk I/O error"):
            committer.commit([admits_one("a", "g0")]).result()

        assert committer.commit([admits_one("a", "g0")]).result() == [Committed(1)]


def test_answers_of_a_batch_are_handed_over_together(gated: GatedStore) -> None:
    handed: list[int] = []

    def deliver(answers: list[Callable[[], None]]) -> None:
        handed.append(len(answers))
        for answer in answers:
            answer()

    with closing(Committer(gated, deliver=deliver)) as committer:
        futures = [committer.commit([each]) for each in _admissions(1)]
        gated.begun.acquire()
        futures += [committer.commit([each]) for each in _admissions(5)[1:]]
        gated.gate.release(2)
        for future in futures:
            future.result()

    assert handed == [1, 4]


def test_closing_writes_what_waits_and_refuses_more(gated: GatedStore) -> None:
    committer = Committer(gated)
    futures = [committer.commit([each]) for each in _admissions(3)]
    gated.gate.release(9)
    committer.close()
    committer.close()

    assert [each.result() for each in futures] == [[Committed(1)], [Committed(2)], [Committed(3)]]
    with pytest.raises(StoreUnavailableError, match="the committer is closed"):
        committer.commit([])


def test_the_number_of_waiting_writes_is_bounded(
    gated: GatedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PENDING_MAX", 2)
    with closing(Committer(gated)) as committer:
        committer.commit([])
        gated.begun.acquire()
        committer.commit([])
        committer.commit([])
        with pytest.raises(StoreUnavailableError, match="2 writes wait for the database already"):
            committer.commit([])
        gated.gate.release(9)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_defect_ends_the_thread_but_leaves_nobody_waiting() -> None:
    class Broken(MemoryStore):
        @override
        def apply(self, transitions: Sequence[Transition]) -> list[Outcome]:
            return [Committed(1 // len(transitions[:0]))]

    told: list[Answer] = []
    committer = Committer(Broken())
    committer.submit([admits_one("a", "g0")], told.append)
    committer.close()

    (answer,) = told

    assert str(answer).startswith("the committer ended: ZeroDivisionError(")
    with pytest.raises(StoreUnavailableError, match="closed"):
        committer.submit([], told.append)


def test_many_threads_share_commits_and_each_write_is_durable(database_url: str) -> None:
    begun: list[str] = []
    with closing(SqlStore(database_url)) as store:
        store.writer.watch = lambda sql, _rows: begun.append(sql)
        with closing(Committer(store)) as committer:

            def client(first: int) -> None:
                for number in range(first, first + 25):
                    outcome = committer.commit([admits_one(f"p{number}", f"g{number}")]).result()
                    assert isinstance(outcome[0], Committed)

            threads = [threading.Thread(target=client, args=(100 * n,)) for n in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

        assert len(store.load(NODE).bindings) == 200
        assert begun.count("COMMIT") <= 200
