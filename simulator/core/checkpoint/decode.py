"""From JSON values to a `Checkpoint`, with the rules of Go's `encoding/json` (S4.8, S4.16).

A field's name matches in any case, an unknown one is skipped; null empties a list or map and leaves
everything else as it is; a repeated field is decoded over the first: maps are merged, list elements
keep what the second does not name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final, NoReturn

from simulator.core.behavior import CheckpointFormat
from simulator.core.checkpoint.go_strings import from_base64
from simulator.core.checkpoint.json_values import JsonNumber, JsonObject, JsonValue, too_deep
from simulator.core.checkpoint.plain_entry import plain_entry
from simulator.core.checkpoint.values import Checkpoint, CheckpointEntry, DeviceIdList, EntryDevices
from simulator.core.devices import DeviceId, NumaNode
from simulator.core.pods import ContainerName, PodUid
from simulator.core.resources import ResourceName
from simulator.errors import CheckpointSyntaxError, CheckpointTypeError

_UINT64_LIMIT: Final = 1 << 64
_UINT8_LIMIT: Final = 1 << 8
_INT64_LIMIT: Final = 1 << 63
_DIGITS_MAX: Final = 20
_INTEGER: Final = re.compile(r"([+-]?)0*([0-9]+)", re.ASCII)
_NOT_BASE64: Final = re.compile(r"[^A-Za-z0-9+/\r\n]")
_FOLDED_LETTERS: Final = {0x17F: "s", 0x212A: "k"}
"""The letters outside ASCII that Unicode folds to ASCII ones: long s and the Kelvin sign."""
_EMPTY_ENTRY: Final = CheckpointEntry(PodUid(""), ContainerName(""), ResourceName(""), None, None)
_ENTRIES_PATH: Final = "Data.PodDeviceEntries"
_REGISTERED_PATH: Final = "checkpointData.Data.RegisteredDevices"


def _fields(*names: str) -> dict[str, str]:
    """Return a struct's field names by themselves and by their lower case form."""
    return {name: name for name in names} | {name.lower(): name for name in names}


_FILE_FIELDS: Final = _fields("Data", "Checksum")
_DATA_FIELDS: Final = _fields("PodDeviceEntries", "RegisteredDevices")
_ENTRY_FIELDS: Final = _fields("PodUID", "ContainerName", "ResourceName", "DeviceIDs", "AllocResp")


def decode(value: JsonValue, form: CheckpointFormat) -> tuple[Checkpoint, int]:
    """Decode the value of a whole file.

    Returns:
        The content, and the checksum that the file states (0 when it states none).

    Raises:
        CheckpointTypeError: A value has a type that the format does not have there.
        CheckpointSyntaxError: A value nests deeper than Go reads.
    """
    try:
        return _decoded(value, _Data(form))
    except CheckpointTypeError:
        # Go sees that a text nests too deep before it looks at any type.
        _check_depth(value, inside=0)
        raise


def _decoded(value: JsonValue, data: _Data) -> tuple[Checkpoint, int]:
    if data.form is CheckpointFormat.BARE:
        data.read(value, into="value of type checkpointData", depth=1)
        return data.checkpoint(), 0
    found = 0
    for name, member in _members(
        value, _FILE_FIELDS, into="value of type checkpoint.Data", depth=1
    ):
        if name == "Data":
            data.read(
                member, into="struct field Data.Data of type checkpoint.checkpointData", depth=2
            )
        else:
            found = _checksum(member, found)
    return data.checkpoint(), found


class _Data:
    """The checkpointData under construction; it starts empty, not null, as the kubelet's does."""

    def __init__(self, form: CheckpointFormat) -> None:
        self.form = form
        self.is_v2 = form is CheckpointFormat.V2
        self.entries: list[CheckpointEntry] | None = []
        self.memory: list[CheckpointEntry] = []
        self.registered: dict[ResourceName, DeviceIdList] | None = {}

    def checkpoint(self) -> Checkpoint:
        entries = None if self.entries is None else tuple(self.entries)
        return Checkpoint(self.form, entries, self.registered)

    def read(self, value: JsonValue, *, into: str, depth: int) -> None:
        for name, member in _members(value, _DATA_FIELDS, into=into, depth=depth):
            if name == "PodDeviceEntries":
                self._read_entries(member, depth=depth + 1)
            else:
                self._read_registered(member)

    def _read_entries(self, value: JsonValue, *, depth: int) -> None:
        if value is None:
            self.entries, self.memory = None, []
            return
        if not isinstance(value, list):
            kind = "[]checkpoint.PodDevicesEntry"
            _wrong(value, f"struct field checkpointData.{_ENTRIES_PATH} of type {kind}")
        remembered = iter(self.memory)
        self.entries = [
            self._entry(member, next(remembered, _EMPTY_ENTRY), depth=depth + 1) for member in value
        ]
        self.memory = [*self.entries, *remembered] if self.entries else []

    def _entry(self, value: JsonValue, base: CheckpointEntry, *, depth: int) -> CheckpointEntry:
        if self.is_v2 and base is _EMPTY_ENTRY:
            plain = plain_entry(value)
            if plain is not None:
                return plain
        pod, container, resource = base.pod, base.container, base.resource
        devices, response = base.devices, base.response
        into = f"struct field checkpointData.{_ENTRIES_PATH} of type checkpoint.PodDevicesEntry"
        for name, member in _members(value, _ENTRY_FIELDS, into=into, depth=depth):
            if name == "PodUID":
                pod = PodUid(_text(member, pod, name))
            elif name == "ContainerName":
                container = ContainerName(_text(member, container, name))
            elif name == "ResourceName":
                resource = ResourceName(_text(member, resource, name))
            elif name == "AllocResp":
                response = _bytes(member, response or b"")
            elif self.is_v2:
                devices = _groups(member, devices)
            else:
                devices = _ids(member, _entry_field("DeviceIDs"), devices)
        return CheckpointEntry(pod, container, resource, devices, response)

    def _read_registered(self, value: JsonValue) -> None:
        if value is None:
            self.registered = None
            return
        if not isinstance(value, tuple):
            _wrong(value, f"struct field {_REGISTERED_PATH} of type map[string][]string")
        registered = dict(self.registered or {})
        for name, member in value:
            registered[ResourceName(name)] = _ids(member, _REGISTERED_PATH)
        self.registered = registered


