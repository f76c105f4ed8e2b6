"""A device plugin's answer for one container: its bytes to values and back.

The bytes are what the kubelet keeps in its checkpoint (S4.2) and what a container is started with
(S10). The versions differ in what they can decode, which is a switch
(`Behavior.lenient_allocate_responses`).

Kubelet: ContainerAllocateResponse of the device plugin API v1beta1 (S1.4).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import repeat
from typing import Final

from simulator.core.plain_response import is_plain
from simulator.core.protobuf_wire import (
    BYTES,
    VARINT,
    fields,
    malformed,
    unchecked_entry,
    write_bytes,
)
from simulator.core.response_messages import (
    ANNOTATIONS,
    CDI_DEVICE,
    CDI_DEVICES,
    CONTAINER_PATH,
    DEVICE,
    DEVICES,
    ENTRY,
    ENVS,
    HOST_PATH,
    KEY,
    MOUNT,
    MOUNTS,
    NAME,
    READ_ONLY_OR_PERMISSIONS,
    RESPONSE,
    RESPONSE_WITHOUT_CDI,
    VALUE,
)
from simulator.errors import MalformedReplyError

_READ_ONLY_TAG: Final = READ_ONLY_OR_PERMISSIONS << 3 | VARINT
_OUTER: Final = {1: BYTES}


@dataclass(frozen=True, slots=True)
class Mount:
    """A host directory or file that appears in the container.

    Attributes:
        unknown: Fields that the reader does not know, as they are.
    """

    container_path: str = ""
    host_path: str = ""
    read_only: bool = False
    unknown: bytes = b""


@dataclass(frozen=True, slots=True)
class DeviceSpec:
    """A device node that appears in the container.

    Attributes:
        permissions: Any of `r`, `w`, `m`.
        unknown: Fields that the reader does not know, as they are.
    """

    container_path: str = ""
    host_path: str = ""
    permissions: str = ""
    unknown: bytes = b""


@dataclass(frozen=True, slots=True)
class AllocateResponse:
    """What a container gets for the devices of one resource (ContainerAllocateResponse).

    Attributes:
        cdi_devices: Fully qualified CDI names (1.28+).
        unknown: Fields that the reader does not know, as they are.
        cdi_unknown: The same inside each CDI device; empty when none has any.
    """

    envs: Mapping[str, str] = field(default_factory=dict)
    mounts: tuple[Mount, ...] = ()
    devices: tuple[DeviceSpec, ...] = ()
    annotations: Mapping[str, str] = field(default_factory=dict)
    cdi_devices: tuple[str, ...] = ()
    unknown: bytes = b""
    cdi_unknown: tuple[bytes, ...] = ()


def decode(data: bytes, *, lenient: bool = True, cdi_devices: bool = True) -> AllocateResponse:
    """Decode a ContainerAllocateResponse.

    Args:
        data: The serialized message; empty for an empty answer.
        lenient: `Behavior.lenient_allocate_responses`. Without it, text that is not UTF-8 is kept
            as surrogate escapes and unknown fields are dropped; with it, such text is an error and
            they are kept.
        cdi_devices: Whether the version knows the field (1.20.2/DIFFERENCES 23).

    Raises:
        MalformedReplyError: The kubelet of that version cannot decode it either.
    """
    envs: dict[str, str] = {}
    annotations: dict[str, str] = {}
    mounts: list[Mount] = []
    devices: list[DeviceSpec] = []
    names: list[str] = []
    inner_unknown: list[bytes] = []
    unknown: list[bytes] = []
    known = RESPONSE if cdi_devices else RESPONSE_WITHOUT_CDI
    for number, start, stop in fields(data, 0, len(data), known, lenient=lenient, unknown=unknown):
        if number == ENVS:
            _read_entry(data, start, stop, envs, lenient=lenient)
        elif number == ANNOTATIONS:
            _read_entry(data, start, stop, annotations, lenient=lenient)
        elif number == MOUNTS:
            mounts.append(_read_mount(data, start, stop, lenient=lenient))
        elif number == DEVICES:
            devices.append(_read_device(data, start, stop, lenient=lenient))
        else:
            name, beside = _read_name(data, start, stop, lenient=lenient)
            names.append(name)
            inner_unknown.append(beside)
    return AllocateResponse(
        envs,
        tuple(mounts),
        tuple(devices),
        annotations,
        tuple(names),
        unknown=b"".join(unknown),
        cdi_unknown=tuple(inner_unknown) if any(inner_unknown) else (),
    )


def is_decodable(data: bytes, *, lenient: bool = True) -> bool:
    """Tell whether a kubelet can decode these bytes; quick for what plugins really send."""
    if is_plain(data):
        return True
    try:
        decode(data, lenient=lenient)
    except MalformedReplyError:
        return False
    return True


def rewritten(data: bytes, *, lenient: bool, cdi_devices: bool) -> bytes:
    """Return the bytes that a kubelet writes for a response that it read from its checkpoint.

    Known fields are written by number, map entries with key and value, other texts only when they
    are not empty, unknown fields last (1.32.10/DIFFERENCES, "AllocResp bytes"; 1.20.2/DIFFERENCES
    23). The order of map entries, random in the kubelet, stays.

    Raises:
        MalformedReplyError: The kubelet cannot decode the response.
    """
    if is_plain(data) and (cdi_devices or CDI_DEVICES << 3 | BYTES not in data):
        return data
    return _encoded(decode(data, lenient=lenient, cdi_devices=cdi_devices))


def encode(response: AllocateResponse) -> bytes:
    """Serialize, fields by number and map entries by key, empty fields left out."""
    return _encoded(
        replace(response, envs=_sorted(response.envs), annotations=_sorted(response.annotations))
    )


def container_responses(data: bytes) -> tuple[bytes, ...]:
    """Split a serialized AllocateResponse into the messages of its containers.

    Raises:
        MalformedReplyError: The bytes are not such a message.
    """
    walk = fields(data, 0, len(data), _OUTER, lenient=True)
    return tuple([data[start:stop] for _, start, stop in walk])


def _string(data: bytes, start: int, stop: int, *, lenient: bool) -> str:
    try:
        return data[start:stop].decode("utf-8", "strict" if lenient else "surrogateescape")
    except UnicodeDecodeError:
        malformed("string field contains invalid UTF-8")


def _read_entry(data: bytes, start: int, stop: int, into: dict[str, str], *, lenient: bool) -> None:
    key = value = ""
    walk = (
        fields(data, start, stop, ENTRY, lenient=True)
        if lenient
        else unchecked_entry(data, start, stop)
    )
    for number, at, end in walk:
        if number == KEY:
            key = _string(data, at, end, lenient=lenient)
        else:
            value = _string(data, at, end, lenient=lenient)
    into[key] = value


def _read_mount(data: bytes, start: int, stop: int, *, lenient: bool) -> Mount:
    container_path = host_path = ""
    read_only = False
    unknown: list[bytes] = []
    for number, at, end in fields(data, start, stop, MOUNT, lenient=lenient, unknown=unknown):
        if number == CONTAINER_PATH:
            container_path = _string(data, at, end, lenient=lenient)
        elif number == HOST_PATH:
            host_path = _string(data, at, end, lenient=lenient)
        else:
            read_only = at != 0
    return Mount(container_path, host_path, read_only, b"".join(unknown))


def _read_device(data: bytes, start: int, stop: int, *, lenient: bool) -> DeviceSpec:
    texts = {CONTAINER_PATH: "", HOST_PATH: "", READ_ONLY_OR_PERMISSIONS: ""}
    unknown: list[bytes] = []
    for number, at, end in fields(data, start, stop, DEVICE, lenient=lenient, unknown=unknown):
        texts[number] = _string(data, at, end, lenient=lenient)
    return DeviceSpec(
        texts[CONTAINER_PATH],
        texts[HOST_PATH],
        texts[READ_ONLY_OR_PERMISSIONS],
        b"".join(unknown),
    )


def _read_name(data: bytes, start: int, stop: int, *, lenient: bool) -> tuple[str, bytes]:
    name = ""
    unknown: list[bytes] = []
    for _, at, end in fields(data, start, stop, CDI_DEVICE, lenient=lenient, unknown=unknown):
        name = _string(data, at, end, lenient=lenient)
    return name, b"".join(unknown)


def _sorted(entries: Mapping[str, str]) -> Mapping[str, str]:
    return {key: entries[key] for key in sorted(entries, key=_raw)}


def _encoded(response: AllocateResponse) -> bytes:
    parts = [
        *_entries(ENVS, response.envs),
        *[write_bytes(MOUNTS, _mount(mount)) for mount in response.mounts],
        *[write_bytes(DEVICES, _device(device)) for device in response.devices],
        *_entries(ANNOTATIONS, response.annotations),
        *[
            write_bytes(CDI_DEVICES, _text(NAME, name) + unknown)
            for name, unknown in zip(
                response.cdi_devices, response.cdi_unknown or repeat(b""), strict=False
            )
        ],
        response.unknown,
    ]
    return b"".join(parts)


def _entries(number: int, entries: Mapping[str, str]) -> list[bytes]:
    """Encode map entries; key and value are written even when empty."""
    return [
        write_bytes(number, write_bytes(KEY, _raw(key)) + write_bytes(VALUE, _raw(value)))
        for key, value in entries.items()
    ]


def _mount(mount: Mount) -> bytes:
    read_only = bytes((_READ_ONLY_TAG, 1)) if mount.read_only else b""
    return (
        _text(CONTAINER_PATH, mount.container_path)
        + _text(HOST_PATH, mount.host_path)
        + read_only
        + mount.unknown
    )


def _device(device: DeviceSpec) -> bytes:
    return (
        _text(CONTAINER_PATH, device.container_path)
        + _text(HOST_PATH, device.host_path)
        + _text(READ_ONLY_OR_PERMISSIONS, device.permissions)
        + device.unknown
    )


def _text(number: int, text: str) -> bytes:
    return write_bytes(number, _raw(text)) if text else b""


def _raw(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
