"""Hypothesis profiles (`dev`; `ci` in `make test`; `soak` in `make soak`) and a PostgreSQL."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from benchmarks.postgresql_server import PostgresServer, ServerUnusableError

settings.register_profile("dev", max_examples=50, deadline=None)
settings.register_profile(
    "ci", max_examples=100, deadline=None, derandomize=True, print_blob=True, database=None
)
settings.register_profile(
    "soak",
    max_examples=5_000,
    deadline=timedelta(minutes=1),
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """Return a running PostgreSQL, one for each process of the test run that needs it."""
    try:
        server = PostgresServer()
        server.start()
    except ServerUnusableError as error:
        pytest.fail(f"tests of PostgreSQL need the group `dev`: {error}", pytrace=False)
    yield server
    server.close()


@pytest.fixture
def postgres_url(postgres: PostgresServer) -> Iterator[str]:
    """Return the URL of an empty database that no other test has."""
    name = postgres.lend_database()
    yield postgres.url(name)
    postgres.give_back(name)


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the URL of an empty database of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/rebind.db"
    url: str = request.getfixturevalue("postgres_url")
    return url
