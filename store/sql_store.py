"""The store in a SQL database: one writer, one held connection, one commit for each batch."""

from __future__ import annotations

import contextlib
import copy
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from sqlalchemy import Connection

from simulator.core.devices import DeviceId
from simulator.core.pods import PodUid
from simulator.core.transitions import (
    DevicesReported,
    NodeBooted,
    NodeName,
    NodeState,
    PhaseChanged,
    PodAdmitted,
    PodRejected,
    PodsReleased,
    ResourceRemoved,
    Transition,
)
from simulator.errors import StoreError, StoreUnavailableError
from simulator.object_ports import ObjectWrite
from simulator.ports import (
    Change,
    DeviceSummary,
    Durability,
    Holding,
    ImportedCheckpoint,
    NodeSummary,
    Outcome,
    PodSummary,
    Refused,
    Together,
)
from store import queries, schema
from store.changes import held_by_another
from store.database import Database, Writer
from store.databases import database_at
from store.imports import bound_ids, by_key
from store.object_cache import ObjectCache
from store.object_retention import ObjectRetention
from store.planning.arrivals import plan_arrivals
from store.planning.devices import plan_boot, plan_removal, plan_report
from store.planning.imports import plan_import
from store.planning.objects import ObjectPlan
from store.planning.phases import plan_phase
from store.planning.plan import Plan
from store.planning.pods import plan_admission, plan_rejection, plan_release
from store.retention import CHANGES_MAX, Retention
from store.sql_objects import SqlObjectStore
from store.writer_lock import sign

CONNECTIONS_LOST_MAX: Final = 5
"""How often a batch is tried again after a lost connection was regained."""

GATHERED: Final = 256
"""Transitions whose rows are written together.

With fewer, what each statement costs whatever its rows are shows; more of them leave the
processor's cache.
"""


