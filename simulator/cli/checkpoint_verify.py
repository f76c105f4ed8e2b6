"""What `rebind checkpoint verify` prints."""

from __future__ import annotations

from pathlib import Path

import click

from simulator.cli.checkpoint_files import CheckpointFile, read_checkpoint
from simulator.cli.checkpoint_texts import FORMAT_TEXTS, NOTHING
from simulator.cli.output import JsonValue, OutputOptions, emit_document, printable
from simulator.core.checkpoint.findings import Finding, findings
from simulator.errors import CheckpointError, CheckpointSyntaxError, CheckpointTypeError

_KIND = "CheckpointVerification"


def show_verdict(path: Path, output: OutputOptions, *, max_size: int) -> bool:
    """Print whether a file is valid and what is odd about it.

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
    _show_valid(file, findings(file.inspection.checkpoint, file.content), output)
    return True


def _show_damage(
    path: Path, error: CheckpointError, content: dict[str, JsonValue], output: OutputOptions
) -> None:
    if output.format == "table":
        click.echo(printable(str(error)))
        return
    emit_document(
        _KIND, {"file": str(path), "valid": False, "error": str(error), **content}, output
    )


def _show_valid(file: CheckpointFile, odd: tuple[Finding, ...], output: OutputOptions) -> None:
    if output.format != "table":
        warnings: list[JsonValue] = [
            {"kind": each.oddity.value, "message": each.message} for each in odd
        ]
        body = {"file": str(file.path), "valid": True, **_content(file), "warnings": warnings}
        emit_document(_KIND, body, output)
        return
    inspection = file.inspection
    checkpoint = inspection.checkpoint
    sums = (
        NOTHING
        if inspection.found is None
        else f"{inspection.found} found, {inspection.computed} computed"
    )
    rows = {
        "FILE": str(file.path),
        "VERDICT": "valid",
        "FORMAT": FORMAT_TEXTS[checkpoint.format],
        "CHECKSUM": sums,
        "ENTRIES": str(len(checkpoint.entries or ())),
        "REGISTERED": ", ".join(checkpoint.registered or ()) or NOTHING,
        "WARNINGS": str(len(odd)),
    }
    width = max(map(len, rows))
    for name, value in rows.items():
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
