"""The statements of the write path, compiled once for a dialect.

They are run with tuples: the order of a statement's parameters is the order of the columns below.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, Final

from sqlalchemy import Connection, Dialect, Table, bindparam, delete, insert, update

from store import tables as t

Row = tuple[Any, ...]
"""Parameters of one execution, as the driver takes them."""


def _insert(table: Table, dialect: Dialect) -> str:
    return str(insert(table).compile(dialect=dialect))


def _update(table: Table, key: str, columns: tuple[str, ...], dialect: Dialect) -> str:
    statement = (
        update(table)
        .where(table.c[key] == bindparam(f"this_{key}"))
        .values({column: bindparam(f"new_{column}") for column in columns})
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
}
_UPDATED: Final = {
    "resource_updates": (t.resource, ("registered",)),
    "device_updates": (t.device, ("slot", "health", "numa_nodes", "last_seen_revision")),
    "pod_updates": (
        t.pod,
        ("namespace", "name", "standing", "reason", "message", "holds_devices", "ended_revision"),
    ),
}


def compiled(dialect: Dialect) -> tuple[tuple[str, str], ...]:
    """Return name and text of every statement, in the order in which a batch runs them.

    Ends come before beginnings, parents before children, so that transitions of different pods may
    be gathered table by table.
    """
    return (
        (
            "holding_ends",
            _update(t.device_holding, "id", ("until_revision", "until_at"), dialect),
        ),
        ("settlements", _update(t.device_holding, "id", ("disputed",), dialect)),
        ("binding_deletes", _delete(t.device_binding, ("holding_id", "container"), dialect)),
        (
            "response_deletes",
            _delete(t.allocate_response, ("pod_id", "container", "resource_id"), dialect),
        ),
        ("checkpoint_deletes", _delete(t.imported_checkpoint, ("node_id",), dialect)),
        *((name, _insert(table, dialect)) for name, table in _INSERTED_EARLY.items()),
        *(
            (name, _update(table, "id", columns, dialect))
            for name, (table, columns) in _UPDATED.items()
        ),
        *((name, _insert(table, dialect)) for name, table in _INSERTED_LATE.items()),
        ("node_updates", _update(t.node, "id", ("revision",), dialect)),
    )


@dataclass(slots=True)
class Writes:
    """Rows that wait to be written, by statement."""

    holding_ends: list[Row] = field(default_factory=list)
    settlements: list[Row] = field(default_factory=list)
    binding_deletes: list[Row] = field(default_factory=list)
    response_deletes: list[Row] = field(default_factory=list)
    checkpoint_deletes: list[Row] = field(default_factory=list)
    nodes: list[Row] = field(default_factory=list)
    boots: list[Row] = field(default_factory=list)
    resources: list[Row] = field(default_factory=list)
    devices: list[Row] = field(default_factory=list)
    pods: list[Row] = field(default_factory=list)
    resource_updates: list[Row] = field(default_factory=list)
    device_updates: list[Row] = field(default_factory=list)
    pod_updates: list[Row] = field(default_factory=list)
    containers: list[Row] = field(default_factory=list)
    holdings: list[Row] = field(default_factory=list)
    bindings: list[Row] = field(default_factory=list)
    responses: list[Row] = field(default_factory=list)
    changes: list[Row] = field(default_factory=list)
    change_pods: list[Row] = field(default_factory=list)
    segments: list[Row] = field(default_factory=list)
    checkpoints: list[Row] = field(default_factory=list)
    node_updates: list[Row] = field(default_factory=list)

    def run(self, connection: Connection, statements: tuple[tuple[str, str], ...]) -> None:
        """Execute what waits, each statement once, and wait for nothing more."""
        for name, sql in statements:
            rows: list[Row] = getattr(self, name)
            if rows:
                connection.exec_driver_sql(sql, rows)
                setattr(self, name, [])


WRITE_NAMES: Final = tuple(one.name for one in fields(Writes))
