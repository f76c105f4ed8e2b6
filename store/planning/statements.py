"""The statements of the write path, compiled once for a dialect.

They are run with tuples: the order of a statement's parameters is the order of the columns below.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from typing import Final

from sqlalchemy import (
    Dialect,
    SmallInteger,
    Table,
    bindparam,
    case,
    delete,
    false,
    insert,
    update,
)
from sqlalchemy.dialects import registry

from store import tables as t
from store.database import Row, Statement
from store.planning.newcomers import LEFT_OUT, Newcomer, rows_of

Write = Callable[[Sequence[Statement]], object]
"""Executes statements in order."""


def _insert(table: Table, dialect: Dialect, left_out: AbstractSet[str] = frozenset()) -> str:
    columns = [column.name for column in table.columns if column.name not in left_out]
    return str(insert(table).compile(dialect=dialect, column_keys=columns))


def _update(table: Table, key: str, columns: tuple[str, ...], dialect: Dialect) -> str:
    statement = (
        update(table)
        .where(table.c[key] == bindparam(f"this_{key}"))
        .values({column: bindparam(f"new_{column}") for column in columns})
    )
    return str(statement.compile(dialect=dialect))


def _holding_ends(dialect: Dialect) -> str:
    """End the holdings of a run of keys that last."""
    holding = t.device_holding
    statement = (
        update(holding)
        .where(
            holding.c.id.between(bindparam("first"), bindparam("last")),
            holding.c.until_revision.is_(None),
        )
        .values(until_revision=bindparam("until"), until_at=bindparam("at"))
    )
    return str(statement.compile(dialect=dialect))


def _pod_ends(dialect: Dialect) -> str:
    """End a pod's part in its node's state; a rejected pod stays rejected."""
    standing = case(
        (t.pod.c.standing == bindparam("admitted"), bindparam("released", type_=SmallInteger)),
        else_=t.pod.c.standing,
    )
    statement = (
        update(t.pod)
        .where(t.pod.c.id == bindparam("this_id"))
        .values(standing=standing, holds_devices=false(), ended_revision=bindparam("ended"))
    )
    return str(statement.compile(dialect=dialect))


def _delete(table: Table, keys: tuple[str, ...], dialect: Dialect) -> str:
    statement = delete(table).where(*(table.c[key] == bindparam(f"this_{key}") for key in keys))
    return str(statement.compile(dialect=dialect))


_INSERTED_EARLY: Final = {
    "nodes": t.node,
    "boots": t.boot,
    "resources": t.resource,
    "devices": t.device,
    "pods": t.pod,
}
_INSERTED_LATE: Final = {
    "containers": t.container,
    "holdings": t.device_holding,
    "bindings": t.device_binding,
    "responses": t.allocate_response,
    "changes": t.change,
    "change_pods": t.change_pod,
    "segments": t.history_segment,
    "checkpoints": t.imported_checkpoint,
    "phases": t.node_phase,
}
_UPDATED: Final = {
    "resource_updates": (t.resource, ("registered",)),
    "device_updates": (t.device, ("slot", "health", "numa_nodes", "last_seen_revision")),
    "pod_updates": (
        t.pod,
        ("namespace", "name", "standing", "reason", "message", "holds_devices", "ended_revision"),
    ),
}


BY_PLACE: Final = {"postgresql": "format", "sqlite": "qmark"}
"""How a driver marks a parameter that has no name."""


@cache
def compiled(database: str) -> tuple[tuple[str, str], ...]:
    """Return name and text of every statement, in the order in which a batch runs them.

    Ends come before beginnings, parents before children, so that transitions of different pods may
    be gathered table by table.

    Args:
        database: Name and driver of a dialect, e.g. `sqlite.pysqlite`.
    """
    kind = registry.load(database)
    dialect: Dialect = kind(paramstyle=BY_PLACE.get(kind.name))
    return (
        ("holding_ends", _holding_ends(dialect)),
        ("settlements", _update(t.device_holding, "id", ("disputed",), dialect)),
        ("binding_deletes", _delete(t.device_binding, ("holding_id", "container"), dialect)),
        (
            "response_deletes",
            _delete(t.allocate_response, ("pod_id", "container", "resource_id"), dialect),
        ),
        ("responses_of_pods", _delete(t.allocate_response, ("pod_id",), dialect)),
        ("checkpoint_deletes", _delete(t.imported_checkpoint, ("node_id",), dialect)),
        ("phase_deletes", _delete(t.node_phase, ("node_id",), dialect)),
        *((name, _insert(table, dialect)) for name, table in _INSERTED_EARLY.items()),
        *(
            (name, _update(table, "id", columns, dialect))
            for name, (table, columns) in _UPDATED.items()
        ),
        *(
            (name, _insert(table, dialect, left_out))
            for name, (table, left_out) in LEFT_OUT.items()
        ),
        ("pod_ends", _pod_ends(dialect)),
        *((name, _insert(table, dialect)) for name, table in _INSERTED_LATE.items()),
        ("node_updates", _update(t.node, "id", ("revision",), dialect)),
    )


@dataclass(slots=True)
class Writes:
    """Rows that wait to be written, by statement; and newcomers, whose rows are made only then."""

    holding_ends: list[Row] = field(default_factory=list)
    settlements: list[Row] = field(default_factory=list)
    binding_deletes: list[Row] = field(default_factory=list)
    response_deletes: list[Row] = field(default_factory=list)
    responses_of_pods: list[Row] = field(default_factory=list)
    checkpoint_deletes: list[Row] = field(default_factory=list)
    phase_deletes: list[Row] = field(default_factory=list)
    nodes: list[Row] = field(default_factory=list)
    boots: list[Row] = field(default_factory=list)
    resources: list[Row] = field(default_factory=list)
    devices: list[Row] = field(default_factory=list)
    pods: list[Row] = field(default_factory=list)
    resource_updates: list[Row] = field(default_factory=list)
    device_updates: list[Row] = field(default_factory=list)
    pod_updates: list[Row] = field(default_factory=list)
    pod_ends: list[Row] = field(default_factory=list)
    containers: list[Row] = field(default_factory=list)
    holdings: list[Row] = field(default_factory=list)
    bindings: list[Row] = field(default_factory=list)
    responses: list[Row] = field(default_factory=list)
    changes: list[Row] = field(default_factory=list)
    change_pods: list[Row] = field(default_factory=list)
    segments: list[Row] = field(default_factory=list)
    checkpoints: list[Row] = field(default_factory=list)
    phases: list[Row] = field(default_factory=list)
    node_updates: list[Row] = field(default_factory=list)
    newcomers: list[Newcomer] = field(default_factory=list)

    def run(
        self, write: Write, statements: tuple[tuple[str, str], ...], *, has_booleans: bool
    ) -> None:
        """Execute what waits, each statement once, and wait for nothing more.

        Args:
            write: Executes.
            statements: From `compiled`.
            has_booleans: Whether the database has them.
        """
        waiting: list[Statement] = []
        newcomers, self.newcomers = self.newcomers, []
        made = rows_of(newcomers, has_booleans=has_booleans) if newcomers else {}
        for name, sql in statements:
            rows: list[Row] = [] if name in LEFT_OUT else getattr(self, name)
            if rows:
                setattr(self, name, [])
            if rows and name in made:
                waiting.append((sql, chain(rows, made[name])))
            elif rows or name in made:
                waiting.append((sql, rows or made[name]))
        if waiting:
            write(waiting)
