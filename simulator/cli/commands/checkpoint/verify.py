"""What `rebind checkpoint verify` prints."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from simulator.cli.blocks import show_indented, show_item, show_row
from simulator.cli.checkpoint_files import CheckpointFile, read_checkpoint
from simulator.cli.checkpoint_texts import FORMAT_TEXTS, NOTHING
from simulator.cli.output import JsonValue, OutputOptions, emit_document
from simulator.core.behavior import Behavior
from simulator.core.checkpoint.findings import Finding, findings
from simulator.core.checkpoint.outlook import Outlook, outlook, sentences, summary
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
        content = path.read_bytes()
        outlooks = [outlook(content, None, kubelet) for kubelet in kubelets]
        _show_damage(path, error, {}, outlooks, output)
        return False
    damage = file.damage()
    if damage is not None:
        outlooks = [
            outlook(file.content, file.inspection.checkpoint, kubelet) for kubelet in kubelets
        ]
        _show_damage(path, damage, _content(file), outlooks, output)
        return False
    checkpoint = file.inspection.checkpoint
    outlooks = [outlook(file.content, checkpoint, kubelet) for kubelet in kubelets]
    _show_valid(file, findings(checkpoint, file.content), outlooks, output)
    return True


def _show_damage(
    path: Path,
    error: CheckpointError,
    content: dict[str, JsonValue],
    outlooks: Sequence[Outlook],
    output: OutputOptions,
) -> None:
    if output.format != "table":
        body: dict[str, JsonValue] = {
            "file": str(path),
            "valid": False,
            "error": str(error),
            **content,
            "kubelets": [_outlook_document(each) for each in outlooks],
        }
        emit_document(_KIND, body, output)
        return
    click.echo(printable(str(error)))
    _show_outlooks(outlooks)


def _show_valid(
    file: CheckpointFile,
    odd: Sequence[Finding],
    outlooks: Sequence[Outlook],
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
            "kubelets": [_outlook_document(each) for each in outlooks],
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
        *((f"KUBELET {each.kubelet.version}", summary(each)) for each in outlooks),
        ("WARNINGS", str(len(odd))),
    )
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        show_row(name, value, width)
    for each in odd:
        show_indented(each.message)
    _show_outlooks(outlooks)


def _show_outlooks(outlooks: Sequence[Outlook]) -> None:
    for each in outlooks:
        click.echo()
        click.echo(printable(f"Kubelet {each.kubelet.version} at its next start with this file:"))
        for sentence in sentences(each):
            show_item(sentence)


def _outlook_document(outlook: Outlook) -> dict[str, JsonValue]:
    return {
        "version": outlook.kubelet.version,
        "error": outlook.error,
        "restored": len(outlook.restored),
        "skipped": len(outlook.skipped),
        "lost": len(outlook.lost),
        "numaAssumed": outlook.numa_is_assumed,
        "refusesRunningPods": outlook.refuses_running_pods,
        "refusesAfterReboot": outlook.refuses_after_reboot,
        "writes": outlook.kubelet.checkpoint_written.value,
        "nextStart": list(sentences(outlook)),
    }


def _content(file: CheckpointFile) -> dict[str, JsonValue]:
    checkpoint = file.inspection.checkpoint
    return {
        "format": checkpoint.format.value,
        "checksum": {"found": file.inspection.found, "computed": file.inspection.computed},
        "entries": len(checkpoint.entries or ()),
        "registeredResources": list(checkpoint.registered or ()),
    }
