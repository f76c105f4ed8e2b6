"""`rebind serve` as a process, and how commands find it."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pytest
import yaml

from simulator.cli.commands.serve.command import serve
from simulator.cli.examples import examples_of
from simulator.core.persistence.choosing import STRATEGIES
from tests.cli.laboratory import FILES
from tests.cli.running import Finished, rebind
from tests.server.running import running_server, short_folder

ROOT = Path(__file__).resolve().parents[2]
DEADLINE_S = 60.0
LISTED = r"Registered +[1-9]"
"""A plugin that has listed devices; before that pods run without (S3.7)."""
EXAMPLES = examples_of(serve.epilog)
TRAINER = (
    "{apiVersion: v1, kind: Pod, metadata: {name: trainer}, spec: {nodeName: n0, "
    "containers: [{name: main, image: x, resources: {limits: {example.com/gpu: 2}}}]}}"
)
IN_API = ("bind-resource", "binding-object", "checkpoint+api")


@contextmanager
def process(folder: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Run `rebind serve`, and end it at the end if nobody has."""
    environment = {name: text for name, text in os.environ.items() if "REBIND" not in name}
    environment |= {"PYTHONPATH": str(ROOT), "REBIND_HTTP": "none"}
    command = [sys.executable, "-m", "simulator.cli", "serve", *arguments]
    with subprocess.Popen(  # noqa: S603 - our own program
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        try:
            yield running
        finally:
            with contextlib.suppress(ProcessLookupError):
                running.kill()


def ready(running: subprocess.Popen[str]) -> str:
    """Return the ready line."""
    return line_of(running.stderr)


def line_of(stream: IO[str] | None) -> str:
    assert stream is not None
    return stream.readline()


@pytest.fixture
def folder() -> Iterator[Path]:
    with short_folder() as folder:
        yield folder


def at(folder: Path, *arguments: str) -> Finished:
    return rebind(*arguments, "--root-dir", str(folder / "lab"))


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_examples_of_serve_run_until_they_are_stopped(example: str, folder: Path) -> None:
    _, _, *arguments = shlex.split(example)
    with process(folder, *arguments) as running:
        said, place = ready(running), line_of(running.stderr)
        running.send_signal(signal.SIGINT)
        _, rest = running.communicate(timeout=DEADLINE_S)

    assert said.startswith("ready: ")
    assert place.startswith("  commands on ")
    assert place.endswith("/rebind.sock\n")
    assert max(len(said), len(place)) <= 80
    assert running.returncode == 0
    assert "stopping" in rest
    assert "Traceback" not in rest


def test_pods_and_bindings_are_there_again_after_kill_9(folder: Path) -> None:
    (folder / "pod.yaml").write_text(TRAINER)
    arguments = ("--root-dir", "lab")
    with process(folder, *arguments) as running:
        ready(running)
        at(folder, "plugin", "start", "fake")
        until_listed(folder)
        applied = at(folder, "apply", "-f", str(folder / "pod.yaml"))
        until_bound(folder)
        before = at(folder, "get", "bindings", "-o", "csv")
        running.kill()
    with process(folder, *arguments) as running:
        ready(running)
        after = at(folder, "get", "bindings", "-o", "csv")
        pods = at(folder, "get", "pods", "-o", "name")
        again = at(folder, "apply", "-f", str(folder / "pod.yaml"))
        holders = at(folder, "who-holds", "gpu-0", "-o", "csv")
        running.terminate()
        running.communicate(timeout=DEADLINE_S)

    assert (applied.code, applied.stdout) == (0, "pod/trainer created\n")
    assert "gpu-0,gpu-1" in before.stdout
    assert after.stdout == before.stdout
    assert pods.stdout == "pod/trainer\n"
    assert again.stdout == "pod/trainer unchanged\n"
    assert "default/trainer" in holders.stdout
    assert running.returncode == 0


@pytest.mark.parametrize("persistence", ["bind-resource", "binding-object"])
def test_what_an_api_server_in_the_same_process_has_is_there_again_after_kill_9(
    persistence: str, folder: Path
) -> None:
    (folder / "pod.yaml").write_text(TRAINER)
    own = ("--api", "--api-http", "127.0.0.1:0")
    arguments = ("--root-dir", "lab", "--persistence", persistence, *own)
    with process(folder, *arguments) as running:
        ready(running)
        at(folder, "plugin", "start", "fake")
        until_listed(folder)
        applied = at(folder, "apply", "-f", str(folder / "pod.yaml"))
        wait_for("Running", folder, "get", "pods")
        bindings = at(folder, "get", "bindings", "-o", "csv")
        [before] = pods_of(folder)
        running.kill()
    with process(folder, *arguments) as running:
        ready(running)
        until_bound(folder)  # A kubelet that starts learns of them with the pod.
        again = at(folder, "get", "bindings", "-o", "csv")
        [after] = pods_of(folder)

    assert (applied.code, applied.stdout) == (0, "pod/trainer created\n")
    assert "gpu-0,gpu-1" in bindings.stdout
    assert again.stdout == bindings.stdout
    assert after["metadata"]["uid"] == before["metadata"]["uid"]
    assert after["spec"] == before["spec"]
    for pod in (before, after):
        assert pod["status"]["phase"] == "Running"
        assert [each["restartCount"] for each in pod["status"]["containerStatuses"]] == [0]


def pods_of(folder: Path) -> list[Any]:
    found: list[Any] = json.loads(at(folder, "get", "pods", "-o", "json").stdout)["items"]
    return found


@pytest.mark.parametrize("options", ["", ":bulkBind=true"])
@pytest.mark.parametrize("persistence", IN_API)
def test_bindings_that_would_end_with_the_process_are_not_taken(
    persistence: str, options: str, folder: Path
) -> None:
    """Nothing that was acknowledged is ever lost."""
    if options and persistence == "binding-object":
        options = ":synchronous=false"
    refused = at(folder, "serve", "--persistence", persistence + options)

    assert (refused.code, refused.stdout) == (2, "")
    assert refused.stderr == (
        f"error: --persistence {persistence} keeps bindings in an API server, and none is given: "
        "what is kept there would be lost when this process ends; add --api, or name a server "
        "with --api-server or --kubeconfig\n"
    )
    assert list(folder.iterdir()) == []


def test_ids_in_the_status_need_no_api_server_since_the_checkpoint_has_them_too(
    folder: Path,
) -> None:
    (folder / "pod.yaml").write_text(TRAINER)
    arguments = ("--root-dir", "lab", "--persistence", "pod-status")
    with process(folder, *arguments) as running:
        ready(running)
        at(folder, "plugin", "start", "fake")
        until_listed(folder)
        at(folder, "apply", "-f", str(folder / "pod.yaml"))
        until_bound(folder)
        before = at(folder, "get", "bindings", "-o", "csv")
        running.kill()
    with process(folder, *arguments) as running:
        ready(running)
        after = at(folder, "get", "bindings", "-o", "csv")

    assert "gpu-0,gpu-1" in before.stdout
    assert after.stdout == before.stdout


def test_the_help_names_every_persistence_on_one_line(folder: Path) -> None:
    """A name that is broken at its hyphen can be neither found nor copied."""
    shown = at(folder, "serve", "--help").stdout
    option = shown[shown.index("--persistence ") : shown.index("--db ")]

    for name in STRATEGIES:
        assert re.search(rf"(?<![\w+-]){re.escape(name)}(?![\w+-])", option), name


def until_listed(folder: Path) -> None:
    wait_for(LISTED, folder, "get", "plugins")


def until_bound(folder: Path) -> None:
    wait_for("trainer", folder, "get", "bindings")


def wait_for(text: str, folder: Path, *arguments: str) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not re.search(text, at(folder, *arguments).stdout):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_second_server_in_one_directory_is_refused_with_the_first_ones_process(
    folder: Path,
) -> None:
    with process(folder, "--root-dir", "lab", "--persistence", "checkpoint") as running:
        ready(running)
        with process(folder, "--root-dir", "lab", "--persistence", "checkpoint") as second:
            _, said = second.communicate(timeout=DEADLINE_S)

        assert second.returncode == 3
        assert said.count("\n") == 1
        assert f"a server runs on lab/rebind.sock already (process {running.pid})" in said


def test_a_directory_that_is_too_long_for_sockets_is_refused_with_its_length(
    folder: Path,
) -> None:
    refused = rebind("serve", "--root-dir", str(folder / ("x" * 90)), "--http", "none")

    assert refused.code == 3
    assert "at most 107 are possible, so use a shorter folder" in refused.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--nodes", "0"), "0 nodes cannot be served; 1 to 1000 can"),
        (("--nodes", "a,a"), "the node a is named twice"),
        (("--nodes", "A_1"), "is no name for a node"),
        (("--persistence", "databse"), 'did you mean "database"'),
        (("--kubelet-version", "1.2.3.4"), "1.2.3.4"),
        (("--readmission", "often"), "'often' is not one of 'upstream', 'pinned'"),
    ],
)
def test_an_option_that_cannot_be_is_refused_in_one_line(
    arguments: tuple[str, ...], said: str
) -> None:
    refused = rebind("serve", *arguments)

    assert refused.code == 2
    assert said in refused.stderr
    assert refused.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "command",
    [
        ("restart kubelet", "n0"),
        ("serve", "--db", "nowhere://"),
        ("conform", "missing-plugin"),
    ],
)
def test_a_kubelet_that_is_not_known_yet_is_said_to_behave_like_the_newest(
    command: tuple[str, ...], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # None of them comes further: there is no server, no such database and no such plugin.
    monkeypatch.setenv("REBIND_ROOT_DIR", str(folder / "lab"))
    name, *others = command
    known, unknown = (
        rebind(*name.split(), "--kubelet-version", "1.36.2", *others),
        rebind(*name.split(), "--kubelet-version", "1.99", *others),
    )
    said = "kubelet 1.99 is newer than 1.36.2, the newest known; it behaves like that"

    assert known.code == unknown.code != 0
    assert "newest known" not in known.stderr
    assert said in unknown.stderr.splitlines()[0]


def test_a_command_that_wants_a_server_says_where_it_looked(folder: Path) -> None:
    missing = at(folder, "get", "events")
    named = rebind("apply", "-f", "x.yaml", "--server", f"unix://{folder}/other.sock")

    assert missing.code == named.code == 3
    assert missing.stderr == (
        f"error: no server runs on {folder}/lab/rebind.sock; start one with "
        f"`rebind serve --root-dir {folder}/lab`, or name its socket with --server\n"
    )
    assert f"no server runs on {folder}/other.sock" in named.stderr


def test_what_only_a_server_can_do_is_refused_on_a_database(folder: Path) -> None:
    watched = rebind("get", "pods", "-w", "--db", f"sqlite:///{folder}/rebind.db")

    assert watched.code == 2
    assert "-w wants a running server, and none runs" in watched.stderr


@pytest.fixture(scope="module")
def server() -> Iterator[Path]:
    """The root directory of a server that keeps no bindings in a database."""
    with short_folder() as root, running_server(root, http="127.0.0.1:0"):
        started = rebind(
            *("plugin", "start", "fake", "--node", "n0", "--root-dir", str(root)),
        )
        assert started.code == 0, started.stderr
        assert "within 10 s (S2.15)" in started.stderr
        yield root


def asked(server: Path, *arguments: str) -> Finished:
    return rebind(*arguments, "--root-dir", str(server))


def bound(server: Path) -> None:
    """Let a pod hold two devices."""
    deadline = time.monotonic() + DEADLINE_S
    while not re.search(LISTED, asked(server, "get", "plugins").stdout):
        assert time.monotonic() < deadline
    asked(server, "apply", "-f", str(FILES / "trainer.yaml"))
    while "Running" not in asked(server, "get", "pods", "trainer").stdout:
        assert time.monotonic() < deadline


def test_a_plugin_is_started_on_a_node_by_name_where_there_are_several(server: Path) -> None:
    for words in (("start", "fake"), ("stop", "fake")):
        refused = asked(server, "plugin", *words)
        reason = "there are 2 nodes; name one with --node: n0, n1"

        assert (refused.code, refused.stdout) == (2, ""), words
        assert refused.stderr.startswith(f"error: {reason}; see `rebind plugin "), words


def test_the_help_says_that_no_recording_is_made_of_an_api_server(folder: Path) -> None:
    (folder / "config").touch()
    recording = ("--record", str(folder / "run.jsonl"))
    refused = [
        option
        for option in ("--api", "--api-server=http://127.0.0.1:9", f"--kubeconfig={folder}/config")
        if "--record cannot be used with" in rebind("serve", *recording, option).stderr
    ]
    text = " ".join(rebind("serve", "--help").stdout.split())

    assert [option.partition("=")[0] for option in refused] == [
        "--api",
        "--api-server",
        "--kubeconfig",
    ]
    assert "not together with --api, --api-server or --kubeconfig" in text


def test_a_recording_is_never_written_over(folder: Path) -> None:
    there = folder / "run.jsonl"
    there.write_text("mine")
    arguments = ("--root-dir", str(folder / "lab"), "--http", "none", "--record", str(there))
    refused = rebind("serve", "--persistence", "checkpoint", *arguments)

    assert (refused.code, there.read_text()) == (3, "mine")
    assert refused.stderr == (
        f"error: {there}: there is such a file already; name a new one for the recording\n"
    )


def test_answers_that_come_from_the_records_say_so(server: Path) -> None:
    """Details 12."""
    bound(server)

    for command in (
        *(("get", "bindings"), ("get", "devices"), ("who-holds", "gpu-0")),
        *(("history", "device", "gpu-0"), ("history", "pod", "trainer")),
    ):
        lines = asked(server, *command).stdout.splitlines()
        assert [line.split()[-1] for line in lines[:2]] == ["SOURCE", "records"], command
    documents = json.loads(asked(server, "get", "bindings", "-o", "json").stdout)
    assert [item["source"] for item in documents["items"]] == ["records"]


def test_objects_are_printed_as_kubectl_prints_them(server: Path) -> None:
    bound(server)
    listed = json.loads(asked(server, "get", "pods", "-o", "json").stdout)
    one = yaml.safe_load(asked(server, "get", "pods", "trainer", "-o", "yaml").stdout)
    node = json.loads(asked(server, "get", "nodes", "n0", "-o", "json").stdout)

    assert (listed["apiVersion"], listed["kind"]) == ("v1", "List")
    assert (one["apiVersion"], one["kind"]) == ("v1", "Pod")
    assert one["metadata"]["name"] == "trainer"
    assert (node["kind"], node["status"]["nodeInfo"]["kubeletVersion"]) == ("Node", "v1.36.2")
    assert asked(server, "get", "pods", "-o", "name", "--node", "n0").stdout == "pod/trainer\n"


def test_a_description_is_laid_out_below_its_headings(server: Path) -> None:
    bound(server)
    pod = asked(server, "describe", "pod", "trainer").stdout
    node = asked(server, "describe", "node", "n0").stdout

    assert re.search(r"^Name:\s+trainer$", pod, re.MULTILINE)
    assert re.search(r"^    Devices:\s+example\.com/gpu=gpu-0,gpu-1$", pod, re.MULTILINE)
    assert "      EXAMPLE_COM_GPU:  gpu-0,gpu-1" in pod
    assert "      /dev/gpu-0 from /dev/gpu-0 (rw)" in pod
    assert re.search(r"^  example\.com/gpu +8 +8 +2 +8 +Registered$", node, re.MULTILINE)
    assert "  default/trainer   Running   example.com/gpu=2" in node


def test_a_watch_prints_a_line_for_each_change_until_the_server_ends() -> None:
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    with short_folder() as root, contextlib.ExitStack() as server:
        server.enter_context(running_server(root))
        command = [sys.executable, "-m", "simulator.cli", "get", "nodes", "-w"]
        with subprocess.Popen(  # noqa: S603 - our own program
            [*command, "--root-dir", str(root)],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as watching:
            first = [line_of(watching.stdout) for _ in range(3)]
            rebind("plugin", "start", "fake", "--node", "n1", "--root-dir", str(root))
            changed = line_of(watching.stdout)
            server.close()
            watching.communicate(timeout=DEADLINE_S)

    assert first[0].split()[:4] == ["NODE", "STATUS", "VERSION", "RESOURCE"]
    assert [line.split()[0] for line in first[1:]] == ["n0", "n1"]
    assert changed.split()[0] == "n1"
    assert watching.returncode == 0


def test_an_address_that_is_taken_is_refused_with_what_to_do(server: Path) -> None:
    info = rebind("describe", "node", "n0", "--root-dir", str(server))
    with socket.socket() as taken, short_folder() as folder:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        refused = rebind(
            *("serve", "--root-dir", str(folder / "lab"), "--persistence", "checkpoint"),
            *("--http", address),
        )

    assert info.code == 0
    assert refused.code == 3
    assert refused.stderr.count("\n") == 1
    assert f"http://{address}" in refused.stderr
    assert "give another --http, or --http none" in refused.stderr
