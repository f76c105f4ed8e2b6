"""What `rebind checkpoint verify` prints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from simulator.cli.checkpoint_files import CheckpointFile, read_checkpoint
from simulator.cli.checkpoint_texts import FORMAT_TEXTS, NOTHING
from simulator.cli.output import JsonValue, OutputOptions, emit_document
from simulator.core.behavior import Behavior
from simulator.core.checkpoint.bindings import read_bindings
from simulator.core.checkpoint.findings import Finding, findings
from simulator.core.checkpoint.parse import parse
from simulator.core.plurals import counted
from simulator.errors import CheckpointError, CheckpointSyntaxError, CheckpointTypeError
from simulator.reports.text import printable

_KIND = "CheckpointVerification"


def show_verdict(
    path: Path, kubelets: Sequence[Behavior], output: OutputOptions, *, max_size: int
) -> bool:
    """Print whether a file is valid, what is odd about it, and what kubelets make of it.

    Returns:
        Whether it is valid.

    Raises:
        CheckpointError: It is not a device-manager checkpoint, or too large.
        OSError: It cannot be read.
    """
    try:
        file = read_checkpoint(path, max_size=max_size)
    except (CheckpointSyntaxError, CheckpointTypeError) as error:
        _show_damage(path, error, {}, output)
        return False
    damage = file.damage()
    if damage is not None:
        _show_damage(path, damage, _content(file), output)
        return False
    readings = [_read_by(file, kubelet) for kubelet in kubelets]
    _show_valid(file, findings(file.inspection.checkpoint, file.content), readings, output)
    return True


@dataclass(frozen=True, slots=True)
class _Reading:
    """What one kubelet makes of a file at its start.

    Attributes:
        error: Why it cannot read the file and starts empty (S4.12); empty when it can.
        bindings, skipped: Entries that it restores, and that it leaves out (S4.13).
    """

    version: str
    error: str = ""
    bindings: int = 0
    skipped: int = 0

    @property
    def text(self) -> str:
        if self.error:
            return f"cannot read it and starts without any record: {self.error}"
        left_out = f", leaves {self.skipped} out" if self.skipped else ""
        return f"restores {counted(self.bindings, 'entry', 'entries')}{left_out}"

    @property
    def document(self) -> dict[str, JsonValue]:
        return {
            "version": self.version,
            "error": self.error,
            "restored": self.bindings,
            "skipped": self.skipped,
        }


def _read_by(file: CheckpointFile, kubelet: Behavior) -> _Reading:
    try:
        checkpoint = parse(file.content, kubelet.checkpoints_read)
    except CheckpointError as error:
        return _Reading(kubelet.version, str(error))
    read = read_bindings(checkpoint, lenient=kubelet.lenient_allocate_responses)
    return _Reading(kubelet.version, "", len(read.bindings), len(read.skipped))


def _show_damage(
    path: Path, error: CheckpointError, content: dict[str, JsonValue], output: OutputOptions
) -> None:
    if output.format == "table":
        click.echo(printable(str(error)))
        return
    emit_document(
        _KIND, {"file": str(path), "valid": False, "error": str(error), **content}, output
    )


def _show_valid(
    file: CheckpointFile,
    odd: Sequence[Finding],
    readings: Sequence[_Reading],
    output: OutputOptions,
) -> None:
    if output.format != "table":
        warnings: list[JsonValue] = [
            {"kind": each.oddity.value, "message": each.message} for each in odd
        ]
        body: dict[str, JsonValue] = {
            "file": str(file.path),
            "valid": True,
            **_content(file),
            "kubelets": [each.document for each in readings],
            "warnings": warnings,
        }
        emit_document(_KIND, body, output)
        return
    inspection = file.inspection
    checkpoint = inspection.checkpoint
    sums = (
        NOTHING
        if inspection.found is None
        else f"{inspection.found} found, {inspection.computed} computed"
    )
    rows = (
        ("FILE", str(file.path)),
        ("VERDICT", "valid"),
        ("FORMAT", FORMAT_TEXTS[checkpoint.format]),
        ("CHECKSUM", sums),
        ("ENTRIES", str(len(checkpoint.entries or ()))),
        ("REGISTERED", ", ".join(checkpoint.registered or ()) or NOTHING),
        *((f"KUBELET {each.version}", each.text) for each in readings),
        ("WARNINGS", str(len(odd))),
    )
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        click.echo(f"{name:<{width}}   {printable(value)}")
    for each in odd:
        click.echo(f"  {printable(each.message)}")


def _content(file: CheckpointFile) -> dict[str, JsonValue]:
    checkpoint = file.inspection.checkpoint
    return {
        "format": checkpoint.format.value,
        "checksum": {"found": file.inspection.found, "computed": file.inspection.computed},
        "entries": len(checkpoint.entries or ()),
        "registeredResources": list(checkpoint.registered or ()),
    }