class SqlStore:
    """A `Store` in a SQL database.

    `apply` may be called by one thread at a time, any thread; answers may be asked at the same
    time by others. Many callers who want to share commits use `store.committer`.
    """

    def __init__(
        self,
        url: str,
        *,
        durability: Durability = Durability.FULL,
        read_only: bool = False,
        accept_loss: bool = False,
        history_max: int = CHANGES_MAX,
    ) -> None:
        """Open a database; one that has no tables gets the schema (details 16).

        Args:
            url: E.g. `sqlite:///rebind.db` or `postgresql+psycopg://db.example.com/rebind`;
                `sqlite://` is a database in memory.
            durability: What a power cut may take.
            read_only: Whether to answer only.
            accept_loss: Whether to go on after a damaged log lost acknowledged commits.
            history_max: How many changes the history keeps, and up to a segment more.

        Raises:
            StoreUnavailableError: The database is missing (when it is to be read only), damaged,
                unreadable or locked.
            SchemaOutOfDateError: The database has another schema revision.
            WriterLockedError: Another process writes it.
        """
        self.database: Database = database_at(url)
        self.durability = durability
        self._lock = threading.Lock()
        self._plan: Plan | None = None
        self._object_plan: ObjectPlan | None = None
        self._cache = ObjectCache()
        self._unanswered: Together | None = None
        self.objects = SqlObjectStore(
            self._reading, lambda writes: self.apply_together((), writes)[1], self._cache
        )
        with contextlib.ExitStack() as undo, self._translating():
            self._engine, self.writer = undo.enter_context(
                self.database.opened(
                    durability=durability, read_only=read_only, accept_loss=accept_loss
                )
            )
            self._use_schema(read_only=read_only)
            if not (read_only or self.database.in_memory):
                sign(self.writer)
            self.retention = Retention(self.writer, changes_max=history_max)
            self.object_retention = ObjectRetention(self.writer)
            self._resources = undo.pop_all()

    def apply(self, transitions: Sequence[Transition]) -> list[Outcome]:
        """Apply a batch with one commit; see `simulator.ports.Store`."""
        return self.apply_together(transitions, ())[0]

    def apply_together(
        self, transitions: Sequence[Transition], writes: Sequence[ObjectWrite]
    ) -> Together:
        """Apply a batch of both with one commit; see `simulator.ports.Store`.

        When the connection to the database is lost, the batch waits until it is regained; whether
        a commit whose answer was lost had happened is found out, so that it is done once (W6).
        """
        with self._lock, self._translating():
            self._unanswered = None
            for _ in range(CONNECTIONS_LOST_MAX):
                committed = not self.writer.is_connected and self._regained()
                if committed and self._unanswered is not None:
                    outcomes = self._unanswered
                    break
                try:
                    outcomes = self._attempt(transitions, writes)
                    break
                except self.database.errors as error:
                    if not self.writer.is_lost(error):
                        raise
            else:
                reason = f"database {self.database.name}: the connection is lost again and again"
                raise StoreUnavailableError(reason)
            self._drop_history()
        return outcomes

    def load(self, node: NodeName) -> NodeState:
        """Return a node's state."""
        with self._reading() as connection:
            return queries.load_state(connection, node)

    def nodes(self) -> list[NodeSummary]:
        """Return all nodes, by name."""
        with self._reading() as connection:
            return queries.all_nodes(connection)

    def devices(self, *, node: NodeName | None = None) -> list[DeviceSummary]:
        """Return devices by node and resource; listed ones first, in the plugin's order."""
        with self._reading() as connection:
            return queries.all_devices(connection, node)

    def pods(self, *, node: NodeName | None = None) -> list[PodSummary]:
        """Return pods by node, in the order in which they became known."""
        with self._reading() as connection:
            return queries.all_pods(connection, node)

    def holders(
        self, *, node: NodeName | None = None, device: DeviceId | None = None, past: bool = False
    ) -> list[Holding]:
        """Return holdings, those that ended too if `past`."""
        with self._reading() as connection:
            return queries.all_holdings(connection, node=node, device=device, past=past)

    def history(
        self,
        *,
        node: NodeName | None = None,
        pod: PodUid | None = None,
        until_revision: int | None = None,
    ) -> list[Change]:
        """Return changes in order of revision."""
        with self._reading() as connection:
            return queries.changes(connection, node=node, pod=pod, until_revision=until_revision)

    def imported_checkpoint(self, node: NodeName) -> ImportedCheckpoint | None:
        """Return the file last imported for the node, if any."""
        with self._reading() as connection:
            return queries.imported_by(connection, node)

    @contextmanager
    def between_batches(self) -> Iterator[Writer]:
        """Lend the writer while no batch is written, to who asks the database about itself."""
        with self._lock, self._translating():
            yield self.writer

    def close(self) -> None:
        """Let go of the database."""
        self._resources.close()

    def _use_schema(self, *, read_only: bool) -> None:
        found = schema.revision_of(self.writer.connection)
        if found is None and not read_only:
            self.writer.begin()
            schema.create(self.writer.connection)
            self.writer.commit()
            self.database.settle(self.writer)
        else:
            schema.check(found, url=self.database.name)

    def _attempt(
        self, transitions: Sequence[Transition], writes: Sequence[ObjectWrite]
    ) -> Together:
        self._unanswered = None
        plan = self._plan or Plan(self.writer)
        objects = self._object_plan or ObjectPlan(self.writer, self._cache)
        # Until the batch is durable, nothing that is planned is true.
        self._plan = self._object_plan = None
        try:
            outcomes = self._write(plan, objects, transitions, writes)
            objects.settle()
            self._plan, self._object_plan = plan, objects
        finally:
            if self._plan is None:
                self._cache.clear()
            self.writer.roll_back()
        return outcomes

    def _regained(self) -> bool:
        """Connect again, and forget what was known: another one may have written meanwhile."""
        self._plan = self._object_plan = None
        self._cache.clear()
        return self.writer.regain()

    def _drop_history(self) -> None:
        """Drop a little of the history if it is due, and what the plan remembers of it."""
        if self._plan is None:
            return
        keys = self._plan.keys
        if self.object_retention.is_due(keys.revision):
            self.object_retention.step()
        if self.retention.is_due(keys.change):
            devices = self.retention.effort.devices
            self.retention.step(keys.change)
            self._plan.forget_pods(self.retention.gone)
            if self.retention.effort.devices != devices:
                self._plan = None

    def _write(
        self,
        plan: Plan,
        objects: ObjectPlan,
        transitions: Sequence[Transition],
        writes: Sequence[ObjectWrite],
    ) -> Together:
        writer = self.writer
        keys = copy.copy(plan.keys)
        writer.begin()
        try:
            outcomes = self._run(plan, transitions)
        except writer.refused:
            writer.roll_back()
            plan.forget(transitions, keys)
            writer.begin()
            outcomes = self._run_one_by_one(plan, transitions)
        together = outcomes, objects.apply(writes, plan.keys)
        self._unanswered = together
        writer.commit()
        return together

    def _run(self, plan: Plan, transitions: Sequence[Transition]) -> list[Outcome]:
        """Gather rows and write them statement by statement, before they are cold."""
        outcomes: list[Outcome] = []
        for start in range(0, len(transitions), GATHERED):
            end = min(start + GATHERED, len(transitions))
            while len(outcomes) < end:
                plan_arrivals(plan, transitions[len(outcomes) : end], outcomes)
                if len(outcomes) < end:
                    outcomes.append(_planned(plan, transitions[len(outcomes)]))
            plan.flush()
        return outcomes

    def _run_one_by_one(self, plan: Plan, transitions: Sequence[Transition]) -> list[Outcome]:
        """Write each transition on its own, so that one conflict refuses only itself."""
        outcomes: list[Outcome] = []
        for transition in transitions:
            keys = copy.copy(plan.keys)
            self.writer.begin_part()
            try:
                outcome = _planned(plan, transition)
                plan.flush()
            except self.writer.refused:
                self.writer.undo_part()
                plan.forget([transition], keys)
                refused = self._conflict(transition)
                if refused is None:
                    raise
                outcome = refused
            self.writer.end_part()
            outcomes.append(outcome)
        return outcomes

    def _conflict(self, transition: Transition) -> Refused | None:
        """Say which device of an admission another pod holds; None when that is not the cause."""
        if not isinstance(transition, PodAdmitted):
            return None
        for binding in by_key(transition.bindings).values():
            for device in bound_ids(binding):
                holders = queries.open_holders(
                    self.writer.connection, transition.node, binding.resource, device
                )
                if holders and transition.pod.uid not in holders:
                    return held_by_another(
                        device=device, resource=binding.resource, holder=holders[0]
                    )
        return None

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        with self._translating():
            if self.database.in_memory:
                with self._lock:
                    yield self.writer.connection
                return
            with self._engine.connect() as connection:
                self.database.begin_read(connection)
                yield connection

    @contextmanager
    def _translating(self) -> Iterator[None]:
        try:
            yield
        except self.database.errors as error:
            raise self.database.translated(error) from error
        except (UnicodeEncodeError, OverflowError) as error:
            reason = f"a value cannot be stored: {error}"
            raise StoreError(reason) from error


def _planned(plan: Plan, transition: Transition) -> Outcome:
    outcome: Outcome
    match transition:
        case PodAdmitted():
            outcome = plan_admission(plan, transition)
        case PodsReleased():
            outcome = plan_release(plan, transition)
        case PodRejected():
            outcome = plan_rejection(plan, transition)
        case DevicesReported():
            outcome = plan_report(plan, transition)
        case NodeBooted():
            outcome = plan_boot(plan, transition)
        case ResourceRemoved():
            outcome = plan_removal(plan, transition)
        case PhaseChanged():
            outcome = plan_phase(plan, transition)
        case _:
            outcome = plan_import(plan, transition)
    return outcome
