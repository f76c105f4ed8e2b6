"""Files that hold keys and tokens."""

from __future__ import annotations

import os
from pathlib import Path


def write_secret(path: Path, content: str) -> None:
    """Write a file that its owner alone can read, whole or not at all.

    Raises:
        OSError: It cannot be written; the error names `path`.
    """
    try:
        _write(path, content)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def _write(path: Path, content: str) -> None:
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(content)
        fresh.replace(path)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise
