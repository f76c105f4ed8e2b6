"""Counts the fsyncs that SQLite makes, and can make each of them slower.

A disk that flushes almost for free hides what a database costs on a real one. SQLite reaches its
files through a table of functions (its VFS), so a copy of that table whose `xSync` counts, waits
and then calls the original gives both the count and the slower disk, in this process and without
compiled parts. It knows SQLite's public, stable C structures and nothing of Rebind.
"""

from __future__ import annotations

import _sqlite3
import ctypes
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, Protocol

_POINTER = ctypes.c_void_p
_OPEN = ctypes.CFUNCTYPE(
    ctypes.c_int, _POINTER, _POINTER, _POINTER, ctypes.c_int, ctypes.POINTER(ctypes.c_int)
)
_SYNC = ctypes.CFUNCTYPE(ctypes.c_int, _POINTER, ctypes.c_int)
_OK: Final = 0
_NAME: Final = b"rebind-sync-counter"


class _Vfs(ctypes.Structure):
    """`sqlite3_vfs`, version 3."""


_Vfs._fields_ = (
    ("version", ctypes.c_int),
    ("file_size", ctypes.c_int),
    ("path_length_max", ctypes.c_int),
    ("next", _POINTER),
    ("name", ctypes.c_char_p),
    ("app_data", _POINTER),
    ("open", _OPEN),
    ("others", _POINTER * 15),
)


class _Methods(ctypes.Structure):
    """`sqlite3_io_methods`, version 3."""


_Methods._fields_ = (
    ("version", ctypes.c_int),
    ("close_read_write_truncate", _POINTER * 4),
    ("sync", _SYNC),
    ("others", _POINTER * 13),
)


class _File(ctypes.Structure):
    """`sqlite3_file`."""


_File._fields_ = (("methods", ctypes.POINTER(_Methods)),)


class Syncs(Protocol):
    """How many fsyncs there were so far, and how much longer each is made.

    Attributes:
        added_seconds: May be changed at any time.
    """

    syncs: int
    added_seconds: float


@dataclass(slots=True)
class SyncCount:
    """How many fsyncs there were so far, and how much longer each is made.

    Attributes:
        added_seconds: May be changed at any time.
    """

    syncs: int = 0
    added_seconds: float = 0.0


class _Counter:
    """The VFS and all that C code keeps pointers to; it must outlive every connection."""

    def __init__(self) -> None:
        self.count: Syncs = SyncCount()
        self._library = ctypes.CDLL(_sqlite3.__file__)
        self._library.sqlite3_vfs_find.restype = ctypes.POINTER(_Vfs)
        original = self._library.sqlite3_vfs_find(None)
        self._original = original
        self._open: Callable[..., int] = original.contents.open
        self._vfs = _Vfs.from_buffer_copy(original.contents)
        self._vfs.name = _NAME
        self._vfs.open = _OPEN(self._opened)
        self._methods: dict[int, _Methods] = {}

    def become_default(self, *, default: bool) -> None:
        """Use this VFS, or the original one, for connections that are opened from now on."""
        chosen = ctypes.byref(self._vfs) if default else self._original
        self._library.sqlite3_vfs_register(chosen, 1)

    def _opened(self, _vfs: int, name: int, file: int, flags: int, flags_out: object) -> int:
        code = self._open(ctypes.cast(self._original, _POINTER), name, file, flags, flags_out)
        opened = _File.from_address(file)
        if code == _OK and opened.methods:
            opened.methods = ctypes.pointer(self._counting(opened.methods.contents))
        return code

    def _counting(self, original: _Methods) -> _Methods:
        """Return the counting copy of a table of functions, one for each kind of file."""
        address = ctypes.addressof(original)
        if address not in self._methods:
            sync: Callable[[int, int], int] = original.sync

            def counting_sync(file: int, flags: int) -> int:
                self.count.syncs += 1
                if self.count.added_seconds:
                    time.sleep(self.count.added_seconds)
                return sync(file, flags)

            copy = _Methods.from_buffer_copy(original)
            copy.sync = _SYNC(counting_sync)
            self._methods[address] = copy
        return self._methods[address]


_counter: list[_Counter] = []


@contextmanager
def counted_syncs(count: Syncs | None = None) -> Iterator[Syncs]:
    """Count the fsyncs of SQLite connections that are opened inside the block.

    Args:
        count: Where they are counted; None for a new count.

    Raises:
        AttributeError: The SQLite of this Python hides its functions, so nothing can be counted.
    """
    if not _counter:
        _counter.append(_Counter())
    counter = _counter[0]
    counter.count = SyncCount() if count is None else count
    counter.become_default(default=True)
    try:
        yield counter.count
    finally:
        counter.become_default(default=False)
        counter.count.added_seconds = 0.0
