"""A bounded history: the oldest segments are dropped, little by little.

An unbounded history is how databases under Kubernetes have died: a clean-up that takes too long is
rolled back, finds even more the next time, and never ends (R93); one that failed once never runs
again (R90); one that waits for a lock within a long transaction blocks everybody (R89). So:

- A step is one short transaction that takes its lock at once (`BEGIN IMMEDIATE`).
- What a step deleted is its progress: the next one begins at the oldest change that is left.
- A step that took too long halves the next one's size, a quick one doubles it.
- A step that fails is counted and changes nothing else; the next one tries again.

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
from typing import Final

from sqlalchemy import Connection, delete, exists, func, select

from simulator.core.pods import PodUid
from store import tables as t
from store.database import Writer

CHANGES_MAX: Final = 500_000
STEP_S: Final = 0.05
"""How long a step should take at most, in seconds: so long an admission may have to wait for it."""
STEP_CHANGES: Final = 2_000
STEP_CHANGES_MIN: Final = 16
STEP_CHANGES_MAX: Final = 16_000
_QUICK: Final = 4
_VANISHED_MAX: Final = 5_000
"""How many devices, and how many boots, one step drops.

Such a step reads all holdings, about 0.1 s at half a million; it is due once in a segment, and only
when something vanished.
"""


@dataclass(slots=True)
class Effort:
    """What retention did so far.

    Attributes:
        steps: Attempts, failed ones too.
        failures: Attempts that an error of the database ended.
        changes: Changes dropped.
        devices: Vanished devices dropped.
        boots: Old boots dropped.
    """

    steps: int = 0
    failures: int = 0
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
        self.step_changes = STEP_CHANGES
        self._writer = writer
        self._changes_max = changes_max
        self._clock = clock
        self._due_at = 0

    def is_due(self, revision: int) -> bool:
        """Tell, without asking the database, whether there may be something to drop."""
        return revision > self._changes_max and revision >= self._due_at

    def step(self) -> bool:
        """Drop a little; tell whether there is more to drop. An error of the database is no error.

        What is due is looked up in the same transaction, so that a step never acts on what was true
        before somebody else wrote.
        """
        self.effort.steps += 1
        began = self._clock()
        self.gone = []
        try:
            self._writer.begin()
            dropped, more = self._drop(self._writer.connection)
            self._writer.commit()
        except self._writer.errors:
            self._writer.roll_back()
            self.gone = []
            self.effort.failures += 1
            self._adapt(self._clock() - began, failed=True)
            return True
        self.effort.changes += dropped
        self._adapt(self._clock() - began, failed=False)
        return more

    def run(self) -> Effort:
        """Drop all that is due, unless a step fails."""
        failures = self.effort.failures
        while self.step() and self.effort.failures == failures:
            pass
        return self.effort

    def _adapt(self, took_s: float, *, failed: bool) -> None:
        if failed or took_s > STEP_S:
            self.step_changes = max(self.step_changes // 2, STEP_CHANGES_MIN)
        elif took_s < STEP_S / _QUICK:
            self.step_changes = min(self.step_changes * 2, STEP_CHANGES_MAX)

    def _drop(self, connection: Connection) -> tuple[int, bool]:
        """Delete one step's worth; return how many changes, and whether more may be due."""
        # Each by itself is one look into the index; both in one query read the whole table.
        oldest = connection.scalar(select(func.min(t.change.c.revision)))
        newest = connection.scalar(select(func.max(t.change.c.revision)))
        horizon = self._horizon(connection, newest or 0)
        if oldest is None or oldest >= horizon:
            segments = connection.scalars(
                select(t.history_segment.c.first_revision)
                .where(t.history_segment.c.first_revision > horizon)
                .order_by(t.history_segment.c.first_revision)
                .limit(1)
            ).first()
            more = self._drop_vanished(connection, horizon)
            if not more:
                # Nothing is due before the segment that is now the oldest could be dropped.
                self._due_at = (segments or newest or 0) + self._changes_max
            return 0, more
        upper = min(oldest + self.step_changes, horizon)
        pods = select(t.pod.c.node_id, t.pod.c.uid).where(t.pod.c.ended_revision < upper)
        self.gone = [(node, uid) for node, uid in connection.execute(pods)]
        self._delete_before(connection, upper)
        return upper - oldest, True

    def _horizon(self, connection: Connection, newest: int) -> int:
        """Return the first revision that is kept: where a segment begins."""
        first = t.history_segment.c.first_revision
        kept_from = newest - self._changes_max + 1
        return connection.scalar(select(func.max(first)).where(first <= kept_from)) or 0

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
            delete(t.change).where(t.change.c.revision < upper),
            delete(t.change_pod).where(t.change_pod.c.revision < upper),
            delete(t.device_binding).where(t.device_binding.c.holding_id.in_(ended)),
            delete(t.device_holding).where(t.device_holding.c.until_revision < upper),
            delete(t.container).where(t.container.c.pod_id.in_(pods)),
            delete(t.pod).where(t.pod.c.ended_revision < upper),
            delete(t.history_segment).where(first < begun),
        ):
            connection.execute(statement)
