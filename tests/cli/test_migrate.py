"""`rebind migrate`: what is printed, what is refused, and that a refusal changes nothing."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from store.sql_store import SqlStore
from tests.cli.laboratory import FILES
from tests.cli.running import Finished, rebind
from tests.migration.stopped import checkpoint_file

FILE = "kubelet_internal_checkpoint"
ASIDE = f"{FILE}.retired"
BOTH_FILE_BELIEVED = "both are written, the file is believed"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("REBIND_")]:
        monkeypatch.delenv(name)
    shutil.copy(FILES / FILE, tmp_path)
    return tmp_path


def migrate(command: str, *options: str, file: str = FILE) -> Finished:
    return rebind("migrate", command, "--node", "n0", "--checkpoint", file, *options)


def values(finished: Finished) -> dict[str, str]:
    """Return name and value of each line of a table of pairs."""
    lines = [line.split("   ", 1) for line in finished.stdout.splitlines() if line[:1] != " "]
    return {line[0].strip(): line[-1].strip() for line in lines}


def test_a_plan_shows_every_step_and_changes_nothing(folder: Path) -> None:
    planned = migrate("plan")

    assert planned.code == 0
    assert planned.stdout.splitlines() == [
        "NODE        n0",
        "PHASE       checkpoint (no migration was begun): the file alone is written and believed",
        f"FILE        {FILE}: 2 bindings of 2 pods, format v2",
        "DATABASE    0 bindings of 0 pods, 0 resources, revision 0",
        "STEPS       4",
        "  imported: 2 bindings of 2 pods in the database; the file alone is written and believed",
        f"  dualWrite: 2 bindings of 2 pods in the database; {BOTH_FILE_BELIEVED}",
        (
            "  databasePrimary: 2 bindings of 2 pods in both; both are written, the database is "
            "believed"
        ),
        "  database: the file is set aside; the database alone is written and believed",
        "WARNINGS    0",
    ]
    assert [path.name for path in folder.iterdir()] == [FILE]


def test_a_dry_run_is_the_plan(folder: Path) -> None:
    assert migrate("run", "--dry-run").stdout == migrate("plan").stdout
    assert [path.name for path in folder.iterdir()] == [FILE]
    migrate("run")
    back = migrate("back", "--dry-run")

    assert "STEPS       4" in back.stdout
    assert back.stdout == migrate("plan", "--to", "checkpoint").stdout
    assert not (folder / FILE).exists()


def test_a_dry_run_that_is_refused_fails(folder: Path) -> None:
    (folder / FILE).write_bytes(b"{")

    assert migrate("run", "--dry-run").code == 1


def test_every_command_works_on_either_database(folder: Path, database_url: str) -> None:
    content = (folder / FILE).read_bytes()
    for command in ("plan", "run", "status", "plan", "back", "status"):
        finished = migrate(command, "--db", database_url)

        assert finished.code == 0, finished.stderr
    assert (folder / FILE).read_bytes() == content


def test_there_and_back_leaves_the_file_as_it_was(folder: Path) -> None:
    content = (folder / FILE).read_bytes()
    there = migrate("run")

    assert [line.split(":")[0] for line in there.stdout.splitlines()] == [
        "imported",
        "dualWrite",
        "databasePrimary",
        "database",
    ]
    assert not (folder / FILE).exists()
    assert (folder / ASIDE).read_bytes() == content
    back = migrate("back")

    assert [line.split(":")[0] for line in back.stdout.splitlines()] == [
        "databasePrimary",
        "dualWrite",
        "imported",
        "checkpoint",
    ]
    assert (folder / FILE).read_bytes() == content
    assert migrate("back").stdout == "node/n0 unchanged: it is at checkpoint\n"


def test_the_status_tells_phase_file_rows_and_whether_they_agree(folder: Path) -> None:
    migrate("run", "--to", "dualWrite")
    status = migrate("status")

    assert status.code == 0
    assert values(status) == {
        "NODE": "n0",
        "PHASE": f"dualWrite: {BOTH_FILE_BELIEVED}",
        "BELIEVED": "the file",
        "FILE": f"{FILE}: 2 bindings of 2 pods, format v2",
        "SET ASIDE": "-",
        "DATABASE": "2 bindings of 2 pods, 1 resource, revision 2",
        "COMPARED": "the same",
        "KUBELET": "does not answer",
        "VERDICT": "as the phase says",
    }
    (folder / FILE).write_bytes((folder / FILE).read_bytes()[:40])
    damaged = migrate("status")

    assert damaged.code == 1
    assert values(damaged)["BELIEVED"] == "the database"
    assert values(damaged)["COMPARED"] == (
        "the checkpoint file cannot be read: unexpected end of JSON input"
    )
    mended = migrate("run", "--to", "databasePrimary")

    assert mended.stdout.splitlines()[:2] == [
        (
            "differed: the checkpoint file cannot be read: unexpected end of JSON input; "
            "database counts"
        ),
        "mended: checkpoint",
    ]
    assert migrate("status").code == 0


@pytest.mark.parametrize(
    ("place", "aside"), [(".", ASIDE), ("device-plugins", ASIDE), ("other", f"other/{ASIDE}")]
)
def test_the_status_names_the_file_set_aside_as_the_file_was_named(
    folder: Path, place: str, aside: str
) -> None:
    """Out of a kubelet's plugin directory it goes one up, where nobody deletes it (S1.9)."""
    (folder / place).mkdir(exist_ok=True)
    file = str(Path(place, FILE))
    if place != ".":
        shutil.copy(folder / FILE, folder / place)
    migrate("run", file=file)

    assert values(migrate("status", file=file))["SET ASIDE"] == aside
    absolute = migrate("status", file=str(folder / file))
    assert values(absolute)["SET ASIDE"] == str(folder / aside)
    migrate("back", file=file)
    back = migrate("status", file=file)

    assert back.code == 0
    assert values(back)["SET ASIDE"] == f"{aside}: left of an earlier way there, nothing reads it"
    assert json.loads(migrate("status", "-o", "json", file=file).stdout)["setAside"] == aside


