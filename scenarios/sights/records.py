"""What is seen in the records of a run, one function for each key of an expectation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Final

from pydantic.alias_generators import to_camel

from scenarios.schema.expect import Expectation, InvariantsBroken, RecordMatch
from scenarios.sights.scene import Scene, of_type
from simulator.core import records
from simulator.core.records import Record
from simulator.reports.results import Fact


def record(row: Expectation, scene: Scene) -> list[Fact]:
    """Count the records that match."""
    wanted = row.record or RecordMatch(type="StepDone")
    names = scene.pod_names() if _POD_FIELDS & wanted.where.keys() else {}
    count = sum(_matches(wanted, stamped.record, names) for stamped in scene.records())
    text = f"{count} found" if count else "none"
    if wanted.count is None:
        return [Fact("record", text, "at least one", holds=count > 0)]
    return [Fact("record", text, str(wanted.count), holds=count == wanted.count)]


_POD_FIELDS: Final = frozenset({"pod", "pods"})
"""Fields of records that hold uids of pods, by which no person would look for them."""


def _matches(wanted: RecordMatch, record: Record, names: Mapping[str, str]) -> bool:
    if type(record).__name__ != wanted.type:
        return False
    values = {to_camel(field.name): getattr(record, field.name) for field in fields(record)}
    return all(
        _same(values.get(key), value, names if key in _POD_FIELDS else {})
        for key, value in wanted.where.items()
    )


def _same(seen: object, wanted: object, names: Mapping[str, str]) -> bool:
    """Compare a record's field with a value of a file: lists for sequences, text for keys."""
    if isinstance(seen, tuple) and isinstance(wanted, list):
        return len(seen) == len(wanted) and all(
            _same(one, other, names) for one, other in zip(seen, wanted, strict=True)
        )
    if isinstance(seen, Mapping) and isinstance(wanted, dict):
        entries = {str(key): value for key, value in seen.items()}
        return entries.keys() == wanted.keys() and all(
            _same(entries[key], value, names) for key, value in wanted.items()
        )
    return seen == wanted or (isinstance(seen, str) and names.get(seen, seen) == wanted)


def event(row: Expectation, scene: Scene) -> list[Fact]:
    """Look for a Kubernetes event."""
    wanted = row.event
    if wanted is None:
        return []
    pod = scene.run.pod(wanted.pod) if wanted.pod is not None else None
    events = [
        record
        for record in of_type(scene, records.EventEmitted)
        if record.reason == wanted.reason
        and (wanted.pod is None or (pod is not None and record.pod == pod.uid))
    ]
    found = [event for event in events if wanted.message in (None, event.message)]
    shown = found or events
    text = f"{len(events)} found" if events else "none"
    detail = shown[0].message if shown and wanted.message is not None else ""
    return [Fact("event", text, wanted.message or wanted.reason, bool(found), detail)]


def invariants(row: Expectation, scene: Scene) -> list[Fact]:
    """See which invariants are broken."""
    found = of_type(scene, records.InvariantViolated)
    own = {record.invariant for record in found if not record.by_kubelet}
    kubelets = sorted({record.invariant for record in found} - own)
    texts = [_broken(own)]
    if kubelets:
        texts.append(f"by the kubelet itself: {' '.join(kubelets)}")
    wanted = set(row.invariants.broken) if isinstance(row.invariants, InvariantsBroken) else set()
    expected = _broken(wanted)
    return [
        Fact("invariants", ", ".join(texts), expected, own == wanted, _first_of_each(found, scene))
    ]


def _broken(names: set[str]) -> str:
    return f"broken: {' '.join(sorted(names))}" if names else "hold"


def _first_of_each(found: list[records.InvariantViolated], scene: Scene) -> str:
    """Return how each invariant was first broken, the kubelet's own breaches left out."""
    first = {record.invariant: record for record in reversed(found) if not record.by_kubelet}
    text = "; ".join(f"{name}: {first[name].detail}" for name in sorted(first))
    for uid, name in scene.pod_names().items():
        text = text.replace(uid, name)
    return text
