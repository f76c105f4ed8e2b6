"""What the program logs when something has happened that nobody had expected: a traceback."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from typing_extensions import override


class _Faults(logging.Handler):
    """Collects what was logged with a traceback."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    @override
    def emit(self, record: logging.LogRecord) -> None:
        """Keep it if it is one."""
        if record.exc_info:
            self.found.append(self.format(record))


@contextmanager
def logged_faults() -> Iterator[list[str]]:
    """Collect tracebacks that are logged meanwhile."""
    handler = _Faults()
    logging.getLogger().addHandler(handler)
    try:
        yield handler.found
    finally:
        logging.getLogger().removeHandler(handler)