def test_a_file_that_lies_where_none_should_be_is_told_and_set_aside(folder: Path) -> None:
    migrate("run")
    shutil.copy(folder / ASIDE, folder / FILE)
    status = migrate("status")

    assert status.code == 1
    assert "a file lies where none should be" in values(status)["VERDICT"]
    assert migrate("run").stdout == "database: a file that nobody writes is set aside\n"
    assert not (folder / FILE).exists()
    assert migrate("status").code == 0


@pytest.mark.parametrize("form", ["json", "yaml"])
def test_programs_get_documents(form: str) -> None:
    planned = migrate("plan", "-o", form)
    ran = migrate("run", "--to", "imported", "-o", form)
    status = migrate("status", "-o", form)
    if form == "json":
        plan = json.loads(planned.stdout)

        assert plan["kind"] == "MigrationPlan"
        assert [step["phase"] for step in plan["steps"]] == [
            "imported",
            "dualWrite",
            "databasePrimary",
            "database",
        ]
        assert json.loads(ran.stdout)["steps"][0]["done"]
        assert json.loads(status.stdout)["phase"] == "imported"
        assert json.loads(status.stdout)["database"]["bindings"] == 2
    else:
        assert "kind: MigrationPlan" in planned.stdout
        assert "kind: Migration\n" in ran.stdout
        assert "kind: MigrationStatus" in status.stdout


def _replaced(folder: Path, old: bytes, new: bytes) -> None:
    path = folder / FILE
    path.write_bytes(path.read_bytes().replace(old, new))


def test_a_damaged_file_is_refused_and_nothing_is_made(folder: Path) -> None:
    _replaced(folder, b'"Checksum":', b'"Checksum":1')
    ran = migrate("run")

    assert ran.code == 2
    assert ran.stdout == ""
    assert ran.stderr == (
        f"error: node n0, {FILE}: kubelet 1.36.2 cannot read the checkpoint file: checkpoint is "
        "corrupted; put a sound file there, or name the version that wrote it\n"
    )
    assert [path.name for path in folder.iterdir()] == [FILE]
    planned = migrate("plan")

    assert planned.code == 1
    assert "  imported: refused: kubelet 1.36.2 cannot read" in planned.stdout


