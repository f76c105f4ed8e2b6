"""Statuses of gRPC as texts: what a Go program, such as the kubelet, prints of a failed call.

Errors that the other side sent carry its own text. Those that gRPC finds itself are told by its C
core in words of its own; users and recordings know Go's.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import grpc
import grpc.aio

from simulator.errors import MessageTooLargeError, PluginCallError

_GO_NAMES: Final = {
    grpc.StatusCode.OK: "OK",
    grpc.StatusCode.CANCELLED: "Canceled",
    grpc.StatusCode.UNKNOWN: "Unknown",
    grpc.StatusCode.INVALID_ARGUMENT: "InvalidArgument",
    grpc.StatusCode.DEADLINE_EXCEEDED: "DeadlineExceeded",
    grpc.StatusCode.NOT_FOUND: "NotFound",
    grpc.StatusCode.ALREADY_EXISTS: "AlreadyExists",
    grpc.StatusCode.PERMISSION_DENIED: "PermissionDenied",
    grpc.StatusCode.RESOURCE_EXHAUSTED: "ResourceExhausted",
    grpc.StatusCode.FAILED_PRECONDITION: "FailedPrecondition",
    grpc.StatusCode.ABORTED: "Aborted",
    grpc.StatusCode.OUT_OF_RANGE: "OutOfRange",
    grpc.StatusCode.UNIMPLEMENTED: "Unimplemented",
    grpc.StatusCode.INTERNAL: "Internal",
    grpc.StatusCode.UNAVAILABLE: "Unavailable",
    grpc.StatusCode.DATA_LOSS: "DataLoss",
    grpc.StatusCode.UNAUTHENTICATED: "Unauthenticated",
}

CONTEXT_DEADLINE_EXCEEDED: Final = "context deadline exceeded"
"""What Go says when a deadline has passed (S1.12.5)."""

STREAM_ENDED: Final = "EOF"
"""What Go says of a stream that ended without an error."""

UNREADABLE: Final = "cannot parse invalid wire-format data"
"""What Go's protobuf says of bytes that are no message of the type."""

_REMOVED: Final = re.compile(r"Stream removed \((.*)\)", re.DOTALL)
_TOO_LARGE: Final = re.compile(r"CLIENT: Received message larger than max \((\d+) vs\. \d+\)")
_NOT_CONNECTED: Final = re.compile(r"failed to connect to all addresses; last error: .*", re.DOTALL)
_ERRNO: Final = re.compile(
    r"(?:error: |recvmsg: ?|sendmsg: ?)([A-Z][a-z][A-Za-z ]*?)(?: \(\d+\))?$"
)
_RESET: Final = "connection reset by peer"


def call_error(code: grpc.StatusCode, description: str) -> PluginCallError:
    """Return the error of a failed call, e.g. `rpc error: code = Unknown desc = no memory`."""
    name = _GO_NAMES[code]
    return PluginCallError(f"rpc error: code = {name} desc = {description}", code=name)


def closing_error() -> PluginCallError:
    """Return the error of a call whose connection was closed on our side."""
    return call_error(grpc.StatusCode.CANCELLED, "grpc: the client connection is closing")


def too_large_error(size: int, limit: int) -> MessageTooLargeError:
    """Return the error of a message larger than may be received (S1.21)."""
    description = f"grpc: received message larger than max ({size} vs. {limit})"
    error = call_error(grpc.StatusCode.RESOURCE_EXHAUSTED, description)
    return MessageTooLargeError(str(error), code=error.code, size=size, limit=limit)


def too_many_error(devices: int, limit: int) -> PluginCallError:
    """Return the error of a device list that is longer than any that is taken."""
    description = f"the list has {devices} devices, at most {limit} are taken"
    return call_error(grpc.StatusCode.RESOURCE_EXHAUSTED, description)


def long_text_error(length: int, limit: int) -> PluginCallError:
    """Return the error of a device with a text that is longer than any that is taken."""
    description = f"id or health of a device has {length} characters, at most {limit} are taken"
    return call_error(grpc.StatusCode.RESOURCE_EXHAUSTED, description)


def numa_error(device: str, nodes: int, limit: int) -> PluginCallError:
    """Return the error of a device that names more NUMA nodes than are taken."""
    description = f"the device {device[:40]} names {nodes} NUMA nodes, at most {limit} are taken"
    return call_error(grpc.StatusCode.RESOURCE_EXHAUSTED, description)


def too_much_error(count: int, what: str, limit: int) -> PluginCallError:
    """Return the error of an answer to Allocate that has more in it than is taken."""
    description = f"the answer has {count} {what}, at most {limit} are taken"
    return call_error(grpc.StatusCode.RESOURCE_EXHAUSTED, description)


def unreadable_error(cause: str = UNREADABLE) -> PluginCallError:
    """Return the error of a message that is not of its type."""
    description = f"grpc: failed to unmarshal the received message: proto: {cause}"
    return call_error(grpc.StatusCode.INTERNAL, description)


def error_of(failure: grpc.aio.AioRpcError, path: Path, receive_bytes_max: int) -> PluginCallError:
    """Return the error that a failed call stands for.

    Args:
        failure: What gRPC raised.
        path: The socket of the other side.
        receive_bytes_max: Size of the largest message that may be received.
    """
    code, details = failure.code(), failure.details() or ""
    removed = _REMOVED.fullmatch(details)
    text = removed.group(1) if removed is not None else details
    too_large = _TOO_LARGE.fullmatch(text)
    if too_large is not None and code is grpc.StatusCode.RESOURCE_EXHAUSTED:
        return too_large_error(int(too_large.group(1)), receive_bytes_max)
    return call_error(code, _in_go(code, text, path))


def _in_go(code: grpc.StatusCode, text: str, path: Path) -> str:
    if code is grpc.StatusCode.DEADLINE_EXCEEDED and text == "Deadline Exceeded":
        return CONTEXT_DEADLINE_EXCEEDED
    if code is grpc.StatusCode.CANCELLED and text == "Locally cancelled by application!":
        return "context canceled"
    if code is grpc.StatusCode.UNAVAILABLE:
        return _unavailable(text, path)
    return text


def _unavailable(text: str, path: Path) -> str:
    """Tell how a connection was lost, or could not be made.

    A lost one is always at its end (`EOF`). Differs: Go speaks of a reset where the other side has
    left something unread, which is chance.
    """
    found = _ERRNO.search(text)
    reason = found.group(1).lower() if found is not None else ""
    if _NOT_CONNECTED.fullmatch(text):
        if reason in ("", _RESET):
            cause = f"error reading server preface: {STREAM_ENDED}"
        else:
            cause = f"transport: Error while dialing: dial unix {path}: connect: {reason}"
        return f'connection error: desc = "{cause}"'
    if text == "ping timeout":
        return "keepalive ping failed to receive ACK within timeout"
    if text == "Socket closed" or reason:
        return f"error reading from server: {STREAM_ENDED}"
    return text
