"""A bounded log of the changes of objects: what newer changes replaced is dropped in short steps.

The bound: the changes of the newest `revisions_max` revisions are known, and up to a quarter more.
The newest change of an object is the object and stays, however old; so does the one before a change
that is still known, because a watch has to tell what was there before.

A step begins after the last revision that is not known any more, which it moves on; every older
change but those that stay is gone then, so that a step looks at no row twice (R93).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, delete, insert, select, update

from simulator.object_ports import ChangeType
from store import tables as t
from store.database import Writer
from store.object_decisions import REVISIONS_MAX, TYPES
from store.object_queries import newest_revision, oldest_revision
from store.stepping import Attempts, Stepper

_SLACK: Final = 8
"""What fraction of the bound is waited for, so that steps have enough to do."""
_SLACKS_MAX: Final = 2
"""How many of those may be there before steps become longer than they should."""


@dataclass(slots=True)
class ObjectEffort(Attempts):
    """What retention did so far.

    Attributes:
        changes: Changes dropped.
    """

    changes: int = 0


class ObjectRetention:
    """Drops the oldest changes of objects of one database.

    Args:
        writer: The connection that writes; steps run between its transactions.
        revisions_max: As far back as this all changes are kept.
        clock: Seconds, for the length of a step.
    """

    def __init__(
        self,
        writer: Writer,
        *,
        revisions_max: int = REVISIONS_MAX,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.effort = ObjectEffort()
        self.steps = Stepper(writer, self.effort, clock=clock)
        self._revisions_max = revisions_max
        self._due_at = 0
        self._stepped_at = 0

    def is_due(self, revision: int) -> bool:
        """Tell, without asking the database, whether there may be something to drop."""
        return revision > self._due_at and revision > self._revisions_max

    def step(self) -> bool:
        """Drop a little; tell whether there is more. An error of the database is no error."""
        done = self.steps.attempt(self._drop)
        if done is None:
            return True
        dropped, more = done
        self.effort.changes += dropped
        return more

    def run(self) -> ObjectEffort:
        """Drop all that is due, unless a step fails."""
        failures = self.effort.failures
        while self.step() and self.effort.failures == failures:
            pass
        return self.effort

    def _drop(self, connection: Connection) -> tuple[int, bool]:
        """Delete one step's worth; return how many changes, and whether more may be due."""
        oldest = oldest_revision(connection)
        newest = newest_revision(connection)
        target = newest - self._revisions_max
        slack = self._revisions_max // _SLACK
        # Only one that has fallen behind has to drop more than it would by itself.
        behind = self._stepped_at and target - oldest > _SLACKS_MAX * slack
        size = self.steps.size_after(newest - self._stepped_at if behind else 0)
        change = t.api_change.c
        following = connection.scalars(
            select(change.revision)
            .where(change.revision > oldest)
            .order_by(change.revision)
            .offset(size)
            .limit(1)
        ).first()
        upper = target if following is None else min(following - 1, target)
        if upper <= oldest:
            return 0, False
        within = (change.revision > oldest, change.revision <= upper)
        replaced = select(change.previous_revision).where(
            *within, change.previous_revision.is_not(None)
        )
        deleted = TYPES[ChangeType.DELETED]
        dropped = 0
        for gone in (
            delete(t.api_change).where(change.revision.in_(replaced)),
            delete(t.api_change).where(*within, change.kind == deleted),
        ):
            dropped += connection.execute(gone).rowcount
        moved = update(t.api_horizon).values(revision=upper)
        if not connection.execute(moved).rowcount:
            connection.execute(insert(t.api_horizon).values(id=1, revision=upper))
        self._due_at = upper + self._revisions_max + slack
        self._stepped_at = newest
        return dropped, upper < target
