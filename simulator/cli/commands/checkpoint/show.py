"""What `rebind checkpoint show` prints."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import click

from simulator.cli.checkpoint_files import CheckpointFile
from simulator.cli.checkpoint_texts import (
    devices_document,
    devices_text,
    ids_document,
    listed,
    numa_text,
    response_document,
    response_texts,
)
from simulator.cli.output import Column, JsonValue, OutputOptions, Table, emit, emit_document
from simulator.core.checkpoint.values import CheckpointEntry, DeviceIdList
from simulator.core.resources import ResourceName


@dataclass(frozen=True, slots=True)
class _Registered:
    """One registered resource."""

    resource: ResourceName
    ids: DeviceIdList


def show_checkpoint(file: CheckpointFile, output: OutputOptions) -> None:
    """Print a checkpoint as two tables or as one document."""
    checkpoint = file.inspection.checkpoint
    entries = checkpoint.entries or ()
    registered = [
        _Registered(resource, ids) for resource, ids in (checkpoint.registered or {}).items()
    ]
    if output.format in {"json", "yaml"}:
        body: dict[str, JsonValue] = {
            "format": checkpoint.format.value,
            "checksum": file.inspection.found,
            "entries": None
            if checkpoint.entries is None
            else [_document(each) for each in entries],
            "registeredDevices": None
            if checkpoint.registered is None
            else {each.resource: ids_document(each.ids) for each in registered},
        }
        emit_document("Checkpoint", body, output)
        return
    short = output.format == "table"
    emit(_entries(short=short), entries, output)
    if registered:
        if entries:
            click.echo()
        plain = OutputOptions(output.format, headers=output.headers)
        emit(_resources(short=short), registered, plain)


def _entries(*, short: bool) -> Table[CheckpointEntry]:
    def response(name: str) -> Callable[[CheckpointEntry], str]:
        return lambda entry: response_texts(entry.response, short=short)[name]

    return Table(
        kind="CheckpointEntry",
        columns=(
            Column("POD", lambda entry: entry.pod),
            Column("CONTAINER", lambda entry: entry.container),
            Column("RESOURCE", lambda entry: entry.resource),
            Column("NUMA", lambda entry: numa_text(entry.devices)),
            Column("DEVICES", lambda entry: devices_text(entry.devices, short=short)),
            Column("ENV", response("env")),
            Column("MOUNTS", response("mounts")),
            Column("DEVICE-NODES", response("nodes")),
            Column("CDI", response("cdi")),
            Column("ANNOTATIONS", response("annotations"), wide=True),
        ),
        name=lambda entry: f"{entry.pod}/{entry.container}/{entry.resource}",
        document=_document,
        nothing="no container holds devices",
    )


def _resources(*, short: bool) -> Table[_Registered]:
    return Table(
        kind="RegisteredResource",
        columns=(
            Column("REGISTERED", lambda each: each.resource),
            Column("HEALTHY", lambda each: len(each.ids or ())),
            Column("DEVICES", lambda each: listed(each.ids or (), short=short)),
        ),
        name=lambda each: each.resource,
        document=lambda each: {"resource": each.resource, "ids": ids_document(each.ids)},
        nothing="no resource is registered",
    )


def _document(entry: CheckpointEntry) -> dict[str, JsonValue]:
    return {
        "podUID": entry.pod,
        "container": entry.container,
        "resource": entry.resource,
        "devices": devices_document(entry.devices),
        "response": response_document(entry.response),
    }