def test_a_missing_file_is_refused_unless_it_is_meant(folder: Path) -> None:
    (folder / FILE).unlink()
    ran = migrate("run")

    assert ran.code == 3
    assert ran.stderr.endswith("put it back, or say --missing-ok if the node has no bindings\n")
    assert list(folder.iterdir()) == []
    assert migrate("run", "--missing-ok").code == 0
    assert values(migrate("status"))["DATABASE"].startswith("0 bindings")


def test_a_file_that_is_lost_after_its_import_is_still_in_the_database(folder: Path) -> None:
    content = (folder / FILE).read_bytes()
    migrate("run", "--to", "imported")
    (folder / FILE).unlink()
    for command in ("run", "back"):
        refused = migrate(command)

        assert refused.code == 3
        assert refused.stderr.endswith("had: rebind checkpoint export --node n0\n")
    (folder / FILE).write_text(rebind("checkpoint", "export", "--node", "n0").stdout)

    assert (folder / FILE).read_bytes() == content
    assert migrate("back").code == 0


def test_a_device_under_two_pods_is_refused_unless_it_is_to_be_kept(folder: Path) -> None:
    content = checkpoint_file(2, devices=1)
    (folder / FILE).write_bytes(content)
    planned = migrate("plan")

    assert planned.code == 1
    assert "device gpu-0 of example.com/gpu stands under pods uid-0 and uid-1" in planned.stdout
    assert "  device gpu-0 of example.com/gpu is held by 2 pods: uid-0, uid-1" in planned.stdout
    refused = migrate("run")

    assert refused.code == 1
    assert "import with --on-conflict keep" in refused.stderr
    assert [path.name for path in folder.iterdir()] == [FILE]
    assert migrate("run", "--on-conflict", "keep").code == 0
    assert migrate("back").code == 0
    assert (folder / FILE).read_bytes() == content


def test_rows_that_no_migration_brought_are_refused_unless_they_may_go(folder: Path) -> None:
    shutil.copy(FILES / "before.checkpoint", folder)
    rebind("checkpoint", "import", "before.checkpoint", "--node", "n0")
    refused = migrate("run")

    assert refused.code == 1
    assert "node n0 already has other state" in refused.stderr
    assert values(migrate("status"))["DATABASE"].startswith("1 binding of 1 pod")
    assert migrate("run", "--replace").code == 0


def test_a_node_without_bindings_goes_there_and_back(folder: Path) -> None:
    (folder / FILE).write_bytes(checkpoint_file(0))

    assert migrate("run").code == 0
    assert migrate("back").code == 0
    assert (folder / FILE).read_bytes() == checkpoint_file(0)
    assert migrate("status", "-o", "json").code == 0


def test_a_step_that_is_refused_is_told_where_the_steps_are(folder: Path) -> None:
    migrate("run", "--to", "imported")
    _replaced(folder, b'"Checksum":', b'"Checksum":1')
    ran = migrate("run")

    assert ran.code == 2
    assert ran.stdout.startswith("dualWrite: refused: kubelet 1.36.2 cannot read the checkpoint")
    assert values(migrate("status"))["PHASE"].startswith("imported: ")


def test_the_other_direction_is_refused_with_the_command_that_goes_there() -> None:
    migrate("run", "--to", "databasePrimary")
    forward = migrate("run", "--to", "imported")

    assert (forward.code, forward.stderr) == (
        2,
        (
            "error: node n0 is at databasePrimary; to get to imported, use: rebind migrate back "
            "--node n0 --to imported\n"
        ),
    )
    assert migrate("back", "--to", "database").code == 2


def test_a_database_of_an_older_schema_is_told_before_what_is_wrong_with_the_file(
    folder: Path,
) -> None:
    migrate("run")
    migrate("back")
    rebind("db", "downgrade", "0002")
    (folder / FILE).unlink()
    ran = migrate("run")

    assert ran.code == 3
    assert "has schema 0002, this program needs 0004; run: rebind db upgrade" in ran.stderr