def _members(
    value: JsonValue, fields: Mapping[str, str], *, into: str, depth: int
) -> Iterator[tuple[str, JsonValue]]:
    """Yield the members that a Go struct knows, under its own names; null is an empty object."""
    if value is None:
        return
    if not isinstance(value, tuple):
        _wrong(value, into)
    for name, member in value:
        field = fields.get(name) or fields.get(name.translate(_FOLDED_LETTERS).lower())
        if field is None:
            _check_depth(member, inside=depth)
        else:
            yield field, member


def _entry_field(name: str) -> str:
    return f"PodDevicesEntry.{_ENTRIES_PATH}.{name}"


def _text(value: JsonValue, base: str, name: str) -> str:
    if value is None:
        return base
    if not isinstance(value, str):
        _wrong(value, f"struct field {_entry_field(name)} of type string")
    return value


def _groups(value: JsonValue, base: EntryDevices) -> EntryDevices:
    path = _entry_field("DeviceIDs")
    if value is None:
        return None
    if not isinstance(value, tuple):
        _wrong(value, f"struct field {path} of type checkpoint.DevicesPerNUMA")
    groups = {} if base is None or isinstance(base, tuple) else dict(base)
    for name, member in value:
        node = _integer(name)
        if node is None or not -_INT64_LIMIT <= node < _INT64_LIMIT:
            _wrong(JsonNumber(name), f"struct field {path} of type int64", exactly=True)
        groups[NumaNode(node)] = _ids(member, path)
    return groups


def _ids(value: JsonValue, path: str, base: EntryDevices = None) -> DeviceIdList:
    if value is None:
        return None
    if not isinstance(value, list):
        _wrong(value, f"struct field {path} of type []string")
    remembered = base if isinstance(base, tuple) else ()
    ids: list[DeviceId] = []
    for index, member in enumerate(value):
        if isinstance(member, str):
            ids.append(DeviceId(member))
        elif member is None:
            ids.append(remembered[index] if index < len(remembered) else DeviceId(""))
        else:
            _wrong(member, f"struct field {path} of type string")
    return tuple(ids)


def _bytes(value: JsonValue, base: bytes) -> bytes | None:
    into = f"struct field {_entry_field('AllocResp')} of type "
    if value is None:
        return None
    if isinstance(value, list):
        return bytes(_byte(member, base[index : index + 1]) for index, member in enumerate(value))
    if not isinstance(value, str):
        _wrong(value, f"{into}[]uint8")
    try:
        return from_base64(value)
    except ValueError:
        wrong = _NOT_BASE64.search(value)
        at = len(value) if wrong is None else wrong.start()
        reason = f"illegal base64 data at input byte {at}"
        raise CheckpointTypeError(reason) from None


def _byte(value: JsonValue, base: bytes) -> int:
    if value is None:
        return base[0] if base else 0
    return _unsigned(value, _UINT8_LIMIT, f"struct field {_entry_field('AllocResp')} of type uint8")


def _checksum(value: JsonValue, base: int) -> int:
    if value is None:
        return base
    return _unsigned(value, _UINT64_LIMIT, "struct field Data.Checksum of type checksum.Checksum")


def _unsigned(value: JsonValue, limit: int, into: str) -> int:
    if not isinstance(value, JsonNumber):
        _wrong(value, into)
    number = _integer(value.text)
    if number is None or value.text.startswith("-") or number >= limit:
        _wrong(value, into, exactly=True)
    return number


def _integer(text: str) -> int | None:
    """Read what Go's `ParseInt` reads in base 10; None for anything else or too many digits."""
    match = _INTEGER.fullmatch(text)
    if match is None or len(match[2]) > _DIGITS_MAX:
        return None
    return int(f"{match[1]}{match[2]}")


def _check_depth(value: JsonValue, *, inside: int) -> None:
    if too_deep(value, inside=inside):
        message = "invalid character '[' exceeded max depth"
        raise CheckpointSyntaxError(message)


def _wrong(value: JsonValue, into: str, *, exactly: bool = False) -> NoReturn:
    """Raise Go's UnmarshalTypeError; a number is shown when a number was wanted."""
    reason = f"json: cannot unmarshal {_kind(value, exactly=exactly)} into Go {into}"
    raise CheckpointTypeError(reason)


def _kind(value: JsonValue | JsonObject, *, exactly: bool) -> str:
    if isinstance(value, JsonNumber):
        return f"number {value.text}" if exactly else "number"
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"
