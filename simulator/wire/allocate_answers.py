"""Answers to Allocate out of their bytes; what they may have in them is bounded (issue 4 D).

A kubelet takes whatever fits into a message. Here an answer is decoded as each kubelet's runtime
does it, which takes a microsecond a byte, on the loop that serves all plugins; so a large one is
first looked at by the protobuf runtime, and refused when it is made of very many small parts.
"""

from __future__ import annotations

from typing import Final

from google.protobuf.message import DecodeError

from simulator.core import allocate_response
from simulator.errors import MalformedReplyError
from simulator.protocol import rebind_deviceplugin_pb2 as device_plugin
from simulator.wire.status import too_much_error, unreadable_error

SMALL_BYTES: Final = 32 * 1024
"""An answer up to this size is taken whatever is in it."""
ENTRIES_MAX: Final = 10_000
"""Most variables, mounts, devices, annotations and CDI devices of one answer."""
UNKNOWN_BYTES_MAX: Final = SMALL_BYTES
"""How much of an answer may say nothing to a kubelet."""


def container_answers(content: bytes, *, lenient: bool) -> tuple[bytes, ...]:
    """Return the ContainerAllocateResponses of an answer, each of which can be decoded.

    Args:
        content: An AllocateResponse.
        lenient: `Behavior.lenient_allocate_responses`.

    Raises:
        PluginCallError: The bytes are no such message, or have more in them than is taken.
    """
    if len(content) > SMALL_BYTES:
        _require_few_parts(content)
    try:
        answers = allocate_response.container_responses(content)
        for answer in answers:
            if not allocate_response.is_decodable(answer, lenient=lenient):
                allocate_response.decode(answer, lenient=lenient)
    except MalformedReplyError as error:
        raise unreadable_error(str(error)) from error
    return answers


def _require_few_parts(content: bytes) -> None:
    try:
        answer = device_plugin.AllocateResponse.FromString(content)
    except DecodeError as error:
        raise unreadable_error() from error
    entries = len(answer.container_responses)
    if entries <= ENTRIES_MAX:
        entries += sum(map(_entries, answer.container_responses))
    if entries > ENTRIES_MAX:
        raise too_much_error(entries, "entries", ENTRIES_MAX)
    answer.DiscardUnknownFields()
    unknown = len(content) - answer.ByteSize()
    if unknown > UNKNOWN_BYTES_MAX:
        raise too_much_error(unknown, "bytes that say nothing", UNKNOWN_BYTES_MAX)


def _entries(answer: device_plugin.ContainerAllocateResponse) -> int:
    parts = (answer.envs, answer.mounts, answer.devices, answer.annotations, answer.cdi_devices)
    return sum(map(len, parts))
