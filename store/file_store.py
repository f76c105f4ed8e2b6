"""Files under keys in one directory, each replaced as a whole: where a checkpoint file is kept.

The real file counterpart of the database. A write is made of the kubelet's steps (S4.9): a
temporary file whose name begins with a dot, fsync, rename. The directory is fsynced only if that is
asked for, so a power cut may else still lose the rename.

Kubelet: FileStore (util/store/filestore.go).
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from simulator.errors import StoreError, StoreUnavailableError

_KEY_LENGTH_MAX: Final = 250
_KEY: Final = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]", re.ASCII)
_DIRECTORY_MODE: Final = 0o755


def is_valid_key(key: str) -> bool:
    """Tell whether `key` can name a file: it starts and ends alphanumeric, at most 250 characters.

    Kubelet: ValidateKey (util/store/store.go).
    """
    return len(key) <= _KEY_LENGTH_MAX and _KEY.fullmatch(key) is not None


class FileStore:
    """One directory of files.

    Args:
        directory: Created with mode 0755 when something is first written.
        sync: What fsyncs an open file; a benchmark counts with it.
    """

    def __init__(self, directory: Path, *, sync: Callable[[int], None] = os.fsync) -> None:
        self._directory = directory
        self._sync = sync

    def write(self, key: str, content: bytes, *, sync_directory: bool = False) -> None:
        """Replace the file of `key`; a failure leaves the old one and no temporary file.

        When only the directory cannot be fsynced, the new file is there and may be lost again.

        Args:
            key: The file.
            content: What it is to hold.
            sync_directory: Whether to fsync the directory, so that no power cut takes the new name.

        Raises:
            StoreError: The key is not valid.
            StoreUnavailableError: The disk is full or the directory cannot be written.
        """
        target = self._path(key)
        try:
            self._directory.mkdir(mode=_DIRECTORY_MODE, parents=True, exist_ok=True)
            self._replace(target, content)
            if sync_directory:
                self._sync_folder(self._directory)
        except OSError as error:
            message = f'failed to write checkpoint file "{key}": {error.strerror}'
            raise StoreUnavailableError(message) from error

    def read(self, key: str) -> bytes | None:
        """Return the file's content; None when there is none.

        Raises:
            StoreError: The key is not valid.
            StoreUnavailableError: The file is there and cannot be read.
        """
        path = self._path(key)
        try:
            return path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            message = f'failed to read checkpoint file "{key}": {error.strerror}'
            raise StoreUnavailableError(message) from error

    def delete(self, key: str) -> None:
        """Remove the file of `key`; it is no error when there is none."""
        self._path(key).unlink(missing_ok=True)

    def set_aside(self, key: str, target: Path) -> None:
        """Give the file of `key` another name, durably; it is no error when there is none.

        Raises:
            StoreError: The key is not valid.
            StoreUnavailableError: It cannot be renamed; both names must be on one file system.
        """
        path = self._path(key)
        try:
            with suppress(FileNotFoundError):
                path.rename(target)
            for folder in dict.fromkeys((target.parent, self._directory)):
                self._sync_folder(folder)
        except OSError as error:
            message = f'failed to set checkpoint file "{key}" aside as {target}: {error.strerror}'
            raise StoreUnavailableError(message) from error

    def keys(self) -> list[str]:
        """Return the keys, sorted; what a broken-off write left, a dot-file, is not one."""
        if not self._directory.is_dir():
            return []
        return sorted(
            path.name
            for path in self._directory.iterdir()
            if path.is_file() and not path.name.startswith(".")
        )

    def _path(self, key: str) -> Path:
        if not is_valid_key(key):
            message = (
                f"invalid key {key!r}; a key is letters, digits, '-', '_' and '.', "
                f"begins and ends with a letter or digit, and has at most {_KEY_LENGTH_MAX}"
            )
            raise StoreError(message)
        return self._directory / key

    def _sync_folder(self, folder: Path) -> None:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            self._sync(handle)
        finally:
            os.close(handle)

    def _replace(self, target: Path, content: bytes) -> None:
        descriptor, name = tempfile.mkstemp(prefix=f".{target.name}", dir=self._directory)
        temporary = Path(name)
        try:
            with os.fdopen(descriptor, "wb", buffering=0) as file:
                rest = memoryview(content)
                while rest:  # A raw write may take a part only.
                    rest = rest[file.write(rest) :]
                self._sync(file.fileno())
            temporary.rename(target)
        except BaseException:
            with suppress(FileNotFoundError):
                temporary.unlink()
            raise
