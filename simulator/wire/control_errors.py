"""Errors of Rebind as gRPC statuses of the control service, and back.

The status is for any client; the error's own kind travels beside it, so that a command ends with
the same line and exit code as without a server.
"""

from __future__ import annotations

from typing import Final

import grpc

from simulator import errors
from simulator.errors import (
    ApiError,
    CheckpointError,
    ConfigError,
    InputError,
    ObjectConflictError,
    ObjectNotFoundError,
    RebindError,
    ServerError,
    ServerNotRunningError,
    StoreError,
    WatchBrokenError,
)

KIND_KEY: Final = "rebind-error"
"""Key of the trailing metadata under which the kind of an error stands."""

_TEXT_BYTES_MAX: Final = 6_000

_STATUSES: Final[tuple[tuple[type[RebindError], grpc.StatusCode], ...]] = (
    (ObjectNotFoundError, grpc.StatusCode.NOT_FOUND),
    (ObjectConflictError, grpc.StatusCode.FAILED_PRECONDITION),
    (WatchBrokenError, grpc.StatusCode.RESOURCE_EXHAUSTED),
    (ConfigError, grpc.StatusCode.INVALID_ARGUMENT),
    (InputError, grpc.StatusCode.INVALID_ARGUMENT),
    (CheckpointError, grpc.StatusCode.INVALID_ARGUMENT),
    (StoreError, grpc.StatusCode.UNAVAILABLE),
    (ApiError, grpc.StatusCode.UNAVAILABLE),
    (ServerError, grpc.StatusCode.FAILED_PRECONDITION),
)
"""The first row that matches counts."""


def status_of(error: RebindError) -> grpc.StatusCode:
    """Return the status with which a refusal is answered."""
    found = (code for kind, code in _STATUSES if isinstance(error, kind))
    return next(found, grpc.StatusCode.UNKNOWN)


def shortened(text: str) -> str:
    """Return what fits of an error's text into a header of gRPC, where most is written as %XX."""
    size = 0
    for at, character in enumerate(text):
        plain = " " <= character <= "~" and character != "%"
        size += 1 if plain else 3 * len(character.encode("utf-8", "replace"))
        if size > _TEXT_BYTES_MAX:
            return f"{text[:at]} …"
    return text


def kind_of(error: RebindError) -> str:
    """Return the name of an error's kind."""
    return type(error).__name__


def error_of(failure: grpc.RpcError, server: str) -> RebindError:
    """Return the error that a failed call stands for.

    Args:
        failure: What the call raised.
        server: The server's socket, for messages.
    """
    code, text = failure.code(), failure.details() or ""
    kinds = [str(each.value) for each in failure.trailing_metadata() or () if each.key == KIND_KEY]
    kind = getattr(errors, "".join(kinds), None)
    if isinstance(kind, type) and issubclass(kind, RebindError):
        return kind(text)
    if code is grpc.StatusCode.UNAVAILABLE:
        return ServerNotRunningError(f"the server on {server} does not answer: {text}")
    if code is grpc.StatusCode.UNIMPLEMENTED:
        return ServerError(f"what answers on {server} is no Rebind server, or another version's")
    return ServerError(f"the server on {server} failed: {code.name}: {text}")
