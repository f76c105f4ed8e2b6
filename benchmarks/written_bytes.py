"""How much this process has written, as far as the operating system tells."""

from __future__ import annotations

from pathlib import Path
from typing import Final

_COUNTERS: Final = Path("/proc/self/io")
_WRITTEN: Final = "wchar:"


def written_bytes() -> int | None:
    """Return the bytes that the process has passed to the system so far; None where it hides it."""
    try:
        lines = _COUNTERS.read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) for line in lines if line.startswith(_WRITTEN)), None)


def bytes_since(before: int | None) -> int | None:
    """Return what was written since `written_bytes` gave `before`."""
    now = written_bytes()
    return None if before is None or now is None else now - before
