"""Failures in the words of Go."""

from __future__ import annotations

from pathlib import Path

import grpc
import grpc.aio
import pytest

from simulator.errors import MessageTooLargeError
from simulator.wire.status import call_error, error_of

NO_CONNECTION = "FAILED_PRECONDITION: unix:/run/p.sock: connect failed: addr: unix:/run/p.sock"
PATH = Path("/run/p.sock")


def told(code: grpc.StatusCode, details: str) -> str:
    failure = grpc.aio.AioRpcError(code, grpc.aio.Metadata(), grpc.aio.Metadata(), details)
    return str(error_of(failure, PATH, 100))


@pytest.mark.parametrize(
    ("code", "name"),
    [
        (grpc.StatusCode.CANCELLED, "Canceled"),
        (grpc.StatusCode.UNKNOWN, "Unknown"),
        (grpc.StatusCode.INVALID_ARGUMENT, "InvalidArgument"),
        (grpc.StatusCode.DEADLINE_EXCEEDED, "DeadlineExceeded"),
        (grpc.StatusCode.UNIMPLEMENTED, "Unimplemented"),
        (grpc.StatusCode.FAILED_PRECONDITION, "FailedPrecondition"),
        (grpc.StatusCode.INTERNAL, "Internal"),
    ],
)
def test_a_status_that_the_other_side_sent_keeps_its_text(code: grpc.StatusCode, name: str) -> None:
    """S3.12."""
    assert told(code, "The text: of it (1)") == (
        f"rpc error: code = {name} desc = The text: of it (1)"
    )
    assert told(code, "") == f"rpc error: code = {name} desc = "


def test_every_status_has_a_name_in_go() -> None:
    names = [call_error(code, "").code for code in grpc.StatusCode]

    assert all(name.isalpha() and name[0].isupper() for name in names)
    assert len(set(names)) == 17


def test_a_call_that_was_given_up_is_canceled() -> None:
    details = "Locally cancelled by application!"

    assert told(grpc.StatusCode.CANCELLED, details).endswith("Canceled desc = context canceled")


def test_a_message_that_the_other_side_found_too_large_keeps_its_text() -> None:
    text = "SERVER: Received message larger than max (200 vs. 100)"

    assert told(grpc.StatusCode.RESOURCE_EXHAUSTED, text).endswith(f"desc = {text}")


def test_a_message_that_is_too_large_is_told_with_our_limit() -> None:
    """S1.21; more is taken in than may be received."""
    details = "Stream removed (CLIENT: Received message larger than max (900 vs. 400))"
    failure = grpc.aio.AioRpcError(
        grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.aio.Metadata(), grpc.aio.Metadata(), details
    )

    error = error_of(failure, PATH, 100)

    assert isinstance(error, MessageTooLargeError)
    assert (error.size, error.limit, error.code) == (900, 100, "ResourceExhausted")
    assert str(error).endswith("desc = grpc: received message larger than max (900 vs. 100)")


@pytest.mark.parametrize(
    "details",
    [
        "Socket closed",
        "Stream removed (Socket closed)",
        "Stream removed (recvmsg:Connection reset by peer (104))",
        "Stream removed (sendmsg: Broken pipe (32))",
    ],
)
def test_a_lost_connection_is_at_its_end(details: str) -> None:
    assert told(grpc.StatusCode.UNAVAILABLE, details) == (
        "rpc error: code = Unavailable desc = error reading from server: EOF"
    )


@pytest.mark.parametrize(
    ("last", "told_as"),
    [
        (
            f"{NO_CONNECTION} error: Connection refused",
            "transport: Error while dialing: dial unix /run/p.sock: connect: connection refused",
        ),
        (
            f"{NO_CONNECTION} error: Permission denied",
            "transport: Error while dialing: dial unix /run/p.sock: connect: permission denied",
        ),
        (
            "UNAVAILABLE: unix:/run/p.sock: recvmsg:Connection reset by peer (104)",
            "error reading server preface: EOF",
        ),
        ("UNAVAILABLE: unix:/run/p.sock: Socket closed", "error reading server preface: EOF"),
    ],
)
def test_a_connection_that_cannot_be_made_says_why(last: str, told_as: str) -> None:
    details = f"failed to connect to all addresses; last error: {last}"

    assert told(grpc.StatusCode.UNAVAILABLE, details) == (
        f'rpc error: code = Unavailable desc = connection error: desc = "{told_as}"'
    )


def test_unavailable_with_another_text_keeps_it() -> None:
    assert told(grpc.StatusCode.UNAVAILABLE, "try again later").endswith("desc = try again later")
