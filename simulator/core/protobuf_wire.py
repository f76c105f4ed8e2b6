"""The protobuf wire format as the kubelet's two Go runtimes read it.

Kubelets of 1.32 and before decode device plugin messages with gogo's generated code, 1.36 with
google.golang.org/protobuf. They forgive different things (1.32.10/DIFFERENCES, "AllocResp bytes"):
`lenient` everywhere means the newer one, for which a known field of the wrong wire type is an
unknown field; the older one refuses it, but looks neither at UTF-8 nor at the types inside a map.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NoReturn

from simulator.errors import MalformedReplyError

VARINT: Final = 0
BYTES: Final = 2

_FIXED64: Final = 1
_GROUP_START: Final = 3
_GROUP_END: Final = 4
_FIXED32: Final = 5
_FIXED_SIZE: Final = {_FIXED64: 8, _FIXED32: 4}
_VARINT_LENGTH_MAX: Final = 10
_CONTINUED: Final = 0x80
_UINT64_MAX: Final = (1 << 64) - 1
_INT32_MAX: Final = (1 << 31) - 1
_FIELD_NUMBER_MAX: Final = (1 << 29) - 1
_GROUPS_MAX: Final = 10_001


def malformed(reason: str) -> NoReturn:
    """Raise the error of a message that cannot be decoded."""
    raise MalformedReplyError(reason)


def fields(  # noqa: PLR0913 - one message's place, and how it is read
    data: bytes,
    at: int,
    end: int,
    known: Mapping[int, int],
    *,
    lenient: bool,
    unknown: list[bytes] | None = None,
) -> Iterator[tuple[int, int, int]]:
    """Walk over one message and yield its known fields.

    Args:
        data: The bytes around the message.
        at: Where it begins.
        end: Where it ends.
        known: Wire type by field number; other fields are skipped.
        lenient: Which runtime reads.
        unknown: Takes the other fields, with short tags; the older runtime keeps none.

    Yields:
        The field number, and the place of the bytes (start, stop) or the number (twice).

    Raises:
        MalformedReplyError: The bytes are not such a message.
    """
    while at < end:
        begin = at
        tag, at = varint(data, at, end, lenient=lenient)
        number, wire = field_number(tag, lenient=lenient), tag & 7
        if wire == _GROUP_END:
            malformed("a group ends that did not begin")
        if known.get(number) != wire:
            if not lenient and number in known:
                malformed(f"wrong wire type {wire} for field {number}")
            value_at, at = at, skip(data, begin, end, lenient=lenient)
            if lenient and unknown is not None:
                unknown.append(write_varint(tag) + data[value_at:at])
        elif wire == BYTES:
            at, stop = span(data, at, end, lenient=lenient)
            yield number, at, stop
            at = stop
        else:
            value, at = varint(data, at, end, lenient=lenient)
            yield number, value, value


def unchecked_entry(data: bytes, at: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Walk over a map entry as the older runtime does.

    It takes fields 1 and 2 for texts whatever their wire type says, and lets a text run past the
    entry's end as long as the whole message has it.

    Yields:
        The field number and the place of the text (start, stop).

    Raises:
        MalformedReplyError: The bytes are not such an entry.
    """
    size = len(data)
    while at < end:
        begin = at
        tag, at = varint(data, at, size, lenient=False)
        number = tag >> 3 & 0xFFFFFFFF
        if number in (1, 2):
            at, stop = span(data, at, size, lenient=False)
            yield number, at, stop
            at = stop
        else:
            at = skip(data, begin, size, lenient=False)
            if at > end:
                malformed("unexpected EOF")


def span(data: bytes, at: int, end: int, *, lenient: bool) -> tuple[int, int]:
    """Read a length; return where its bytes begin and end."""
    length, at = varint(data, at, end, lenient=lenient)
    if length > end - at:
        malformed("unexpected EOF")
    return at, at + length


def varint(data: bytes, at: int, end: int, *, lenient: bool) -> tuple[int, int]:
    """Read a number; return it and where it ends. The older runtime drops bits above 64."""
    value = 0
    for index in range(_VARINT_LENGTH_MAX):
        if at >= end:
            malformed("unexpected EOF")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << (7 * index)
        if byte < _CONTINUED:
            if lenient and value > _UINT64_MAX:
                break
            return value & _UINT64_MAX, at
    malformed("integer overflow")


def field_number(tag: int, *, lenient: bool) -> int:
    """Return a tag's field number; the older runtime keeps 32 bits of it."""
    number = tag >> 3
    if lenient:
        if not 0 < number <= _FIELD_NUMBER_MAX:
            malformed(f"illegal field number {number}")
        return number
    number &= 0xFFFFFFFF
    if not 0 < number <= _INT32_MAX:
        malformed("illegal tag")
    return number


def skip(data: bytes, at: int, end: int, *, lenient: bool) -> int:
    """Return where the field ends whose tag begins at `at`, groups included."""
    open_groups: list[int] = []
    while True:
        tag, at = varint(data, at, end, lenient=lenient)
        number, wire = tag >> 3, tag & 7
        if lenient and not 0 < number <= _INT32_MAX:
            malformed(f"illegal field number {number}")
        if wire == _GROUP_START:
            open_groups.append(number)
            if lenient and len(open_groups) > _GROUPS_MAX:
                malformed("groups nest too deep")
        elif wire == _GROUP_END:
            if not open_groups or (open_groups.pop() != number and lenient):
                malformed("a group ends that did not begin")
        else:
            at = _skip_value(data, at, end, wire, lenient=lenient)
        if not open_groups:
            return at


def _skip_value(data: bytes, at: int, end: int, wire: int, *, lenient: bool) -> int:
    if wire == VARINT:
        return varint(data, at, end, lenient=lenient)[1]
    if wire == BYTES:
        return span(data, at, end, lenient=lenient)[1]
    if wire not in _FIXED_SIZE:
        malformed(f"illegal wire type {wire}")
    at += _FIXED_SIZE[wire]
    if at > end:
        malformed("unexpected EOF")
    return at


def write_varint(value: int) -> bytes:
    """Encode a number."""
    written = bytearray()
    while value >= _CONTINUED:
        written.append(value & 0x7F | _CONTINUED)
        value >>= 7
    written.append(value)
    return bytes(written)


def write_bytes(number: int, content: bytes) -> bytes:
    """Encode a field of wire type BYTES."""
    return write_varint(number << 3 | BYTES) + write_varint(len(content)) + content
