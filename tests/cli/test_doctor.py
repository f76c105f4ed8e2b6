"""`rebind doctor`: what it sees of a node, and that it touches nothing."""

from __future__ import annotations

import json
import os
import shutil
import socket
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
import yaml

from simulator.core.instants import Instant
from simulator.core.transitions import NodeBooted, NodeName
from store.sql_store import SqlStore
from tests.cli.running import rebind

FILES = Path(__file__).parent / "files"
PLUGINS = "device-plugins"
CHECKPOINT = f"{PLUGINS}/kubelet_internal_checkpoint"
HELD_TWICE = (
    '{"Data":{"PodDeviceEntries":[{"PodUID":"a-pod-uid-1","ContainerName":"nb","ResourceName":'
    '"nvidia.com/gpu","DeviceIDs":["GPU-2e9b8d40-6c15-4f7a-8b23-91d4c0e7f3a2"],"AllocResp":'
    '"CkIKFk5WSURJQV9WSVNJQkxFX0RFVklDRVMSKEdQVS0yZTliOGQ0MC02YzE1LTRmN2EtOGIyMy05MWQ0YzBlN2YzYTI="'
    '},{"PodUID":"a-pod-uid-2","ContainerName":"nb","ResourceName":"nvidia.com/gpu","DeviceIDs":'
    '["GPU-2e9b8d40-6c15-4f7a-8b23-91d4c0e7f3a2"],"AllocResp":'
    '"CkIKFk5WSURJQV9WSVNJQkxFX0RFVklDRVMSKEdQVS0yZTliOGQ0MC02YzE1LTRmN2EtOGIyMy05MWQ0YzBlN2YzYTI="'
    '}],"RegisteredDevices":{"nvidia.com/gpu":["GPU-1f0a7c3e-52b4-4d19-9e6a-0c8d3b7a51e0",'
    '"GPU-2e9b8d40-6c15-4f7a-8b23-91d4c0e7f3a2"]}},"Checksum":3942923086}'
)


