"""A bounded history: the oldest segments are dropped, little by little.

An unbounded history is how databases under Kubernetes have died: a clean-up that takes too long is
rolled back, finds even more the next time, and never ends (R93); one that failed once never runs
again (R90); one that waits for a lock within a long transaction blocks everybody (R89). So:

- It is done in short steps (`store.stepping`), and between two of them come half as many new
  changes as the first one dropped. A segment whose steps follow one another holds its writers up
  for as long as all of them take; so they are spread over the changes of half a segment.
- What a step deleted is its progress: the next one begins at the oldest change that is left.

The bound: the newest `changes_max` changes are kept, and at most one segment more
(`SEGMENT_CHANGES_MAX` changes or an hour). Who holds what now is never dropped, however old. With
the history go the devices that left their plugin's list before it begins, and the boots that ended
before, once no holding that is kept names them: ids that a driver update makes anew, and a node
that reboots every day, would otherwise fill a database for ever.

On PostgreSQL the space of dropped rows comes back by the server's autovacuum, or by
`rebind db compact`; SQLite uses it again at once.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

from sqlalchemy import Connection, delete, exists, func, select

from simulator.core.pods import PodUid
from store import tables as t
from store.database import Writer
from store.node_entries import newest_change
from store.stepping import Attempts, Stepper

CHANGES_MAX: Final = 500_000
_DROPPED_PER_CHANGE: Final = 2
"""How many changes are dropped for each new one; more than 1, or the bound would not hold."""
_VANISHED_MAX: Final = 5_000
"""How many devices, and how many boots, one step drops.

