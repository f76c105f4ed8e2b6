"""A node whose kubelet is stopped: its file and its rows, as a migration reaches them."""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, TypeVar

from simulator.cli.failures import EnvironmentProblem
from simulator.config import (
    CHECKPOINT_FILE_NAME,
    CHECKPOINT_SIZE_MAX,
    KUBELET_SOCKET,
    PLUGIN_DIRECTORY,
    RETIRED_CHECKPOINT_NAME,
)
from simulator.core.calls import (
    CheckpointContent,
    Commit,
    LoadState,
    Missing,
    ReadCheckpoint,
    SetCheckpointAside,
    StoreCall,
    Stored,
    StoreDecision,
    StoreReply,
    WriteCheckpoint,
    of_store,
)
from simulator.core.transitions import NodeName
from simulator.errors import CheckpointTooLargeError
from simulator.ports import Store
from simulator.store_calls import committed, loaded
from store.file_store import FileStore

T = TypeVar("T")

_ANSWER_MAX_S: Final = 1.0


class NodeFiles:
    """The checkpoint file of a node, and where it is set aside.

    Args:
        path: The file.
        sync: What fsyncs.

    Attributes:
        path: The file.
        retired: Its name when it is set aside. Kubelets up to 1.32 delete what lies in their plugin
            directory (S1.9), so beside that directory, if the file is in one of its name.
    """

    def __init__(self, path: Path, *, sync: Callable[[int], None] = os.fsync) -> None:
        self.path = path
        folder = path.absolute().parent
        above = folder.parent if folder.name == PLUGIN_DIRECTORY else folder
        suffix = RETIRED_CHECKPOINT_NAME.removeprefix(CHECKPOINT_FILE_NAME)
        self.retired = above / f"{path.name}{suffix}"
        self._store = FileStore(path.parent, sync=sync)

    @property
    def retired_as_named(self) -> Path:
        """Its name when it is set aside, relative if the file was named so."""
        return self.retired if self.path.is_absolute() else Path(os.path.relpath(self.retired))

    def read(self) -> bytes | None:
        """Return the file's content; None when there is none.

        Raises:
            StoreError: It cannot be read.
            CheckpointTooLargeError: It is larger than what is read.
        """
        with contextlib.suppress(OSError):
            size = self.path.stat().st_size
            if size > CHECKPOINT_SIZE_MAX:
                reason = f"{self.path}: {size} bytes are more than the {CHECKPOINT_SIZE_MAX} read"
                raise CheckpointTooLargeError(reason)
        return self._store.read(self.path.name)

    def write(self, content: bytes, *, directory_synced: bool) -> None:
        """Replace the file as a kubelet does, and fsync the directory if asked to.

        Raises:
            StoreError: It cannot be written.
        """
        self._store.write(self.path.name, content, sync_directory=directory_synced)

    def set_aside(self) -> None:
        """Give the file its other name, durably, if there is one.

        Raises:
            StoreError: It cannot be renamed.
        """
        self._store.set_aside(self.path.name, self.retired)


class FileToTry:
    """A file in memory that begins like a real one: what is done to it changes nothing."""

    def __init__(self, files: NodeFiles) -> None:
        self._content = files.read()

    def read(self) -> bytes | None:
        """Return the content."""
        return self._content

    def write(self, content: bytes, *, directory_synced: bool) -> None:
        """Take the content."""
        del directory_synced
        self._content = content

    def set_aside(self) -> None:
        """Have no file."""
        self._content = None


class StoppedNode:
    """Does what a migration asks, at once."""

    def __init__(self, node: NodeName, store: Store, files: NodeFiles | FileToTry) -> None:
        self._node = node
        self._store = store
        self._files = files

    def run(self, decision: StoreDecision[T], made: Callable[[], None] = lambda: None) -> T:
        """Drive a decision to its end, and tell `made` after each of its steps.

        Raises:
            StoreError: The file or the database cannot be used; what was done so far stays.
            OSError: Likewise.
        """
        reply: StoreReply | None = None
        while True:
            try:
                call = next(decision) if reply is None else decision.send(reply)
            except StopIteration as end:
                made()
                result: T = end.value
                return result
            made()
            reply = self.answer(of_store(call))

    def answer(self, call: StoreCall) -> StoreReply:
        """Make one call."""
        match call:
            case ReadCheckpoint():
                content = self._files.read()
                return Missing() if content is None else CheckpointContent(content)
            case LoadState(with_file):
                return loaded(self._store, self._node, with_file=with_file)
            case Commit(transitions):
                return committed(self._store.apply(transitions))
            case WriteCheckpoint(content, _, directory_synced):
                self._files.write(content, directory_synced=directory_synced)
            case SetCheckpointAside():
                self._files.set_aside()
        return Stored()


def kubelet_serves(folder: Path) -> bool:
    """Tell whether a kubelet answers at its registration socket in this plugin directory."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(_ANSWER_MAX_S)
        try:
            probe.connect(str(folder / KUBELET_SOCKET))
        except OSError:
            return False
    return True


@contextlib.contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Keep other migrations away from the files of a node; refuse while its kubelet runs.

    Raises:
        EnvironmentProblem: A kubelet or another migration is at work.
    """
    if kubelet_serves(folder):
        reason = f"a kubelet serves {folder / KUBELET_SOCKET}; stop it and try again"
        raise EnvironmentProblem(reason)
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        reason = f"{folder}: {error.strerror}; name the file with --checkpoint or --root-dir"
        raise EnvironmentProblem(reason) from error
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            reason = f"another migration is at work in {folder}; wait for its end"
            raise EnvironmentProblem(reason) from error
        yield
    finally:
        os.close(handle)
