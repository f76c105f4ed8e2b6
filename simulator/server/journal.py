"""The pods of a server over its restarts: what another cluster's API server would remember.

Each change is one line at the end of a file, written before anything else follows from it; so a
server that is killed loses no pod whose devices somebody has seen. What was applied or deleted is
on the disk before that is answered, so a power cut loses none of it. Changes that belong together
are one line. At a start, and when it has grown, the file is written anew with what is still there.
A line that was cut off by a crash is left out.

A server whose journal cannot be written tells nobody anything more and ends: what it would tell
would not be so after its next start.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from scenarios.files.documents import Plain
from simulator.core.pods import PodUid
from simulator.engine.api_objects import ApiPod
from simulator.errors import ServerError
from simulator.reports.documents import Json
from simulator.server.kept import (
    TOGETHER,
    Kept,
    KeptWorkload,
    Line,
    fold,
    kept_lines,
    kept_pod,
    line_of,
    plain_pod,
    plain_workload,
)

RENEWED_FROM: Final = 8 * 1024 * 1024
"""A file of so many bytes is written anew if most of it is about what is gone."""
_GROWTH_MAX: Final = 4
"""How many times as large as after its last renewal a file may become."""


class Journal:
    """The file, to be written at its end.

    Args:
        path: Where it is.
        renewed_from: At which size it may be written anew, in bytes.
        survives_power_cut: Whether `sync` waits for the disk, as the durability class `full` does.

    Attributes:
        failed: Called when a line could not be written; none is written after it.
    """

    def __init__(
        self,
        path: Path,
        renewed_from: int = RENEWED_FROM,
        *,
        survives_power_cut: bool = True,
    ) -> None:
        self._survives_power_cut = survives_power_cut
        self._renewed_from = renewed_from
        self.path = path
        self.failed: Callable[[ServerError], None] = lambda _: None
        self._file: int | None = None
        self._failure: ServerError | None = None
        self._held: list[Line] | None = None
        self._kept = Kept()
        self._size = self._renewed_at = 0

    def begin(self, kept: Kept) -> None:
        """Write the file anew, whole or not at all, with what is there."""
        self._kept = Kept(dict(kept.pods), dict(kept.workloads))
        self._renew()

    def pod(self, pod: ApiPod, manifest: Mapping[str, Plain]) -> None:
        """Write that a pod is there, and all about it."""
        self._write("pod", plain_pod(kept_pod(pod, manifest)))

    def changed(self, pod: ApiPod) -> None:
        """Write how a pod stands now."""
        status = pod.status
        self._write(
            "status",
            {
                "uid": pod.uid,
                "node": pod.node or "",
                "phase": status.phase,
                "reason": status.reason,
                "message": status.message,
                "deleting": pod.deleting,
            },
        )

    def gone(self, uid: PodUid) -> None:
        """Write that a pod is gone."""
        self._write("gone", {"uid": uid})

    def workload(self, workload: KeptWorkload) -> None:
        """Write that a workload is there."""
        self._write("workload", plain_workload(workload))

    def workload_gone(self, key: str) -> None:
        """Write that a workload is gone."""
        self._write("workload gone", {"key": key})

    @contextmanager
    def together(self) -> Iterator[None]:
        """Write as one line what is written meanwhile: a crash loses all of it, or nothing."""
        held = self._held = []
        try:
            yield
        finally:
            self._held = None
            if held:
                self._append(held[0] if len(held) == 1 else line_of(TOGETHER, {"lines": held}))

    def check(self) -> None:
        """Make sure that what was told to the journal so far is kept.

        Raises:
            ServerError: It could not be written.
        """
        if self._failure is not None:
            raise self._failure

    def sync(self) -> None:
        """Make durable what was written so far, if it is to be; may be called in a thread.

        Raises:
            ServerError: It is not, or could not be written at all.
        """
        self.check()
        if self._file is None or not self._survives_power_cut:
            return
        descriptor = os.dup(self._file)  # The file may be renewed meanwhile, durably.
        try:
            os.fsync(descriptor)
        except OSError as error:
            reason = f"{self.path} cannot be made durable: {error.strerror}; look at the disk"
            raise ServerError(reason) from error
        finally:
            os.close(descriptor)

    def close(self) -> None:
        """Write no more."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _write(self, what: str, content: Mapping[str, Json]) -> None:
        line = line_of(what, content)
        if self._held is not None:
            self._held.append(line)
        else:
            self._append(line)

    def _append(self, line: Line) -> None:
        if self._file is None:
            return
        text = _text(line)
        rest = memoryview(text)
        try:
            while rest:
                rest = rest[os.write(self._file, rest) :]
        except OSError as error:
            self.close()
            reason = (
                f"{self.path} cannot be written: {error.strerror}; the server ends, since it "
                "could not remember its pods; make room and start it again"
            )
            self._failure = ServerError(reason)
            self.failed(self._failure)
            return
        fold(self._kept, line)
        self._size += len(text)
        if self._size >= self._renewed_at:
            try:
                self._renew()
            except OSError:  # As long as lines can be added, the file that is there will do.
                self._renewed_at = self._size * 2

    def _renew(self) -> None:
        fresh = self.path.with_suffix(".new")
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            with os.fdopen(descriptor, "wb", closefd=False) as file:
                file.writelines(map(_text, kept_lines(self._kept)))
                file.flush()
                os.fsync(descriptor)
                self._size = file.tell()
            fresh.replace(self.path)
            _sync_folder(self.path.parent)
        except OSError as error:
            os.close(descriptor)
            raise OSError(error.errno, error.strerror, str(fresh)) from error
        self.close()
        self._file = descriptor
        self._renewed_at = max(self._renewed_from, _GROWTH_MAX * self._size)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read_journal(path: Path) -> Kept:
    """Return what a file says is there; nothing when there is no file.

    Raises:
        ServerError: It is no such file.
        OSError: It cannot be read.
    """
    kept = Kept()
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return kept
    lines = content.split(b"\n")
    for number, line in enumerate(lines[:-1], 1):
        try:
            fold(kept, json.loads(line))
        except (ValueError, KeyError, TypeError, ValidationError) as cause:
            reason = (
                f"{path}:{number}: this line is none of a server's pods; "
                "move the file away to begin without pods"
            )
            raise ServerError(reason) from cause
    return kept


def _text(line: Line) -> bytes:
    return json.dumps(line, separators=(",", ":")).encode() + b"\n"
