"""Group commit of objects: with transitions, each write with its own outcome."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import closing

from simulator.errors import StoreUnavailableError
from simulator.object_ports import AlreadyExists, Conflicted, NotFound
from simulator.ports import Committed, Refused, Store
from store.committer import Committer, ObjectAnswer
from store.memory.store import MemoryStore
from store.sql_store import SqlStore
from tests.store.failing_store import FailingStore
from tests.store.killing import acknowledged_until_killed
from tests.store.objects import changed, deleted, key, made, revisions_of, seen_since
from tests.store.world import admits_one


class Commits:
    """A committer that is held after its first commit until told to go on.

    Attributes:
        counts: How many writes each commit had.
        handed: How many answers came together.
        begun: Set when the first one is done.
    """

    def __init__(self, store: Store) -> None:
        self.counts: list[int] = []
        self.handed: list[int] = []
        self.begun = threading.Event()
        self._go_on = threading.Event()
        self.committer = Committer(store, committed=self._committed, deliver=self._deliver)

    def close(self) -> None:
        """Let what has gathered be committed."""
        self._go_on.set()
        self.committer.close()

    def _committed(self, count: int, _seconds: float) -> None:
        self.counts.append(count)
        self.begun.set()
        self._go_on.wait()

    def _deliver(self, answers: list[Callable[[], None]]) -> None:
        self.handed.append(len(answers))
        for answer in answers:
            answer()


def test_both_kinds_share_a_commit_and_each_caller_gets_its_own_outcomes(store: Store) -> None:
    with closing(Commits(store)) as commits:
        answers: dict[str, object] = {}

        def told(name: str) -> Callable[[object], None]:
            return lambda answer: answers.update({name: answer})

        committer = commits.committer
        committer.submit([admits_one("a", "g0")], told("first"))
        assert commits.begun.wait(60)
        committer.submit_objects([made("a"), made("a"), made("b")], told("bulk"))
        committer.submit([admits_one("b", "g0"), admits_one("c", "g1")], told("admissions"))
        committer.submit_objects([], told("nothing"))
        committer.submit_objects([changed("b", "x", revision=1)], told("conflict"))
        committer.submit_objects([deleted("c")], told("missing"))
        committer.submit_objects([changed("a", "x")], told("update"))

    assert commits.counts == [1, 8]
    bulk, update = answers["bulk"], answers["update"]
    assert isinstance(bulk, list)
    assert isinstance(update, list)
    assert answers["first"] == [Committed(1)]
    assert answers["admissions"] == [
        Refused("device g0 of example.com/gpu is held by pod uid-a"),
        Committed(2),
    ]
    assert bulk[1] == AlreadyExists()
    assert revisions_of([bulk[0], bulk[2], *update]) == [3, 4, 5]
    assert answers["nothing"] == []
    assert answers["conflict"] == [Conflicted(4, "uid-b", is_another=False)]
    assert answers["missing"] == [NotFound()]


def test_answers_come_together_and_in_order_of_revision(store: Store) -> None:
    revisions: list[int] = []
    with closing(Commits(store)) as commits:

        def answered(answer: ObjectAnswer) -> None:
            assert isinstance(answer, list)
            revisions.extend(revisions_of(answer))

        commits.committer.submit_objects([made("first")], answered)
        assert commits.begun.wait(60)
        commits.committer.submit_objects([made("a"), changed("a", "x")], answered)
        commits.committer.submit([admits_one("a", "g0")], lambda _: None)
        commits.committer.submit_objects([made("b")], answered)

    assert revisions == [1, 3, 4, 5]
    assert commits.handed == [1, 3]
    assert [each.revision for each in seen_since(store.objects, 0)] == revisions


def test_an_error_reaches_all_who_wait_and_the_next_batch_works() -> None:
    answers: list[ObjectAnswer] = []
    failing = FailingStore(MemoryStore(), fail_at=1)
    with closing(Committer(failing)) as committer:
        committer.submit_objects([made("a")], answers.append)
    with closing(Committer(failing)) as committer:
        committer.submit_objects([made("a")], answers.append)

    assert isinstance(answers[0], StoreUnavailableError)
    assert isinstance(answers[1], list)
    assert revisions_of(answers[1]) == [1]


KILLED_WHILE_WRITING = """
import sys
from store.sql_store import SqlStore
from tests.store.objects import changed, deleted, made
store = SqlStore(sys.argv[1])
for number in range(1_000_000):
    name = f"p{number}"
    outcomes = store.objects.apply([made(name), changed(name, "x"), made("kept" + name)])
    outcomes += store.objects.apply([deleted(name)])
    print(outcomes[-1].change.revision, flush=True)
"""


def test_kill_9_loses_no_acknowledged_write_and_no_change_for_watches(database_url: str) -> None:
    """R97, acceptance 2 of the API server: in the store."""
    last = acknowledged_until_killed(KILLED_WHILE_WRITING, database_url, 40)
    with closing(SqlStore(database_url)) as store:
        objects = store.objects
        revision = objects.revision()

        assert revision in {last, last + 3, last + 4}
        assert [each.revision for each in seen_since(objects, 0)] == list(range(1, revision + 1))
        assert revisions_of(objects.apply([made("next")])) == [revision + 1]
        assert objects.get(key("keptp0")) is not None
        assert objects.get(key("p0")) is None
