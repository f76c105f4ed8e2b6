"""What `rebind explore` prints: how much was run, what was skipped and why, and what was found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

import click

from scenarios.exploring.explorer import Exploration, Finding, KindOfFinding
from scenarios.schema.variants import ADDS_NOTHING
from simulator.cli.output import Column, JsonValue, OutputOptions, Table, emit
from simulator.core.instants import format_duration
from simulator.core.invariant_names import INVARIANTS
from simulator.core.plurals import counted
from simulator.reports.text import printable

_AS_TABLE: Final = OutputOptions("table")


def _adds(one: Exploration) -> str:
    return ", ".join(dict.fromkeys(finding.invariant for finding in one.findings)) or "nothing"


def _explored(one: Exploration) -> Mapping[str, JsonValue]:
    return {
        "scenario": one.scenario,
        "kubeletVersion": one.combination.version,
        "persistence": one.combination.persistence.label,
        "readmission": one.combination.readmission.value,
        "effects": one.effects,
        "pointsRun": one.run,
        "pointsSkipped": dict(sorted(one.skipped.items())),
        "endedEarly": one.ended_early,
        "interrupted": one.interrupted,
        "findings": [_finding(finding) for finding in one.findings],
    }


def _finding(finding: Finding) -> Mapping[str, JsonValue]:
    return {
        "invariant": finding.invariant,
        "cause": finding.cause,
        "points": finding.points,
        "first": finding.point.place if finding.point is not None else "",
        "brokenAt": format_duration(finding.at),
        "detail": finding.detail,
    }


def _found(kind: KindOfFinding) -> Mapping[str, JsonValue]:
    return {
        "persistence": kind.persistence,
        "scenario": kind.where.scenario,
        "kubeletVersion": kind.where.combination.version,
        **_finding(kind.first),
        "points": kind.points,
    }


_EXPLORED: Table[Exploration] = Table(
    kind="Exploration",
    columns=(
        Column("SCENARIO", lambda one: one.scenario),
        Column("VERSION", lambda one: one.combination.version),
        Column("PERSISTENCE", lambda one: one.combination.persistence.label),
        Column("READMISSION", lambda one: one.combination.readmission.value),
        Column("EFFECTS", lambda one: one.effects),
        Column("RUN", lambda one: one.run),
        Column("SKIPPED", lambda one: sum(one.skipped.values())),
        Column("ADDS", _adds),
    ),
    name=lambda one: f"exploration/{one.scenario}",
    document=_explored,
    nothing="nothing was explored",
)

_FOUND: Table[KindOfFinding] = Table(
    kind="Finding",
    columns=(
        Column("PERSISTENCE", lambda kind: kind.persistence),
        Column("BROKEN", lambda kind: kind.invariant),
        Column("BY", lambda kind: kind.cause),
        Column("POINTS", lambda kind: kind.points),
        Column("FIRST", lambda kind: kind.first.point.place if kind.first.point else "-"),
        Column("IN", lambda kind: f"{kind.where.scenario} {kind.where.combination.version}"),
    ),
    name=lambda kind: f"finding/{kind.invariant}",
    document=_found,
    nothing="nothing was found",
)


def exploration_document(
    explorations: Sequence[Exploration], kinds: Sequence[KindOfFinding]
) -> Mapping[str, JsonValue]:
    """Return everything as a document."""
    return {
        "pointsRun": sum(one.run for one in explorations),
        "pointsSkipped": dict(sorted(_skipped(explorations).items())),
        "explorations": [_explored(one) for one in explorations],
        "findings": [_found(kind) for kind in kinds],
    }


def print_explorations(explorations: Sequence[Exploration], kinds: Sequence[KindOfFinding]) -> None:
    """Print the combinations, then the kinds of findings, then what was run and skipped."""
    emit(_EXPLORED, explorations, _AS_TABLE)
    if kinds:
        click.echo()
        emit(_FOUND, kinds, _AS_TABLE)
        click.echo()
        for name in dict.fromkeys(kind.invariant for kind in kinds):
            click.echo(printable(f"{name}: {INVARIANTS[name]}"))
        for kind in kinds:
            where = f"{kind.persistence}, {kind.cause}"
            click.echo(printable(f"{kind.invariant} ({where}): {kind.first.detail}"))
    click.echo()
    for line in (_points(explorations), *_early(explorations), _verdict(explorations, kinds)):
        click.echo(line)


def _skipped(explorations: Sequence[Exploration]) -> Counter[str]:
    skipped: Counter[str] = Counter()
    for one in explorations:
        skipped += one.skipped
    return skipped


def _points(explorations: Sequence[Exploration]) -> str:
    skipped = _skipped(explorations)
    reasons = "; ".join(f"{skipped[reason]} {reason}" for reason in sorted(skipped))
    run = counted(sum(one.run for one in explorations), "point")
    text = f"{run} run, {sum(skipped.values())} skipped"
    return f"{text}: {reasons}." if reasons else f"{text}."


def _early(explorations: Sequence[Exploration]) -> list[str]:
    early = sum(one.ended_early for one in explorations)
    if not early:
        return []
    return [f"{counted(early, 'run')} ended at a step that could not be done after the cut."]


def _verdict(explorations: Sequence[Exploration], kinds: Sequence[KindOfFinding]) -> str:
    labels = dict.fromkeys(one.combination.persistence.label for one in explorations)
    parts = []
    for label in labels:
        count = sum(kind.persistence == label for kind in kinds)
        promise = " although it promises to add nothing" if label in ADDS_NOTHING and count else ""
        adds = counted(count, "kind") + " of violation" if count else "nothing"
        parts.append(f"{label} adds {adds}{promise}")
    text = "; ".join(parts)
    return f"{text[:1].upper()}{text[1:]}."
