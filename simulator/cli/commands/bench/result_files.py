"""Files of runs, read for commands."""

from __future__ import annotations

from pathlib import Path

from benchmarks.results.documents import SIZE_MAX, read_result
from benchmarks.results.rows import Result


def load_result(path: Path) -> Result:
    """Read the file of a run.

    Raises:
        ResultFileError: It is no such file, or a damaged one.
        OSError: It cannot be read; the error names `path`.
    """
    with path.open("rb") as file:
        content = file.read(SIZE_MAX + 1)
    return read_result(content, str(path))
