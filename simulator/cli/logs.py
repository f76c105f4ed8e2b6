"""Logging to stderr, as text or as JSON lines."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Final

from typing_extensions import override

from simulator.reports.text import printable

LEVELS: Final = ("debug", "info", "warning", "error")
FORMATS: Final = ("text", "json")

_GRPC: Final = "grpc._cython.cygrpc"
_HANG_UP: Final = "ExecuteBatchError raised in core by servicer method"
_STANDARD_FIELDS: Final = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime"}


def configure(*, level: str, style: str) -> None:
    """Send log records of at least `level` to stderr in one of the two `FORMATS`."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_JsonFormatter() if style == "json" else _TextFormatter())
    handler.addFilter(_is_no_hang_up)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())


def _is_no_hang_up(record: logging.LogRecord) -> bool:
    """Tell whether a record is of interest: gRPC's of a client that left a stream is not.

    It comes as an error with a traceback, although nothing is wrong; those of defects stay.
    """
    return not (record.name == _GRPC and record.getMessage().startswith(_HANG_UP))


def _fields(record: logging.LogRecord) -> dict[str, object]:
    """Return what the caller gave in `extra`."""
    return {key: value for key, value in vars(record).items() if key not in _STANDARD_FIELDS}


class _TextFormatter(logging.Formatter):
    """`LEVEL logger: message key=value`."""

    @override
    def format(self, record: logging.LogRecord) -> str:
        fields = "".join(f" {key}={value}" for key, value in _fields(record).items())
        line = printable(f"{record.levelname} {record.name}: {record.getMessage()}{fields}")
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


class _JsonFormatter(logging.Formatter):
    """One JSON object for each record."""

    @override
    def format(self, record: logging.LogRecord) -> str:
        document: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **_fields(record),
        }
        if record.exc_info:
            document["exception"] = self.formatException(record.exc_info)
        return json.dumps(document, default=str)
