"""One process writes a PostgreSQL database: an advisory lock of its schema, held by a session.

The server lets go of it when the session ends, however it ends, and a session ends with its
connection: whoever loses the connection has lost the lock, and writes no more until it has both
again. The holder is found by the name that its session gives itself.
"""

from __future__ import annotations

import os
import re
import secrets
import socket
import zlib
from typing import Final

import psycopg

from simulator.errors import WriterLockedError

_KEY: Final = 0x7265_6269
"""The first half of the lock's key, "rebi"; the second one is the schema's."""

_NAME_MAX: Final = 63
_SESSION: Final = re.compile(r"rebind \w+ (?P<holder>pid (?P<pid>\d+) on (?P<host>\S+))")

_SCHEMA: Final = "SELECT coalesce(current_schema(), '')"
_TAKE: Final = "SELECT pg_try_advisory_lock(%s, %s)"
_HOLDER: Final = """
    SELECT a.pid, a.application_name, to_char(a.backend_start AT TIME ZONE 'UTC',
           'YYYY-MM-DD HH24:MI:SSZ')
    FROM pg_locks l JOIN pg_stat_activity a USING (pid)
    WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 2
      AND l.classid::bigint = %s AND l.objid::bigint = %s
      AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""
_END: Final = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = %s"


def session_name() -> str:
    """Return a name for the sessions of one writer, which no other writer has."""
    name = f"rebind {secrets.token_hex(4)} pid {os.getpid()} on {socket.gethostname()}"
    return name.encode("ascii", "replace").decode()[:_NAME_MAX]


class AdvisoryLock:
    """The writer's lock of one schema, under one session name.

    Args:
        database: Its name for people.
        session: The `application_name` of the writer's connections.
    """

    def __init__(self, database: str, session: str) -> None:
        self._database = database
        self._session = session

    def take(self, connection: psycopg.Connection, *, patient: bool) -> bool:
        """Take the lock for a session.

        A session may not know yet that its client is gone. One of this same writer is told; one of
        a process of this machine that has ended notices soon.

        Args:
            connection: The session.
            patient: Whether to answer False, for another try, while such a session has the lock.

        Raises:
            WriterLockedError: Another writer has it.
        """
        (schema,) = connection.execute(_SCHEMA).fetchone() or ("",)
        key = (_KEY, zlib.crc32(schema.encode()) & 0x7FFF_FFFF)
        (taken,) = connection.execute(_TAKE, key).fetchone() or (False,)
        if taken:
            return True
        found = connection.execute(_HOLDER, key).fetchone()
        if found is None:  # It let go just now.
            return False
        pid, name, since = found
        known = _SESSION.match(name or "")
        if name == self._session:
            connection.execute(_END, (pid,))
        ends = name == self._session or (known and _has_ended(int(known["pid"]), known["host"]))
        if patient and ends:
            return False
        holder = known["holder"] if known else f"session {name!r}, server process {pid}"
        began = f" since {since}" if since else ""
        reason = (
            f"database {self._database} is being written by {holder}{began}; stop it and try again"
        )
        raise WriterLockedError(reason)


def _has_ended(pid: int, host: str) -> bool:
    if host != socket.gethostname():
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False
