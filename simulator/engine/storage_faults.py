"""What a node's storage does when a fault befalls it, under both drivers: texts and damages."""

from __future__ import annotations

from typing import Final

from simulator.engine.actions import FileAction

NO_SPACE: Final = "no space left on device"
"""The text of ENOSPC as the kubelet shows it."""

DATABASE_FULL: Final = "database or disk is full"
"""SQLite's text for SQLITE_FULL."""


def damaged(content: bytes, action: FileAction, replacement: bytes | None) -> bytes | None:
    """Return what is left of a file to which this was done; None when it is gone."""
    if action is FileAction.DELETE:
        return None
    if action is FileAction.TRUNCATE:
        return content[: len(content) // 2]
    return corrupted(content) if action is FileAction.CORRUPT else replacement or b""


def corrupted(content: bytes) -> bytes:
    """Return `content` with one digit of its end, that of the checksum, changed."""
    for index in range(len(content) - 1, -1, -1):
        if content[index : index + 1].isdigit():
            other = b"1" if content[index : index + 1] != b"1" else b"2"
            return content[:index] + other + content[index + 1 :]
    return b"{"
