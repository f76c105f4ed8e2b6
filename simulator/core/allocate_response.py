"""A device plugin's answer for one container: its bytes to values and back.

The bytes are what the kubelet keeps in its checkpoint (S4.2) and what a container is started with
(S10). The versions differ in what they can decode, which is a switch
(`Behavior.lenient_allocate_responses`).

Kubelet: ContainerAllocateResponse of the device plugin API v1beta1 (S1.4).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from simulator.core.protobuf_wire import (
    BYTES,
    VARINT,
    fields,
    malformed,
    unchecked_entry,
    write_bytes,
)
from simulator.errors import MalformedReplyError

_ENVS, _MOUNTS, _DEVICES, _ANNOTATIONS, _CDI_DEVICES = range(1, 6)
_KEY, _VALUE = 1, 2
_CONTAINER_PATH, _HOST_PATH, _READ_ONLY_OR_PERMISSIONS = 1, 2, 3
_NAME: Final = 1
_RESPONSE: Final = dict.fromkeys((_ENVS, _MOUNTS, _DEVICES, _ANNOTATIONS, _CDI_DEVICES), BYTES)
_RESPONSE_WITHOUT_CDI: Final = dict.fromkeys((_ENVS, _MOUNTS, _DEVICES, _ANNOTATIONS), BYTES)
_MOUNT: Final = {_CONTAINER_PATH: BYTES, _HOST_PATH: BYTES, _READ_ONLY_OR_PERMISSIONS: VARINT}
_DEVICE: Final = {_CONTAINER_PATH: BYTES, _HOST_PATH: BYTES, _READ_ONLY_OR_PERMISSIONS: BYTES}
_CDI_DEVICE: Final = {_NAME: BYTES}
_ENTRY: Final = {_KEY: BYTES, _VALUE: BYTES}
_OUTER: Final = {1: BYTES}

_CDI_TAG: Final = _CDI_DEVICES << 3 | BYTES
_MOUNT_TAG: Final = _MOUNTS << 3 | BYTES
_READ_ONLY_TAG: Final = _READ_ONLY_OR_PERMISSIONS << 3 | VARINT
_PLAIN_TAGS: Final = {
    number << 3 | BYTES: frozenset(
        inner << 3 | BYTES for inner in message if message[inner] == BYTES
    )
    for number, message in (
        (_ENVS, _ENTRY),
        (_MOUNTS, _MOUNT),
        (_DEVICES, _DEVICE),
        (_ANNOTATIONS, _ENTRY),
        (_CDI_DEVICES, _CDI_DEVICE),
    )
}


@dataclass(frozen=True, slots=True)
class Mount:
    """A host directory or file that appears in the container."""

    container_path: str = ""
    host_path: str = ""
    read_only: bool = False


@dataclass(frozen=True, slots=True)
class DeviceSpec:
    """A device node that appears in the container.

    Attributes:
        permissions: Any of `r`, `w`, `m`.
    """

    container_path: str = ""
    host_path: str = ""
    permissions: str = ""


@dataclass(frozen=True, slots=True)
class AllocateResponse:
    """What a container gets for the devices of one resource (ContainerAllocateResponse).

    Attributes:
        cdi_devices: Fully qualified CDI names (1.28+).
    """

    envs: Mapping[str, str] = field(default_factory=dict)
    mounts: tuple[Mount, ...] = ()
    devices: tuple[DeviceSpec, ...] = ()
    annotations: Mapping[str, str] = field(default_factory=dict)
    cdi_devices: tuple[str, ...] = ()


def decode(data: bytes, *, lenient: bool = True, cdi_devices: bool = True) -> AllocateResponse:
    """Decode a ContainerAllocateResponse.

    Args:
        data: The serialized message; empty for an empty answer.
        lenient: `Behavior.lenient_allocate_responses`. Without it, text that is not UTF-8 is kept
            as surrogate escapes; with it, such text is an error.
        cdi_devices: Whether the version knows the field (1.20.2/DIFFERENCES 23).

    Raises:
        MalformedReplyError: The kubelet of that version cannot decode it either.
    """
    envs: dict[str, str] = {}
    annotations: dict[str, str] = {}
    mounts: list[Mount] = []
    devices: list[DeviceSpec] = []
    names: list[str] = []
    known = _RESPONSE if cdi_devices else _RESPONSE_WITHOUT_CDI
    size = len(data)
    for number, start, stop in fields(data, 0, size, known, lenient=lenient):
        if number == _ENVS:
            _read_entry(data, start, stop, envs, lenient=lenient)
        elif number == _ANNOTATIONS:
            _read_entry(data, start, stop, annotations, lenient=lenient)
        elif number == _MOUNTS:
            mounts.append(_read_mount(data, start, stop, lenient=lenient))
        elif number == _DEVICES:
            devices.append(_read_device(data, start, stop, lenient=lenient))
        else:
            names.append(_read_name(data, start, stop, lenient=lenient))
    return AllocateResponse(envs, tuple(mounts), tuple(devices), annotations, tuple(names))


def is_decodable(data: bytes, *, lenient: bool = True) -> bool:
    """Tell whether a kubelet can decode these bytes; quick for what plugins really send."""
    if _is_plain(data):
        return True
    try:
        decode(data, lenient=lenient)
    except MalformedReplyError:
        return False
    return True


def rewritten(data: bytes, *, lenient: bool, cdi_devices: bool) -> bytes:
    """Return the bytes that a kubelet writes for a response that it read from its checkpoint.

    The newer runtime keeps what it does not know; the older one drops it, CDI devices included
    where the version does not know them (1.20.2/DIFFERENCES 23).

    Raises:
        MalformedReplyError: The kubelet cannot decode the response.
    """
    if lenient or (_is_plain(data) and (cdi_devices or _CDI_TAG not in data)):
        return data
    return encode(decode(data, lenient=False, cdi_devices=cdi_devices))


def encode(response: AllocateResponse) -> bytes:
    """Serialize, fields by number and map entries by key, empty fields left out."""
    parts = [
        *_entries(_ENVS, response.envs),
        *[write_bytes(_MOUNTS, _mount(mount)) for mount in response.mounts],
        *[write_bytes(_DEVICES, _device(device)) for device in response.devices],
        *_entries(_ANNOTATIONS, response.annotations),
        *[write_bytes(_CDI_DEVICES, _text(_NAME, name)) for name in response.cdi_devices],
    ]
    return b"".join(parts)


def container_responses(data: bytes) -> tuple[bytes, ...]:
    """Split a serialized AllocateResponse into the messages of its containers.

    Raises:
        MalformedReplyError: The bytes are not such a message.
    """
    walk = fields(data, 0, len(data), _OUTER, lenient=True)
    return tuple([data[start:stop] for _, start, stop in walk])


def _is_plain(data: bytes) -> bool:
    """Tell whether the message is ASCII, short in every part, and all of known fields."""
    if not data.isascii():
        return False
    at, size = 0, len(data)
    try:
        while at < size:
            tag = data[at]
            inner_tags = _PLAIN_TAGS[tag]
            at += 2
            stop = at + data[at - 1]
            while at < stop:
                inner = data[at]
                if inner in inner_tags:
                    at += 2 + data[at + 1]
                elif inner == _READ_ONLY_TAG and tag == _MOUNT_TAG:
                    at += 2
                else:
                    return False
            if at != stop:
                return False
    except (IndexError, KeyError):
        return False
    return at == size


def _string(data: bytes, start: int, stop: int, *, lenient: bool) -> str:
    try:
        return data[start:stop].decode("utf-8", "strict" if lenient else "surrogateescape")
    except UnicodeDecodeError:
        malformed("string field contains invalid UTF-8")


def _read_entry(data: bytes, start: int, stop: int, into: dict[str, str], *, lenient: bool) -> None:
    key = value = ""
    walk = (
        fields(data, start, stop, _ENTRY, lenient=True)
        if lenient
        else unchecked_entry(data, start, stop)
    )
    for number, at, end in walk:
        if number == _KEY:
            key = _string(data, at, end, lenient=lenient)
        else:
            value = _string(data, at, end, lenient=lenient)
    into[key] = value


def _read_mount(data: bytes, start: int, stop: int, *, lenient: bool) -> Mount:
    container_path = host_path = ""
    read_only = False
    for number, at, end in fields(data, start, stop, _MOUNT, lenient=lenient):
        if number == _CONTAINER_PATH:
            container_path = _string(data, at, end, lenient=lenient)
        elif number == _HOST_PATH:
            host_path = _string(data, at, end, lenient=lenient)
        else:
            read_only = at != 0
    return Mount(container_path, host_path, read_only)


def _read_device(data: bytes, start: int, stop: int, *, lenient: bool) -> DeviceSpec:
    texts = {_CONTAINER_PATH: "", _HOST_PATH: "", _READ_ONLY_OR_PERMISSIONS: ""}
    for number, at, end in fields(data, start, stop, _DEVICE, lenient=lenient):
        texts[number] = _string(data, at, end, lenient=lenient)
    return DeviceSpec(*texts.values())


def _read_name(data: bytes, start: int, stop: int, *, lenient: bool) -> str:
    name = ""
    for _, at, end in fields(data, start, stop, _CDI_DEVICE, lenient=lenient):
        name = _string(data, at, end, lenient=lenient)
    return name


def _entries(number: int, entries: Mapping[str, str]) -> list[bytes]:
    """Encode map entries; key and value are written even when empty."""
    pairs = sorted((_raw(key), _raw(value)) for key, value in entries.items())
    return [
        write_bytes(number, write_bytes(_KEY, key) + write_bytes(_VALUE, value))
        for key, value in pairs
    ]


def _mount(mount: Mount) -> bytes:
    read_only = bytes((_READ_ONLY_TAG, 1)) if mount.read_only else b""
    return (
        _text(_CONTAINER_PATH, mount.container_path)
        + _text(_HOST_PATH, mount.host_path)
        + read_only
    )


def _device(device: DeviceSpec) -> bytes:
    return (
        _text(_CONTAINER_PATH, device.container_path)
        + _text(_HOST_PATH, device.host_path)
        + _text(_READ_ONLY_OR_PERMISSIONS, device.permissions)
    )


def _text(number: int, text: str) -> bytes:
    return write_bytes(number, _raw(text)) if text else b""


def _raw(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
