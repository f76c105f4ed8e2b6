"""The commands that use a database, on PostgreSQL: the same answers, errors in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.laboratory import furnish
from tests.cli.running import rebind

IMPORT = ("checkpoint", "import", "kubelet_internal_checkpoint", "--node", "n0")


@pytest.fixture(autouse=True)
def laboratory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    furnish(tmp_path)


def test_a_node_goes_in_and_comes_out_as_it_does_in_sqlite(postgres_url: str) -> None:
    db = ("--db", postgres_url)

    assert rebind(*IMPORT, "--dry-run", *db).stdout == (
        "node/n0 imported (dry run): 2 bindings of 2 pods, revision 1\n"
    )
    assert rebind(*IMPORT, *db).stdout == "node/n0 imported: 2 bindings of 2 pods, revision 1\n"
    assert rebind(*IMPORT, "--dry-run", *db).stdout == (
        "node/n0 unchanged (dry run): 2 bindings of 2 pods, revision 1\n"
    )
    for question in (
        ("get", "nodes"),
        ("get", "devices"),
        ("get", "pods"),
        ("get", "bindings", "-o", "json"),
        ("checkpoint", "export", "-", "--node", "n0"),
    ):
        assert rebind(*question, *db).stdout == rebind(*question).stdout
    assert " pod-a " in rebind("who-holds", "gpu0", *db).stdout
    assert "2 entries of 2 pods, 491 bytes" in rebind("history", "pod", "pod-a", *db).stdout


def test_the_schema_is_looked_after(postgres_url: str) -> None:
    db = ("--db", postgres_url)

    assert rebind("db", "current", *db).stdout == "schema none (needed: 0004)\n"
    empty = rebind("get", "nodes", *db)
    assert (empty.code, empty.stderr) == (
        3,
        f"error: database {postgres_url} is empty; run: rebind db upgrade --db {postgres_url}\n",
    )
    assert rebind("db", "upgrade", *db).stdout == "schema 0004\n"
    assert rebind("db", "check", *db).code == 0
    assert rebind("db", "compact", *db).stdout == "dropped 0 changes\n"
    assert rebind("db", "recover", *db).stdout.startswith("nothing to recover")
    assert rebind("db", "downgrade", "0001", *db).stdout == "schema 0001\n"
    assert rebind("db", "check", *db).code == 1
    older = rebind("get", "nodes", *db)
    assert older.code == 3
    assert f"run: rebind db upgrade --db {postgres_url}" in older.stderr
    assert rebind("db", "downgrade", "base", *db).stdout == "schema none\n"


@pytest.mark.parametrize(
    "command",
    [
        ("db", "upgrade"),
        ("db", "current"),
        ("db", "check"),
        ("db", "compact"),
        ("db", "recover"),
        ("db", "downgrade", "0001"),
        ("get", "nodes"),
        ("who-holds", "gpu0"),
        IMPORT,
        (*IMPORT, "--dry-run"),
    ],
)
def test_a_server_that_is_down_is_one_line_without_the_password(command: tuple[str, ...]) -> None:
    found = rebind(*command, "--db", "postgresql://me:secret@127.0.0.1:1/x")

    assert found.code == 3
    assert found.stdout == ""
    assert found.stderr.count("\n") == 1
    assert found.stderr.startswith(
        "error: database postgresql+psycopg://me:***@127.0.0.1:1/x: no server answers there; "
    )
    assert "secret" not in found.stderr