Such a step reads all holdings, about 0.1 s at half a million; it is due once in a segment, and only
when something vanished.
"""


@dataclass(slots=True)
class Effort(Attempts):
    """What retention did so far.

    Attributes:
        changes: Changes dropped.
        devices: Vanished devices dropped.
        boots: Old boots dropped.
    """

    changes: int = 0
    devices: int = 0
    boots: int = 0


class Retention:
    """Drops the oldest history of one database.

    Args:
        writer: The connection that writes; steps run between its transactions.
        changes_max: How many changes are kept.
        clock: Seconds, for the length of a step.

    Attributes:
        gone: Key of the node, and uid, of each pod that the last step dropped.
    """

    def __init__(
        self,
        writer: Writer,
        *,
        changes_max: int = CHANGES_MAX,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.effort = Effort()
        self.gone: list[tuple[int, PodUid]] = []
        self.steps = Stepper(writer, self.effort, clock=clock)
        self._changes_max = changes_max
        self._due_at = 0
        self._stepped_at = 0

    def is_due(self, changes: int) -> bool:
        """Tell, without asking the database, whether it is time for a step.

        Args:
            changes: How many the history ever had.
        """
        return changes > self._changes_max and changes >= self._due_at

    def step(self, changes: int | None = None) -> bool:
        """Drop a little; tell whether there is more to drop. An error of the database is no error.

        What is due is looked up in the same transaction, so that a step never acts on what was true
        before somebody else wrote.

        Args:
            changes: How many the history ever had, or fewer if somebody else writes too: then less
                is due. None to ask the database, which counts a whole segment for that; a writer
                who knows would spend most of each step on it.
        """
        self.gone = []
        done = self.steps.attempt(partial(self._drop, changes))
        if done is None:
            self.gone = []
            return True
        dropped, more = done
        self.effort.changes += dropped
        return more

    def run(self) -> Effort:
        """Drop all that is due, unless a step fails."""
        failures = self.effort.failures
        while self.step() and self.effort.failures == failures:
            pass
        return self.effort

    def _drop(self, changes: int | None, connection: Connection) -> tuple[int, bool]:
        """Delete one step's worth; return how many changes, and whether more may be due."""
        oldest = connection.scalar(select(func.min(t.change.c.revision)))
        newest = newest_change(connection) if changes is None else changes
        segment = t.history_segment
        horizon = self._horizon(connection, newest)
        if oldest is None or oldest >= horizon:
            more = self._drop_vanished(connection, horizon)
            if not more:
                # Nothing is due before the segment that is now the oldest could be dropped.
                following = connection.scalars(
                    select(segment.c.first_change)
                    .where(segment.c.first_revision > horizon)
                    .order_by(segment.c.first_revision)
                    .limit(1)
                ).first()
                self._due_at = (following or newest) + self._changes_max
                self._stepped_at = 0
            return 0, more
        revision = t.change.c.revision
        following = connection.scalars(
            select(revision).order_by(revision).offset(self._size(newest)).limit(1)
        ).first()
        upper = min(following or horizon, horizon)
        pods = select(t.pod.c.node_id, t.pod.c.uid).where(t.pod.c.ended_revision < upper)
        self.gone = [(node, uid) for node, uid in connection.execute(pods)]
        dropped = connection.execute(delete(t.change).where(revision < upper)).rowcount
        self._delete_before(connection, upper)
        self._due_at = newest + dropped // _DROPPED_PER_CHANGE
        self._stepped_at = newest
        return dropped, True

    def _size(self, newest: int) -> int:
        since = newest - self._stepped_at if self._stepped_at else 0
        return self.steps.size_after(since)

    def _horizon(self, connection: Connection, newest: int) -> int:
        """Return the first revision that is kept: where a segment begins."""
        segment = t.history_segment
        kept_from = newest - self._changes_max + 1
        first = select(func.max(segment.c.first_revision))
        return connection.scalar(first.where(segment.c.first_change <= kept_from)) or 0

    def _drop_vanished(self, connection: Connection, horizon: int) -> bool:
        """Delete devices and boots that nothing after `horizon` names; tell if there are more."""
        device, boot, holding = t.device, t.boot, t.device_holding
        newer = t.boot.alias("newer")
        last_seen = func.coalesce(device.c.last_seen_revision, device.c.first_seen_revision)
        gone = select(device.c.id).where(device.c.slot.is_(None), last_seen < horizon)
        over = select(boot.c.id).where(
            boot.c.since_revision < horizon,
            exists().where(
                newer.c.node_id == boot.c.node_id, newer.c.generation > boot.c.generation
            ),
        )
        dropped: list[int] = []
        for table, candidates, named in (
            (device, gone, holding.c.device_id),
            (boot, over, holding.c.boot_id),
        ):
            found = connection.scalars(candidates.order_by(table.c.id)).all()
            # All holdings are read only where there is something to look for; the set is made
            # here, because PostgreSQL may look through all of them for each row of a NOT IN.
            kept = set(connection.scalars(select(named).distinct()) if found else ())
            unnamed = [key for key in found if key not in kept][:_VANISHED_MAX]
            if unnamed:
                connection.execute(delete(table).where(table.c.id.in_(unnamed)))
            dropped.append(len(unnamed))
        self.effort.devices += dropped[0]
        self.effort.boots += dropped[1]
        return _VANISHED_MAX in dropped

    @staticmethod
    def _delete_before(connection: Connection, upper: int) -> None:
        ended = select(t.device_holding.c.id).where(t.device_holding.c.until_revision < upper)
        pods = select(t.pod.c.id).where(t.pod.c.ended_revision < upper)
        first = t.history_segment.c.first_revision
        begun = select(func.max(first)).where(first <= upper).scalar_subquery()
        for statement in (
            delete(t.change_pod).where(t.change_pod.c.revision < upper),
            delete(t.device_binding).where(t.device_binding.c.holding_id.in_(ended)),
            delete(t.device_holding).where(t.device_holding.c.until_revision < upper),
            delete(t.container).where(t.container.c.pod_id.in_(pods)),
            delete(t.pod).where(t.pod.c.ended_revision < upper),
            delete(t.history_segment).where(first < begun),
        ):
            connection.execute(statement)