def test_a_node_on_its_way_keeps_the_schema_that_knows_its_phase(folder: Path) -> None:
    """Without the phase a start would believe the file."""
    migrate("run", "--to", "databasePrimary")
    refused = rebind("db", "downgrade", "0002")

    assert refused.code == 3
    assert refused.stderr == (
        "error: node n0 is on its way between file and database, which schema 0002 does not know; "
        "take it back first: rebind migrate back --node n0\n"
    )
    assert migrate("status").code == 0
    assert (folder / FILE).exists()


@pytest.mark.parametrize("command", ["status", "back"])
def test_without_a_database_there_is_nothing_to_tell_or_take_back(
    folder: Path, command: str
) -> None:
    finished = migrate(command)

    assert finished.code == 3
    assert finished.stderr.startswith("error: database rebind.db does not exist")
    assert [path.name for path in folder.iterdir()] == [FILE]


@pytest.fixture
def kubelet(folder: Path) -> Iterator[None]:
    with closing(socket.socket(socket.AF_UNIX)) as server:
        server.bind("kubelet.sock")
        server.listen()
        assert (folder / "kubelet.sock").exists()
        yield


@pytest.mark.usefixtures("kubelet")
def test_a_running_kubelet_is_not_migrated(folder: Path) -> None:
    ran = migrate("run")

    assert ran.code == 3
    assert ran.stderr == (f"error: a kubelet serves {folder}/kubelet.sock; stop it and try again\n")
    assert not (folder / "rebind.db").exists()
    assert migrate("plan").code == 0


def test_two_migrations_do_not_work_in_one_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    ran = migrate("run")
    os.close(handle)

    assert ran.code == 3
    assert ran.stderr == (f"error: another migration is at work in {folder}; wait for its end\n")


def test_another_writer_of_the_database_is_named(folder: Path) -> None:
    with closing(SqlStore(f"sqlite:///{folder}/rebind.db")):
        ran = migrate("run")

    assert ran.code == 3
    assert f"is being written by pid {os.getpid()}" in ran.stderr


def test_a_root_directory_names_the_file_of_the_one_node_or_of_this_node(folder: Path) -> None:
    for place in ("var/device-plugins", "run/n0/device-plugins"):
        (folder / place).mkdir(parents=True)
        shutil.copy(FILES / FILE, folder / place)
    for root, above in (("var", "var"), ("run", "run/n0")):
        database = f"sqlite:///{root}.db"
        ran = rebind("migrate", "run", "--node", "n0", "--root-dir", root, "--db", database)

        assert ran.code == 0, ran.stderr
        assert (folder / above / ASIDE).exists()
        assert not (folder / above / "device-plugins" / FILE).exists()
        assert list((folder / above / "device-plugins").iterdir()) == []


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (("--to", "elsewhere"), 2, "'elsewhere' is not one of"),
        (("--kubelet-version", "one"), 2, "one"),
        (("--node", "N 0"), 2, "is no name for a node"),
        (("--db", "mysql://x"), 2, "mysql"),
        (("--db", "sqlite://"), 2, "is in memory and ends with this command"),
        (("--checkpoint", "none/such"), 3, "No such file or directory; name the file with"),
        (("--checkpoint", "a file"), 3, "invalid key 'a file'"),
    ],
)
def test_bad_input_is_one_line_and_changes_nothing(
    folder: Path, options: tuple[str, ...], code: int, message: str
) -> None:
    ran = migrate("run", *options)

    assert ran.code == code
    assert message in ran.stderr
    assert ran.stderr.splitlines()[-1].startswith("error: ")
    assert [path.name for path in folder.iterdir()] == [FILE]


def test_a_file_larger_than_what_is_read_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("simulator.cli.commands.migrate.stopped_node.CHECKPOINT_SIZE_MAX", 10)
    ran = migrate("run")

    assert ran.code == 2
    assert "bytes are more than the 10 read" in ran.stderr
    assert not (folder / "rebind.db").exists()


def test_the_names_of_pods_come_from_their_manifests(folder: Path) -> None:
    shutil.copy(FILES / "pods.yaml", folder)
    migrate("run", "-f", "pods.yaml")
    pods = json.loads(rebind("get", "pods", "-o", "json").stdout)["items"]

    assert {pod["pod"]["uid"]: pod["pod"]["name"] for pod in pods}["pod-a"] == "trainer"
