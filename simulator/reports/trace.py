"""Records as a `Trace`: JSON Lines, one header and then one record a line (details 24)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum

from simulator.config import API_VERSION
from simulator.core.instants import format_duration
from simulator.core.records import Record, Stamped
from simulator.reports.documents import Json
from simulator.reports.results import RunResult, ScenarioResult


def trace(result: ScenarioResult) -> str:
    """Return the traces of all runs of a scenario, one after the other."""
    return "".join(
        f"{json.dumps(line, ensure_ascii=False, separators=(', ', ': '))}\n"
        for run in result.runs
        for line in _lines(result.name, run)
    )


def _lines(name: str, run: RunResult) -> list[Json]:
    nodes = sorted({str(stamped.node) for stamped in run.records if stamped.node})
    header: Json = {
        "apiVersion": API_VERSION,
        "kind": "Trace",
        "metadata": {"name": name},
        "spec": {
            "kubeletVersion": run.column.version,
            "persistence": run.column.persistence,
            "readmission": run.column.readmission or "upstream",
            "seed": run.seed,
            "nodes": nodes,
            "started": "0s",
        },
    }
    return [header, *(_line(stamped) for stamped in run.records)]


def _line(stamped: Stamped) -> Json:
    record = stamped.record
    return {
        "t": format_duration(stamped.at),
        "node": stamped.node,
        "type": type(record).__name__,
        **record_fields(record),
    }


def record_fields(record: Record) -> dict[str, Json]:
    """Return a record's own fields with their camelCase names."""
    return {_camel(one.name): _plain(getattr(record, one.name)) for one in fields(record)}


def _plain(value: object) -> Json:
    """Return a field's value in JSON; a pair of a name and a value stands as a list."""
    if value is None or isinstance(value, str | int | bool):
        return value
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in sorted(value.items())}
    if is_dataclass(value) and not isinstance(value, type):
        return {_camel(one.name): _plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    reason = f"a record holds {type(value).__name__}, which has no JSON form"
    raise TypeError(reason)


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
