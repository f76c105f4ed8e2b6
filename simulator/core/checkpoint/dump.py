"""The text dump of a checkpoint and its FNV-1a checksum (S4.6).

The kubelet hashes what spew prints of the structure, not the file's bytes; null and empty differ in
it, and V1's type of `DeviceIDs` does too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import itemgetter
from typing import Final

from fnv_hash_fast import fnv1a_32

from simulator.core.behavior import CheckpointFormat
from simulator.core.checkpoint.go_strings import raw
from simulator.core.checkpoint.values import Checkpoint, CheckpointEntry, DeviceIdList, EntryDevices
from simulator.core.resources import ResourceName

_NIL: Final = "<nil>"
_DECIMAL: Final = tuple(str(value) for value in range(256))
_HEAD: Final = b"(checkpoint.checkpointData){PodDeviceEntries:([]checkpoint.PodDevicesEntry)"
_MIDDLE: Final = b" RegisteredDevices:(map[string][]string)"
_TAIL: Final = b"}"
_DEVICES_TYPE: Final = {
    CheckpointFormat.V2: "checkpoint.DevicesPerNUMA",
    CheckpointFormat.V1: "[]string",
    CheckpointFormat.BARE: "[]string",
}


def dump(checkpoint: Checkpoint) -> bytes:
    """Return the text that is hashed."""
    entries = (
        None
        if checkpoint.entries is None
        else [dump_entry(entry, checkpoint.format) for entry in checkpoint.entries]
    )
    return assemble_dump(entries, dump_registered(checkpoint.registered))


def checksum(text: bytes) -> int:
    """Return the FNV-1a 32-bit hash of a dumped text."""
    return fnv1a_32(text)


def assemble_dump(entries: Iterable[bytes] | None, registered: bytes) -> bytes:
    """Put dumped entries (None for null) and the dumped registered devices together."""
    body = _NIL.encode() if entries is None else b"[" + b" ".join(entries) + b"]"
    return b"".join((_HEAD, body, _MIDDLE, registered, _TAIL))


def dump_entry(entry: CheckpointEntry, form: CheckpointFormat) -> bytes:
    """Return one entry's part of the text."""
    response = _NIL if entry.response is None else f"[{_decimals(entry.response)}]"
    devices = f"({_DEVICES_TYPE[form]}){_devices(entry.devices)}"
    return raw(
        f"{{PodUID:(string){entry.pod} ContainerName:(string){entry.container} "
        f"ResourceName:(string){entry.resource} "
        f"DeviceIDs:{devices} AllocResp:([]uint8){response}}}"
    )


def dump_registered(registered: Mapping[ResourceName, DeviceIdList] | None) -> bytes:
    """Return the registered devices' part of the text, keys sorted by bytes."""
    if registered is None:
        return _NIL.encode()
    named = sorted((raw(name), _ids(ids)) for name, ids in registered.items())
    return b"map[" + b" ".join([name + b":" + raw(ids) for name, ids in named]) + b"]"


def _decimals(content: bytes) -> str:
    if len(content) > 1:
        # Picking all texts in one call is the quickest way; this is most of a dump's cost.
        return " ".join(itemgetter(*content)(_DECIMAL))
    return "".join([_DECIMAL[byte] for byte in content])


def _devices(devices: EntryDevices) -> str:
    if devices is None or isinstance(devices, tuple):
        return _ids(devices)
    return f"map[{' '.join([f'{node}:{_ids(devices[node])}' for node in sorted(devices)])}]"


def _ids(ids: DeviceIdList) -> str:
    return _NIL if ids is None else f"[{' '.join(ids)}]"
