"""Files that a command writes: whole or not at all, and errors that name them."""

from __future__ import annotations

import errno
import os
import secrets
from pathlib import Path


def write_whole(path: Path, content: bytes, *, mode: int = 0o666) -> None:
    """Write a file so that it has its old content or the new one, never a part.

    Args:
        path: The file; a link is followed, and what is no file, such as a pipe, is written to.
        content: All of it.
        mode: Its permissions before the umask, where there is no file yet.

    Raises:
        OSError: It cannot be written; the error names `path`.
    """
    try:
        _replace(path.resolve(), content, mode)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def require_writable(path: Path) -> None:
    """Tell, before long work is begun for it, whether `write_whole` can write a file there.

    Nothing is changed: a file that is there already keeps its content.

    Raises:
        OSError: It cannot be written; the error names `path`.
    """
    try:
        _try(path.resolve())
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def write_new(path: Path, content: bytes) -> None:
    """Write a file that is not there yet; after an error it still is not there.

    Raises:
        FileExistsError: There is a file already.
        OSError: It cannot be written; the error names `path`.
    """
    file = path.open("xb")
    try:
        with file:
            file.write(content)
    except OSError as error:
        path.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, str(path)) from error


def _try(path: Path) -> None:
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if path.exists() and not path.is_file():
        return  # To open a pipe would wait for its reader.
    part = _part_beside(path)
    os.close(_new(part, 0o600))
    part.unlink()


def _part_beside(path: Path) -> Path:
    return path.with_name(f".rebind-{secrets.token_hex(8)}")


def _new(part: Path, mode: int) -> int:
    return os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)


def _replace(path: Path, content: bytes, mode: int) -> None:
    if path.exists() and not path.is_file():
        path.write_bytes(content)
        return
    if path.exists():
        mode = path.stat().st_mode & 0o777
    part = _part_beside(path)
    try:
        with os.fdopen(_new(part, mode), "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        part.replace(path)
    except OSError:
        part.unlink(missing_ok=True)
        raise
