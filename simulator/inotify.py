"""Tells soon after something in a directory has come, gone or been replaced.

By inotify where there is such a thing and an instance of it is left, else by looking again and
again. In both cases one is told only that something may have changed: who wants to know what, looks
for itself, so a lost or doubled notice does no harm. A directory need not exist yet, and may be
removed and made again.

Used by the plugin watcher and by the built-in plugins, so it stands below both.
"""

from __future__ import annotations

import asyncio
import ctypes
import errno
import logging
import os
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_LOG = logging.getLogger(__name__)

# From Linux's <sys/inotify.h>
_IN_MOVED_FROM: Final = 0x40
_IN_MOVED_TO: Final = 0x80
_IN_CREATE: Final = 0x100
_IN_DELETE: Final = 0x200
_IN_DELETE_SELF: Final = 0x400
_IN_MOVE_SELF: Final = 0x800
_IN_IGNORED: Final = 0x8000
_IN_ONLYDIR: Final = 0x0100_0000
_WANTED: Final = (
    _IN_MOVED_FROM
    | _IN_MOVED_TO
    | _IN_CREATE
    | _IN_DELETE
    | _IN_DELETE_SELF
    | _IN_MOVE_SELF
    | _IN_ONLYDIR
)
_EVENT: Final = struct.Struct("iIII")
_READ_BYTES: Final = 64 * 1024
_ALL: Final = -1
"""The watch descriptor of an overflow: events of any directory were lost."""

_LOOK_AGAIN_S: Final = 0.25


@dataclass(eq=False, slots=True)
class Watch:
    """One directory that is watched for one listener.

    Attributes:
        changed: Called on the loop when something may have changed.
    """

    directory: Path
    changed: Callable[[], None]
    descriptor: int | None = None


class DirectoryChanges:
    """Watches any number of directories on the running loop, with one inotify instance.

    Args:
        look_again_s: How often, in seconds, directories are looked at that inotify cannot watch.
        native: Whether to use inotify where it is there.
    """

    def __init__(self, *, look_again_s: float = _LOOK_AGAIN_S, native: bool = True) -> None:
        self._loop = asyncio.get_running_loop()
        self._look_again_s = look_again_s
        self._watches: dict[Watch, None] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._libc = _libc() if native else None
        self._descriptor: int | None = None
        if self._libc is not None:
            self._open(self._libc)

    @property
    def is_native(self) -> bool:
        """Whether inotify is used."""
        return self._descriptor is not None

    def watch(self, directory: Path, changed: Callable[[], None]) -> Watch:
        """Begin to watch a directory; what is in it already is no change."""
        watch = Watch(directory, changed)
        self._watches[watch] = None
        if not self._attach(watch):
            self._look_again_later()
        return watch

    def unwatch(self, watch: Watch) -> None:
        """End a watch; a second time does nothing."""
        if watch not in self._watches:
            return
        del self._watches[watch]
        shared = any(other.descriptor == watch.descriptor for other in self._watches)
        if watch.descriptor is not None and not shared and self._libc and self.is_native:
            self._libc.inotify_rm_watch(self._descriptor, watch.descriptor)
        watch.descriptor = None

    def close(self) -> None:
        """End all watches."""
        self._watches.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            self._loop.remove_reader(descriptor)
            os.close(descriptor)

    def _open(self, libc: ctypes.CDLL) -> None:
        descriptor = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if descriptor < 0:
            cause = os.strerror(ctypes.get_errno())
            _LOG.info("no inotify instance: %s; directories are looked at instead", cause)
            return
        self._descriptor = descriptor
        self._loop.add_reader(descriptor, self._read)

    def _attach(self, watch: Watch) -> bool:
        """Let inotify watch a directory, and tell whether it does."""
        if self._libc is None or self._descriptor is None:
            return False
        name = os.fsencode(watch.directory)
        found = self._libc.inotify_add_watch(self._descriptor, name, _WANTED)
        if found < 0:
            cause = ctypes.get_errno()
            if cause not in (errno.ENOENT, errno.ENOTDIR):
                _LOG.warning("%s is not watched: %s", watch.directory, os.strerror(cause))
            return False
        watch.descriptor = found
        return True

    def _read(self) -> None:
        if self._descriptor is None:
            return
        try:
            content = os.read(self._descriptor, _READ_BYTES)
        except BlockingIOError:
            return
        touched: set[int] = set()
        lost: set[int] = set()
        offset = 0
        while offset < len(content):
            descriptor, mask, _, length = _EVENT.unpack_from(content, offset)
            offset += _EVENT.size + length
            touched.add(descriptor)
            if mask & _IN_IGNORED:
                lost.add(descriptor)
            elif mask & _IN_MOVE_SELF and self._libc is not None:
                # It would go on watching the directory, which has another name now.
                self._libc.inotify_rm_watch(self._descriptor, descriptor)
        for watch in list(self._watches):
            if watch.descriptor in lost:
                watch.descriptor = None
                self._look_again_later()
            elif watch.descriptor not in touched and _ALL not in touched:
                continue
            self._loop.call_soon(watch.changed)

    def _look_again_later(self) -> None:
        if self._timer is None:
            self._timer = self._loop.call_later(self._look_again_s, self._look_again)

    def _look_again(self) -> None:
        """Tell of every directory that is not watched, and try to watch it."""
        self._timer = None
        for watch in list(self._watches):
            if watch.descriptor is None:
                if not self._attach(watch):
                    self._look_again_later()
                self._loop.call_soon(watch.changed)


def _libc() -> ctypes.CDLL | None:
    """Return the C library, if it has inotify."""
    try:
        libc = ctypes.CDLL(None, use_errno=True)
    except OSError:
        return None
    return libc if hasattr(libc, "inotify_init1") else None
