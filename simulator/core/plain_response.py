"""A quick look at responses that are as kubelets write them, which need no decoding.

A file of thousands of entries is read at every kubelet start, and nearly all responses are of this
form. Whatever looks otherwise is left to `allocate_response`.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Final

from simulator.core.protobuf_wire import BYTES, VARINT
from simulator.core.response_messages import (
    ANNOTATIONS,
    CDI_DEVICE,
    CDI_DEVICES,
    DEVICE,
    DEVICES,
    ENTRY,
    ENVS,
    KEY,
    MOUNT,
    MOUNTS,
    READ_ONLY_OR_PERMISSIONS,
    VALUE,
)

_READ_ONLY_TAG: Final = READ_ONLY_OR_PERMISSIONS << 3 | VARINT
_TRUE: Final = 1
_KEY_TAG, _VALUE_TAG = KEY << 3 | BYTES, VALUE << 3 | BYTES
_MAP_TAGS: Final = (ENVS << 3 | BYTES, ANNOTATIONS << 3 | BYTES)
_INNER_TAGS: Final = {
    number << 3 | BYTES: frozenset(inner << 3 | wire for inner, wire in message.items())
    for number, message in (
        (ENVS, ENTRY),
        (MOUNTS, MOUNT),
        (DEVICES, DEVICE),
        (ANNOTATIONS, ENTRY),
        (CDI_DEVICES, CDI_DEVICE),
    )
}


def is_plain(data: bytes) -> bool:
    """Tell whether a message is as kubelets write it, ASCII, and short in every part.

    Fields are then known and in order, map entries complete and each with a key of its own, and no
    other text is empty; there is no need to decode it.
    """
    if not data.isascii():
        return False
    at, size, last = 0, len(data), 0
    keys: set[tuple[int, bytes]] = set()
    try:
        while at < size:
            tag, stop = data[at], at + 2 + data[at + 1]
            at += 2
            if tag in _MAP_TAGS:
                value = at + 2 + data[at + 1]
                key = (tag, data[at + 2 : value])
                if data[at] != _KEY_TAG or data[value] != _VALUE_TAG or key in keys:
                    return False
                keys.add(key)
                at = value + 2 + data[value + 1]
            else:
                at = _end_of_plain(data, at, stop, _INNER_TAGS[tag])
            if tag < last or at != stop:
                return False
            last = tag
    except (IndexError, KeyError):
        return False
    return at == size


def _end_of_plain(data: bytes, at: int, stop: int, tags: AbstractSet[int]) -> int:
    """Return where the fields of a plain message end; -1 when it is not plain."""
    last = 0
    while at < stop:
        tag, length = data[at], data[at + 1]
        if tag not in tags or tag <= last or not length:
            return -1
        if tag != _READ_ONLY_TAG:
            at += length
        elif length != _TRUE:
            return -1
        last = tag
        at += 2
    return at
