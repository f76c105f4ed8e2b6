"""Answers to Allocate that are made to keep a kubelet busy are refused at once (issue 4 D)."""

from __future__ import annotations

from typing import Final

import pytest

from simulator.core.protobuf_wire import write_bytes
from simulator.errors import PluginCallError
from simulator.protocol import rebind_deviceplugin_pb2 as device_plugin
from simulator.wire.allocate_answers import container_answers

_MOUNTS: Final = 2
_ENVS: Final = 1
_NOTHING: Final = b"\x78\x01"
"""A field that nobody knows."""
_AN_ENTRY: Final = write_bytes(_ENVS, write_bytes(1, b"A") + write_bytes(2, b"b"))


def answer(content: bytes) -> bytes:
    return write_bytes(1, content)


def mounts(count: int) -> bytes:
    return b"".join(
        write_bytes(_MOUNTS, write_bytes(1, b"/a%d" % number) + write_bytes(2, b"/b"))
        for number in range(count)
    )


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (answer(mounts(100_000)), "100001 entries, at most 10000 are taken"),
        (answer(write_bytes(_MOUNTS, b"") * 2_000_000), "2000001 entries, at most 10000 are taken"),
        (answer(b"") * 2_000_000, "2000000 entries, at most 10000 are taken"),
        (answer(_NOTHING * 50_000), r"1000\d\d bytes that say nothing, at most 32768 are taken"),
        (
            answer(write_bytes(_MOUNTS, _NOTHING * 50_000)),
            r"1000\d\d bytes that say nothing, at most 32768 are taken",
        ),
        # The same variable again and again: all but the last say nothing.
        (
            answer(_AN_ENTRY * 20_000),
            r"15999\d bytes that say nothing, at most 32768 are taken",
        ),
    ],
    ids=["mounts", "empty mounts", "containers", "unknown", "unknown inside", "repeated"],
)
def test_an_answer_of_very_many_parts_is_refused(content: bytes, reason: str) -> None:
    with pytest.raises(
        PluginCallError,
        match=f"^rpc error: code = ResourceExhausted desc = the answer has {reason}$",
    ):
        container_answers(content, lenient=True)


def test_a_large_answer_of_few_parts_is_taken_as_it_is() -> None:
    """S1.21: what a Go client takes; a variable of 4 MB, or a thousand mounts."""
    one = device_plugin.ContainerAllocateResponse(envs={"A": "x" * 4_000_000}).SerializeToString()

    assert container_answers(answer(one), lenient=True) == (one,)
    assert container_answers(answer(mounts(5_000)), lenient=True) == (mounts(5_000),)


@pytest.mark.parametrize("size", [10, 40_000])
def test_an_answer_that_is_none_is_refused_whatever_its_size(size: int) -> None:
    with pytest.raises(PluginCallError, match="failed to unmarshal the received message: proto: "):
        container_answers(b"\xff" * size, lenient=True)
