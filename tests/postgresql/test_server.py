"""The PostgreSQL of the tests is a real one, ours alone, and leaves nothing behind."""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import sys
from contextlib import closing, suppress

from sqlalchemy import NullPool, create_engine, text

from benchmarks.postgresql_server import PostgresServer

STARTED_AND_KILLED = """
import os, signal
from benchmarks.postgresql_server import PostgresServer
server = PostgresServer()
server.start()
print(server.pid, server.folder, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_database_is_empty_and_in_byte_order(postgres_url: str) -> None:
    with create_engine(postgres_url, poolclass=NullPool).connect() as connection:
        tables = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"
        collation = "SELECT datcollate FROM pg_database WHERE datname = current_database()"

        assert connection.scalar(text(tables)) == 0
        assert connection.scalar(text(collation)) == "C"
        assert connection.scalar(text("SHOW listen_addresses")) == ""


def test_databases_are_apart(postgres: PostgresServer) -> None:
    names = [postgres.make_database(), postgres.make_database()]
    with (
        closing(postgres.connect(names[0])) as first,
        closing(postgres.connect(names[1])) as second,
    ):
        first.execute("CREATE TABLE only_here (id integer)")
        found = second.execute("SELECT to_regclass('only_here')").fetchone()

    assert found == (None,)
    for name in names:
        postgres.drop_database(name)


def test_a_server_that_was_killed_starts_again_with_its_data() -> None:
    server = PostgresServer()
    try:
        server.start()
        with closing(server.connect()) as connection:
            connection.execute("CREATE TABLE kept (id integer)")
        server.stop(signal.SIGKILL)
        server.start()
        with closing(server.connect()) as connection:
            assert connection.execute("SELECT count(*) FROM kept").fetchone() == (0,)
    finally:
        server.close()

    assert not server.folder.exists()


def test_the_server_ends_with_a_process_that_is_killed() -> None:
    killed = subprocess.run(  # noqa: S603 - our own text, run by this very Python
        [sys.executable, "-c", STARTED_AND_KILLED],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        check=False,
    )
    pid, folder = killed.stdout.decode().split()
    with suppress(ProcessLookupError):
        gone = os.pidfd_open(int(pid))
        assert select.select([gone], [], [], 30.0)[0], "the server outlives who started it"
        os.close(gone)
    shutil.rmtree(folder)

    assert killed.returncode == -signal.SIGKILL
