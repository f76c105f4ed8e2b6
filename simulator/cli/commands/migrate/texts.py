"""How `rebind migrate` shows plans, steps and the truth about a node."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from simulator.cli.checkpoint_texts import NOTHING
from simulator.cli.commands.migrate.stopped_node import NodeFiles
from simulator.cli.output import JsonValue, OutputOptions, emit_document
from simulator.core.checkpoint.findings import Finding, findings
from simulator.core.migration.agreement import pods_of
from simulator.core.migration.phases import Phase, Side, meaning_of
from simulator.core.migration.survey import Survey
from simulator.core.plurals import counted
from simulator.core.records import MigrationStep, Record, StatesDiffer, StateWritten
from simulator.core.transitions import DeviceBinding, NodeName
from simulator.reports.text import printable

_SIDES = {Side.FILE: "the file", Side.DATABASE: "the database"}


def line_of(record: Record) -> str:
    """Return what a record says to someone who migrates a node; empty for what is detail."""
    match record:
        case MigrationStep(phase, _, error) if error:
            return f"{phase}: refused: {error}"
        case MigrationStep(phase, detail, _):
            return f"{phase}: {detail}"
        case StatesDiffer(believed, detail):
            return f"differed: {detail}; {believed} counts"
        case StateWritten(target, "repair", _, ""):
            return f"mended: {target}"
        case _:
            return ""


def step_document(record: Record) -> dict[str, JsonValue]:
    """Return a step as a document; empty for what is detail."""
    match record:
        case MigrationStep(phase, detail, error):
            return {"phase": phase, "done": not error, "detail": detail or error}
        case StatesDiffer(believed, detail):
            return {"differed": detail, "believed": believed}
        case _:
            return {}


def show_plan(
    node: NodeName, file: Path, found: Survey, records: Sequence[Record], output: OutputOptions
) -> None:
    """Print what is there, the steps, and what is odd about the file."""
    odd = warnings(found)
    if output.format != "table":
        emit_document(
            "MigrationPlan",
            {
                "node": node,
                "phase": found.phase.value,
                "file": {"path": str(file), **_file_document(found)},
                "database": _rows_document(found),
                "steps": [step for one in records if (step := step_document(one))],
                "warnings": [{"kind": one.oddity.value, "message": one.message} for one in odd],
            },
            output,
        )
        return
    lines = [line for one in records if (line := line_of(one))]
    _show_pairs(
        ("NODE", node),
        ("PHASE", phase_text(found)),
        ("FILE", f"{file}: {_file_text(found)}"),
        ("DATABASE", _rows_text(found)),
        ("STEPS", str(len(lines))),
    )
    for line in lines:
        click.echo(f"  {printable(line)}")
    _show_pairs(("WARNINGS", str(len(odd))))
    for each in odd:
        click.echo(f"  {printable(each.message)}")


def show_survey(
    node: NodeName,
    files: NodeFiles,
    found: Survey,
    output: OutputOptions,
    *,
    kubelet_runs: bool,
) -> bool:
    """Print what is true of a node; return whether it is what the phase says."""
    wrong = contradiction(found)
    aside = str(files.retired_as_named) if files.retired.exists() else ""
    compares = found.regime.writes_both or found.phase is Phase.IMPORTED
    compared = found.compared.detail or "the same"
    if output.format != "table":
        emit_document(
            "MigrationStatus",
            {
                "node": node,
                "phase": found.phase.value,
                "recorded": found.is_recorded,
                "believed": found.believed.value,
                "writes": _written(found),
                "file": {"path": str(files.path), **_file_document(found)},
                "setAside": aside or None,
                "database": _rows_document(found),
                "same": found.compared.holds if compares else None,
                "differences": found.compared.detail if compares else "",
                "contradiction": wrong,
                "kubeletRuns": kubelet_runs,
            },
            output,
        )
        return not wrong
    _show_pairs(
        ("NODE", node),
        ("PHASE", phase_text(found)),
        ("BELIEVED", _SIDES[found.believed]),
        ("FILE", f"{files.path}: {_file_text(found)}"),
        ("SET ASIDE", _aside_text(found, aside)),
        ("DATABASE", _rows_text(found)),
        ("COMPARED", compared if compares else NOTHING),
        ("KUBELET", "runs" if kubelet_runs else "does not answer"),
        ("VERDICT", wrong or "as the phase says"),
    )
    return not wrong


def contradiction(found: Survey) -> str:
    """Return what is not as the phase says, and what becomes of it; empty when all is."""
    regime, file = found.regime, found.file
    if regime.writes_both and not found.compared.holds:
        other = Side.FILE if found.believed is Side.DATABASE else Side.DATABASE
        return (
            f"they differ: the next step, or the next start of the kubelet, lets {_SIDES[other]} "
            f"say what {_SIDES[found.believed]} says"
        )
    if not regime.writes_file and file.content is not None:
        return "a file lies where none should be: `rebind migrate run` sets it aside"
    if not regime.writes_rows and file.error:
        return "the file, which counts, cannot be read: a kubelet would start without any binding"
    if found.phase is Phase.IMPORTED and file.content is None and found.has_rows:
        return "the file, which counts, is missing: a kubelet would start without any binding"
    if found.phase is Phase.CHECKPOINT and found.is_recorded and found.has_rows:
        return "the database has rows that nobody writes"
    return ""


def warnings(found: Survey) -> tuple[Finding, ...]:
    """Return what is odd about the file."""
    file = found.file
    if file.checkpoint is None or file.content is None:
        return ()
    return findings(file.checkpoint, file.content)


def phase_text(found: Survey) -> str:
    """Return the phase and what it means."""
    told = "" if found.is_recorded else " (no migration was begun)"
    return f"{found.phase.value}{told}: {meaning_of(found.phase)}"


def _written(found: Survey) -> list[JsonValue]:
    regime = found.regime
    sides = ((Side.FILE, regime.writes_file), (Side.DATABASE, regime.writes_rows))
    return [side.value for side, is_written in sides if is_written]


def _amount(bindings: Sequence[DeviceBinding]) -> str:
    return f"{counted(len(bindings), 'binding')} of {counted(len(pods_of(bindings)), 'pod')}"


def _file_text(found: Survey) -> str:
    file = found.file
    if file.error:
        return f"cannot be read: {file.error}"
    if file.form is None:
        return "missing"
    skipped = f", {counted(file.skipped, 'entry', 'entries')} left out" if file.skipped else ""
    return f"{_amount(file.bindings)}, format {file.form.value}{skipped}"


def _aside_text(found: Survey, aside: str) -> str:
    """Name the file that is set aside; one beside a file that is in use is of an earlier way."""
    if aside and found.regime.writes_file and found.file.content is not None:
        return f"{aside}: left of an earlier way there, nothing reads it"
    return aside or NOTHING


def _rows_text(found: Survey) -> str:
    resources = counted(len(found.rows.registered), "resource")
    return f"{_amount(found.rows.bindings)}, {resources}, revision {found.rows.revision}"


def _file_document(found: Survey) -> dict[str, JsonValue]:
    file = found.file
    return {
        "exists": file.content is not None,
        "error": file.error,
        "format": file.form.value if file.form else None,
        "bindings": len(file.bindings),
        "pods": len(pods_of(file.bindings)),
        "skipped": file.skipped,
    }


def _rows_document(found: Survey) -> dict[str, JsonValue]:
    return {
        "bindings": len(found.rows.bindings),
        "pods": len(pods_of(found.rows.bindings)),
        "registered": list(found.rows.registered),
        "revision": found.rows.revision,
    }


def _show_pairs(*rows: tuple[str, str]) -> None:
    for name, value in rows:
        click.echo(f"{name:<9}   {printable(value)}")