@pytest.fixture
def node(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The current folder, with a kubelet's root `kubelet`; short, since sockets are in it."""
    with tempfile.TemporaryDirectory(prefix="rb") as name:
        folder = Path(name)
        monkeypatch.chdir(folder)
        monkeypatch.setenv("COLUMNS", "80")
        (folder / "kubelet" / PLUGINS).mkdir(parents=True, mode=0o750)
        shutil.copy(FILES / "kubelet_internal_checkpoint", folder / "kubelet" / CHECKPOINT)
        (folder / "kubelet" / CHECKPOINT).chmod(0o600)
        with ExitStack() as stack:
            for path in (f"{PLUGINS}/kubelet.sock", f"{PLUGINS}/gpu.sock"):
                served(folder / "kubelet" / path, stack)
            yield folder


def served(path: Path, stack: ExitStack) -> None:
    server = stack.enter_context(closing(socket.socket(socket.AF_UNIX)))
    server.bind(str(path))
    server.listen()


def stale(path: Path) -> None:
    with ExitStack() as stack:
        served(path, stack)


def checks(*arguments: str) -> dict[str, tuple[str, str]]:
    finished = rebind("doctor", "--root-dir", "kubelet", *arguments, "-o", "json")
    document = json.loads(finished.stdout)
    return {each["check"]: (each["result"], each["seen"]) for each in document["checks"]}


def imported(file: str = "kubelet_internal_checkpoint", node: str = "n0") -> None:
    assert rebind("checkpoint", "import", str(FILES / file), "--node", node).code == 0


def test_a_sound_node_is_fine(node: Path) -> None:
    imported()
    finished = rebind("doctor", "--root-dir", "kubelet")

    assert finished.code == 0
    assert finished.stdout.splitlines()[-1].endswith("checks: 0 problems, 0 warnings")
    seen = checks()
    assert {result for result, _ in seen.values()} == {"ok"}
    assert seen["plugin sockets"] == ("ok", "2 sockets, all served: gpu.sock, kubelet.sock")
    assert seen["checkpoint"] == ("ok", "valid, format V2, 2 entries")
    assert seen["next start"] == ("ok", "kubelet 1.36.2 restores 2 entries")
    assert seen["database writer"] == ("ok", "nobody is writing it")
    assert seen["node"] == ("ok", "n0: 2 bindings of 2 pods")
    assert seen["file and database"] == ("ok", "the same 2 bindings")
    assert node.name


def everything(folder: Path) -> dict[str, tuple[int, ...]]:
    found: dict[str, tuple[int, ...]] = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        content = hash(path.read_bytes()) if path.is_file() else 0
        found[str(path)] = (status.st_ino, status.st_mtime_ns, status.st_mode, content)
    return found


def test_nothing_is_written_while_another_process_writes(node: Path) -> None:
    imported()
    with closing(SqlStore("sqlite:///rebind.db")) as store:
        store.apply([NodeBooted(node=NodeName("n1"), at=Instant(1), boot_id="b")])
        assert (node / "rebind.db-wal").stat().st_size > 0
        before = everything(node)
        seen = checks("--node", "n0")

        assert everything(node) == before
    assert seen["database writer"][1].startswith(f"pid {os.getpid()} on ")
    assert seen["file and database"] == ("ok", "the same 2 bindings")


def test_stale_sockets_left_files_and_loose_modes_are_warnings(node: Path) -> None:
    """R26, S4.9, S1.9a."""
    plugins = node / "kubelet" / PLUGINS
    stale(plugins / "old.sock")
    for name in ("DEPRECATION", ".123456789", "notes.txt"):
        (plugins / name).touch()
    (plugins / "subfolder").mkdir()
    (node / "kubelet" / CHECKPOINT).chmod(0o644)
    (node / "kubelet" / "pod-resources").mkdir()
    stale(node / "kubelet" / "pod-resources" / "kubelet.sock")
    seen = checks("--kubelet-version", "1.32")
    finished = rebind("doctor", "--root-dir", "kubelet", "--kubelet-version", "1.32")

    assert finished.code == 0
    assert seen["plugin sockets"] == (
        "warning",
        "1 socket of 3 without a server: old.sock (connection refused)",
    )
    assert seen["temporary files"][0] == "warning"
    assert seen["temporary files"][1].startswith(".123456789: left by writes")
    assert seen["DEPRECATION"][0] == "warning"
    assert seen["other files"] == ("warning", "notes.txt: not a kubelet's and no socket")
    assert seen["mode"][1] == "kubelet_internal_checkpoint has mode 0644, a kubelet makes it 0600"
    assert seen["PodResources socket"][0] == "warning"
    assert "kubelet 1.32 removes them at its next" in " ".join(finished.stdout.split())
    assert max(map(len, finished.stdout.splitlines())) <= 80


def test_a_folder_or_file_that_others_can_write_is_a_problem(node: Path) -> None:
    (node / "kubelet" / CHECKPOINT).chmod(0o666)
    (node / "kubelet" / PLUGINS).chmod(0o777)
    seen = checks()

    assert rebind("doctor", "--root-dir", "kubelet").code == 1
    assert seen["mode"][0] == "problem"
    assert seen["folder"][0] == "problem"


def test_a_folder_without_the_kubelets_socket_is_told(node: Path) -> None:
    (node / "kubelet" / PLUGINS / "kubelet.sock").unlink()

    assert checks()["plugin sockets"] == ("warning", "no kubelet.sock; 1 other socket")


def test_a_socket_whose_path_is_too_long_cannot_be_served(node: Path) -> None:
    """Conventions 4, trap 5: 107 bytes."""
    name = "x" * 100
    stale(node / "kubelet" / PLUGINS / "short")
    (node / "kubelet" / PLUGINS / "short").rename(node / "kubelet" / PLUGINS / name)
    finished = rebind("doctor", "--root-dir", str(node / "kubelet"), "-o", "json")

    assert "its path has more than 107 bytes" in finished.stdout


@pytest.mark.parametrize(
    ("content", "seen"),
    [
        ("{", "checkpoint is not JSON"),
        ('{"Data":{"PodDeviceEntries":null,"RegisteredDevices":{}},"Checksum":1}', "corrupted"),
        ('{"policyName":"none","defaultCpuSet":"","checksum":1}', "cpu_manager_state"),
    ],
)
def test_a_checkpoint_that_no_kubelet_can_use_is_a_problem(
    node: Path, content: str, seen: str
) -> None:
    (node / "kubelet" / CHECKPOINT).write_text(content, encoding="utf-8")
    found = checks()["checkpoint"]

    assert found[0] == "problem"
    assert seen in found[1]


def test_a_file_too_large_to_be_read_is_not_called_damaged(node: Path) -> None:
    """A kubelet has no such limit; nothing is known about its next start."""
    assert node.exists()
    finished = rebind("doctor", "--root-dir", "kubelet", "--max-size", "10")

    assert finished.code == 0
    assert "raise --max-size" in " ".join(finished.stdout.split())
    assert "without any record" not in finished.stdout


def test_a_link_to_the_file_is_read_and_nobody_is_told_to_move_it(node: Path) -> None:
    """S4.9: read through the link; the next write is renamed over it."""
    path = node / "kubelet" / CHECKPOINT
    path.rename(node / "elsewhere")
    path.symlink_to(node / "elsewhere")
    text = " ".join(rebind("doctor", "--root-dir", "kubelet").stdout.split())

    assert "kubelet 1.36.2 restores 2 entries" in text
    assert f"it is a link to {node / 'elsewhere'}" in text
    assert "move it away" not in text


def test_a_link_to_a_socket_is_one_that_a_kubelet_removes(node: Path) -> None:
    """S1.9: what is a socket is found out through links."""
    (node / "kubelet" / PLUGINS / "link.sock").symlink_to("gpu.sock")

    assert checks()["plugin sockets"][1] == (
        "3 sockets, all served: gpu.sock, kubelet.sock, link.sock"
    )


def test_what_is_wrong_comes_first(node: Path) -> None:
    (node / "kubelet" / CHECKPOINT).chmod(0o666)
    (node / "kubelet" / PLUGINS / "notes.txt").touch()
    lines = rebind("doctor", "--root-dir", "kubelet").stdout.splitlines()
    results = [line.split()[0] for line in lines[:-1] if line[0] != " "]

    assert results[:3] == ["problem", "warning", "ok"]


def test_a_dead_socket_of_the_kubelet_means_that_it_does_not_run(node: Path) -> None:
    (node / "kubelet" / PLUGINS / "kubelet.sock").unlink()
    stale(node / "kubelet" / PLUGINS / "kubelet.sock")
    text = " ".join(rebind("doctor", "--root-dir", "kubelet").stdout.split())

    assert "1 socket of 2 without a server: kubelet.sock" in text
    assert "the kubelet does not run: start it" in text


def test_no_checkpoint_is_fine_and_a_link_to_nowhere_is_not(node: Path) -> None:
    """R58, R59."""
    path = node / "kubelet" / CHECKPOINT
    path.unlink()
    assert checks()["checkpoint"][0] == "ok"
    path.symlink_to("nowhere")
    assert checks()["checkpoint"][0] == "problem"


def test_a_device_under_two_pods_is_a_problem_in_file_and_database(node: Path) -> None:
    """R79, F06."""
    path = node / "kubelet" / CHECKPOINT
    path.write_text(HELD_TWICE, encoding="utf-8")
    arguments = ("checkpoint", "import", str(path), "--node", "n0", "--on-conflict", "keep")
    assert rebind(*arguments).code == 0
    seen = checks("--kubelet-version", "1.19")

    assert seen["checkpoint"][0] == "problem"
    assert seen["held twice"] == (
        "problem",
        "GPU-2e9b8d40-6c15-4f7a-8b23-91d4c0e7f3a2: held by two pods since an import",
    )
    assert seen["file and database"][0] == "ok"


def test_a_format_that_the_kubelet_does_not_read_is_a_problem(node: Path) -> None:
    assert node.exists()
    found = checks("--kubelet-version", "1.19")["next start"]

    assert found[0] == "problem"
    assert "cannot read it and starts without any record" in found[1]


def test_a_database_that_says_something_else_than_the_file_is_a_problem(node: Path) -> None:
    assert node.exists()
    imported("before.checkpoint")
    found = checks()["file and database"]

    assert found[0] == "problem"
    assert found[1].startswith("2 bindings only in the file (pod-a/main vendor.com/gpu, ")
    assert "1 binding only in the database" in found[1]


def test_a_database_of_another_schema_names_the_command_that_helps(node: Path) -> None:
    assert node.exists()
    imported()
    assert rebind("db", "downgrade", "0001").code == 0
    finished = rebind("doctor", "--root-dir", "kubelet")

    assert finished.code == 1
    assert "rebind db upgrade --db sqlite:///rebind.db" in finished.stdout


def test_a_database_of_a_newer_schema_is_not_to_be_upgraded_by_this_program(node: Path) -> None:
    imported()
    with closing(sqlite3.connect(node / "rebind.db")) as database:
        database.execute("UPDATE alembic_version SET version_num = '9999'")
        database.commit()
    text = " ".join(rebind("doctor", "--root-dir", "kubelet").stdout.split())

    assert "revision 9999, newer than this program's" in text
    assert "use the Rebind that wrote it" in text
    assert "db upgrade" not in text


@pytest.mark.parametrize(("phase", "result"), [("imported", "warning"), ("dualWrite", "problem")])
def test_a_difference_is_judged_by_how_far_the_migration_is(
    node: Path, phase: str, result: str
) -> None:
    """While one side alone is written, the other one is of before."""
    (node / "kubelet" / PLUGINS / "kubelet.sock").unlink()
    to = ("--node", "n0", "--root-dir", "kubelet")
    assert rebind("migrate", "run", *to, "--to", phase).code == 0
    assert checks("--node", "n0")["file and database"] == ("ok", "the same 2 bindings")
    shutil.copy(FILES / "before.checkpoint", node / "kubelet" / CHECKPOINT)
    seen = checks("--node", "n0")

    assert seen["migration"][1].startswith(f"phase {phase}: ")
    assert seen["file and database"][0] == result


@pytest.mark.parametrize(
    ("phase", "result", "seen"),
    [
        ("imported", "problem", "there is none, but in phase imported the file alone is written"),
        ("dualWrite", "problem", "there is none, but in phase dualWrite both are written"),
        ("database", "ok", "there is none, as it should be: in phase database the database alone"),
    ],
)
def test_a_missing_file_is_judged_by_how_far_the_migration_is(
    node: Path, phase: str, result: str, seen: str
) -> None:
    (node / "kubelet" / PLUGINS / "kubelet.sock").unlink()
    to = ("--node", "n0", "--root-dir", "kubelet")
    assert rebind("migrate", "run", *to, "--to", phase).code == 0
    (node / "kubelet" / CHECKPOINT).unlink(missing_ok=True)
    found = checks("--node", "n0")

    assert found["migration"][1].startswith(f"phase {phase}: ")
    assert found["checkpoint"][0] == result
    assert found["checkpoint"][1].startswith(seen)


def test_a_node_that_went_back_to_the_file_has_nothing_that_disagrees(node: Path) -> None:
    (node / "kubelet" / PLUGINS / "kubelet.sock").unlink()
    to = ("--node", "n0", "--root-dir", "kubelet")
    assert rebind("migrate", "run", *to).code == 0
    assert rebind("migrate", "back", *to).code == 0
    seen = checks("--node", "n0")

    assert seen["migration"] == ("ok", "phase checkpoint: the file alone is written and believed")
    assert seen["file and database"] == (
        "ok",
        "the file alone; the database's bindings ended when the node went back",
    )


def test_a_pipe_in_the_places_of_files_is_no_reason_to_wait(node: Path) -> None:
    (node / "kubelet" / CHECKPOINT).unlink()
    os.mkfifo(node / "kubelet" / CHECKPOINT)
    os.mkfifo(node / "rebind.db")
    seen = checks()

    assert seen["checkpoint"][0] == "problem"
    assert seen["database"] == (
        "problem",
        "database rebind.db: `rebind.db` is a named pipe; name a database with --db",
    )


@pytest.mark.parametrize("content", [b"", b"no database at all"])
def test_a_file_that_is_no_database_is_a_problem(node: Path, content: bytes) -> None:
    (node / "rebind.db").write_bytes(content)
    found = checks()["database"]

    assert found[0] == "problem"
    assert found[1].startswith("database rebind.db: ")


def test_of_several_nodes_one_is_named(node: Path) -> None:
    assert node.exists()
    imported()
    imported("before.checkpoint", "n1")

    assert checks()["node"] == ("ok", "2 nodes: n0, n1; name one with --node")
    assert "file and database" not in checks()
    assert checks("--node", "n0")["file and database"][0] == "ok"
    assert checks("--node", "n7")["node"] == (
        "warning",
        "n7 is not in the database; there: n0, n1",
    )


def test_the_folder_of_a_node_is_found_below_the_root_and_as_such(node: Path) -> None:
    (node / "kubelet").rename(node / "n0")
    (node / "run").mkdir()
    (node / "n0").rename(node / "run" / "n0")

    for arguments in (
        ("--root-dir", "run"),
        ("--root-dir", "run", "--node", "n0"),
        ("--root-dir", "run/n0"),
        ("--root-dir", f"run/n0/{PLUGINS}"),
    ):
        assert rebind("doctor", *arguments).code == 0, arguments
    (node / "run" / "n1" / PLUGINS).mkdir(parents=True)
    finished = rebind("doctor", "--root-dir", "run")
    assert finished.code == 2
    assert "name one with --node: n0, n1" in finished.stderr


def test_of_many_nodes_a_few_are_named(node: Path) -> None:
    imported()
    for number in range(40):
        (node / "run" / f"n{number}" / PLUGINS).mkdir(parents=True)
    unnamed = rebind("doctor", "--root-dir", "run")
    absent = rebind("doctor", "--root-dir", "run", "--node", "n77")

    assert unnamed.code == 2
    assert (
        "run has folders of 40 nodes; name one with --node: n0, n1, n10, n11, n12 and 35 more"
        in (unnamed.stderr)
    )
    assert "run has no folder of node n77; there: n0, n1, n10, n11, n12 and 35 more;" in " ".join(
        absent.stdout.split()
    )


def test_only_a_database_or_only_a_folder_is_enough_and_nothing_is_not(node: Path) -> None:
    assert checks()["database"] == (
        "ok",
        "sqlite:///rebind.db is not there; only the folder is seen",
    )
    shutil.rmtree(node / "kubelet")
    finished = rebind("doctor", "--root-dir", "kubelet")
    assert finished.code == 3
    assert finished.stderr.startswith("error: nothing to look at: kubelet is no kubelet's folder")
    assert finished.stderr.count("\n") == 1
    imported()
    assert checks()["folder"] == (
        "warning",
        "kubelet is no kubelet's folder; only the database is seen",
    )
    assert rebind("doctor").stdout.startswith("ok       folder: rebind-run is no kubelet's folder")


def test_a_postgresql_database_is_looked_at_as_well(node: Path, postgres_url: str) -> None:
    assert node.exists()
    file = str(FILES / "kubelet_internal_checkpoint")
    assert rebind("checkpoint", "import", file, "--node", "n0", "--db", postgres_url).code == 0
    seen = checks("--db", postgres_url)

    assert seen["database schema"][0] == "ok"
    assert seen["file and database"] == ("ok", "the same 2 bindings")


def test_a_server_that_is_not_there_is_a_problem(node: Path) -> None:
    absent = f"postgresql+psycopg://user:secret@localhost/rebind?host={node}"
    finished = rebind("doctor", "--root-dir", "kubelet", "--db", absent)

    assert finished.code == 1
    assert "problem  database: " in finished.stdout
    assert "secret" not in finished.stdout


def test_documents_say_the_same_in_yaml(node: Path) -> None:
    assert node.exists()
    arguments = ("doctor", "--root-dir", "kubelet")
    document = json.loads(rebind(*arguments, "-o", "json").stdout)

    assert document["kind"] == "NodeExamination"
    assert yaml.safe_load(rebind(*arguments, "-o", "yaml").stdout) == document
