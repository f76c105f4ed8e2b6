"""Writing a checkpoint file: the exact bytes of Go's `json.Marshal` (S4.1 to S4.5)."""

from __future__ import annotations

from binascii import b2a_base64
from collections.abc import Iterable, Mapping
from typing import Final

from simulator.core.behavior import CheckpointFormat
from simulator.core.checkpoint.dump import checksum, dump
from simulator.core.checkpoint.go_strings import quoted, raw
from simulator.core.checkpoint.values import Checkpoint, CheckpointEntry, DeviceIdList, EntryDevices
from simulator.core.resources import ResourceName

_NULL: Final = "null"


def render(checkpoint: Checkpoint, *, legacy_escapes: bool = False) -> bytes:
    """Return the file: one line, no newline, with its checksum; a bare file has none.

    Args:
        checkpoint: What to write.
        legacy_escapes: Escape as kubelets before 1.30 do.
    """
    entries = (
        None
        if checkpoint.entries is None
        else [render_entry(entry, legacy_escapes=legacy_escapes) for entry in checkpoint.entries]
    )
    registered = render_registered(checkpoint.registered, legacy_escapes=legacy_escapes)
    data = assemble_data(entries, registered)
    if checkpoint.format is CheckpointFormat.BARE:
        return data
    return assemble_file(data, checksum(dump(checkpoint)))


def assemble_data(entries: Iterable[bytes] | None, registered: bytes) -> bytes:
    """Put rendered entries (None for null) and the rendered registered devices together."""
    body = _NULL.encode() if entries is None else b"[" + b",".join(entries) + b"]"
    return b'{"PodDeviceEntries":%b,"RegisteredDevices":%b}' % (body, registered)


def assemble_file(data: bytes, found: int) -> bytes:
    """Wrap the data and its checksum."""
    return b'{"Data":%b,"Checksum":%d}' % (data, found)


def render_entry(entry: CheckpointEntry, *, legacy_escapes: bool) -> bytes:
    """Return one entry as JSON."""
    response = (
        _NULL
        if entry.response is None
        else f'"{b2a_base64(entry.response, newline=False).decode("ascii")}"'
    )
    return (
        f'{{"PodUID":{quoted(entry.pod, legacy_escapes=legacy_escapes)},'
        f'"ContainerName":{quoted(entry.container, legacy_escapes=legacy_escapes)},'
        f'"ResourceName":{quoted(entry.resource, legacy_escapes=legacy_escapes)},'
        f'"DeviceIDs":{_devices(entry.devices, legacy_escapes=legacy_escapes)},'
        f'"AllocResp":{response}}}'
    ).encode()


def render_registered(
    registered: Mapping[ResourceName, DeviceIdList] | None, *, legacy_escapes: bool
) -> bytes:
    """Return the registered devices as JSON, keys sorted by bytes."""
    if registered is None:
        return _NULL.encode()
    members = [
        f"{quoted(name, legacy_escapes=legacy_escapes)}:"
        f"{_ids(registered[name], legacy_escapes=legacy_escapes)}"
        for name in sorted(registered, key=raw)
    ]
    return f"{{{','.join(members)}}}".encode()


def _devices(devices: EntryDevices, *, legacy_escapes: bool) -> str:
    if devices is None or isinstance(devices, tuple):
        return _ids(devices, legacy_escapes=legacy_escapes)
    groups = sorted((str(node), ids) for node, ids in devices.items())
    members = [f'"{node}":{_ids(ids, legacy_escapes=legacy_escapes)}' for node, ids in groups]
    return f"{{{','.join(members)}}}"


def _ids(ids: DeviceIdList, *, legacy_escapes: bool) -> str:
    if ids is None:
        return _NULL
    return f"[{','.join([quoted(text, legacy_escapes=legacy_escapes) for text in ids])}]"
