"""A recorded live run, done again in virtual time, says the same."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from simulator.cli.object_tables import Object, text
from simulator.core.instants import Instant
from simulator.core.records import NodeStatusReported, Stamped
from simulator.core.transitions import NodeName
from simulator.errors import ConfigError
from simulator.protocol import control_services as methods
from simulator.protocol import rebind_control_pb2 as control
from simulator.server.kept import Kept
from simulator.server.recordings.inputs import INPUTS
from simulator.server.recordings.playback import play, read_recording
from simulator.server.recordings.recording import Beginning, Recorder, line_of
from simulator.wire.control_client import ControlClient, connected
from tests.server.full_disk import file_sizes_up_to
from tests.server.running import RUN, running_server, short_folder
from tests.server.test_service import (
    a_pod,
    apply,
    delete,
    found,
    phase,
    plugin_state,
    serves,
    until,
)

NODE = NodeName("n0")
LIVE = ("database", "checkpoint")


def recorded(path: Path) -> list[dict[str, object]]:
    """Return the records of a recording, without its header and its inputs."""
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    return [line for line in lines[1:] if line["type"] not in INPUTS]


def replayed(path: Path) -> list[dict[str, object]]:
    """Return the records of a recording that is done again."""
    with path.open("rb") as file:
        recording = read_recording(file, path.name)
    stamped: list[Stamped] = []
    play(recording, stamped.append)
    started = recording.beginning.started
    lines = [line_of(each.at, started, each.node, each.record) for each in stamped]
    return [json.loads(json.dumps(line)) for line in lines]


def start_plugin(client: ControlClient, *arguments: str) -> None:
    request = control.StartPluginRequest(node="n0", name="gpu", kind="fake", arguments=arguments)
    client.call(methods.START_PLUGIN, request)
    until(lambda: serves(client, "n0"))


def is_running_web(pod: Object) -> bool:
    name = text(pod, "metadata", "name")
    return name == "web-1" and text(pod, "status", "phase") == "Running"


def a_life(client: ControlClient) -> None:
    """Admissions, a refusal, a restart, a reboot, deletions, a plugin that goes."""
    start_plugin(client, "--count=4", "--preferred=packed", "--pre-start")
    apply(client, *(a_pod(f"pod-{number}") for number in range(3)), a_pod("greedy", 9))
    until(lambda: all(phase(client, f"pod-{number}") == "Running" for number in range(3)))
    until(lambda: phase(client, "greedy") == "Failed")
    client.call(methods.RESTART_KUBELET, control.RestartKubeletRequest(node="n0", down_ns=10**9))
    delete(client, "pod-1")
    delete(client, "pod-2", force=True)
    client.call(methods.REBOOT_NODE, control.RebootNodeRequest(node="n0", renumber=True))
    until(lambda: serves(client, "n0"))
    web = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": "web"},
        "spec": {"template": {"spec": {"nodeName": "n0", "containers": [{"name": "main"}]}}},
    }
    apply(client, web)
    delete(client, "web", force=True)
    until(lambda: len([pod for pod in found(client, "pods") if is_running_web(pod)]) == 1)
    stop = control.StopPluginRequest(node="n0", name="gpu")
    client.call(methods.STOP_PLUGIN, stop)
    until(lambda: plugin_state(client, "n0") == "Stopped")


@pytest.mark.parametrize("persistence", LIVE)
def test_a_replay_of_a_recording_says_what_the_live_run_said(persistence: str) -> None:
    with short_folder() as folder:
        path, database = folder / "run.jsonl", f"sqlite:///{folder}/rebind.db"
        run = replace(RUN, persistence=persistence)
        with (
            running_server(folder / "r", run, db=database, record=path) as socket,
            connected(socket) as client,
        ):
            a_life(client)
        live, again = recorded(path), replayed(path)

        assert {line["type"] for line in live} >= {
            *("AdmissionDecided", "DevicesAllocated", "KubeletStopped"),
            *("PluginCalled", "PluginRegistered", "PodDeleted", "StateWritten", "StepDone"),
        }
        assert again == live


def test_a_server_that_finds_pods_and_bindings_is_recorded_with_them() -> None:
    with short_folder() as folder:
        path, database = folder / "second.jsonl", f"sqlite:///{folder}/rebind.db"
        run = replace(RUN, persistence="database")
        with (
            running_server(folder / "r", run, db=database) as socket,
            connected(socket) as client,
        ):
            start_plugin(client)
            apply(client, a_pod("before", 2))
            until(lambda: phase(client, "before") == "Running")
        with (
            running_server(folder / "r", run, db=database, record=path) as socket,
            connected(socket) as client,
        ):
            start_plugin(client)
            apply(client, a_pod("after", 2))
            until(lambda: phase(client, "after") == "Running")
        again = replayed(path)

        assert again == recorded(path)
        (started,) = (
            line for line in again if line["type"] == "ManagerStarted" and line["node"] == "n0"
        )
        assert started["bindings"] == 1


def test_a_recording_that_a_kill_cut_off_is_replayed_to_its_last_whole_line() -> None:
    with short_folder() as folder:
        path = folder / "run.jsonl"
        with running_server(folder / "r", record=path) as socket, connected(socket) as client:
            start_plugin(client)
        whole = recorded(path)
        content = path.read_bytes()
        path.write_bytes(content[: -len(content) // 3])
        again = replayed(path)
        live = path.read_bytes().splitlines()[1:-1]
        kept = [line for line in map(json.loads, live) if line["type"] not in INPUTS]

        assert again[: len(kept)] == kept
        # The last line may be an input, of which the rest has told what came.
        assert again == whole[: len(again)]


def test_a_recording_is_never_written_over(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text("mine")

    with (
        short_folder() as folder,
        pytest.raises(FileExistsError),
        running_server(folder / "r", record=path),
    ):
        pass

    assert path.read_text() == "mine"


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([], r"run\.jsonl:1: this is no line of JSON"),
        (["nonsense"], r"run\.jsonl:1: this is no line of JSON"),
        (["[]"], r"run\.jsonl:1: this is no line of a Trace"),
        (['{"kind": "Trace", "spec": {}}'], r"1: this is no recording of `rebind serve --record`"),
    ],
)
def test_a_file_of_something_else_is_refused_in_one_line(lines: list[str], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        read_recording([f"{line}\n".encode() for line in lines], "run.jsonl")


def test_a_server_that_is_started_anew_has_the_same_machines_and_gives_no_name_twice() -> None:
    web = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": "web"},
        "spec": {"template": {"spec": {"nodeName": "n0", "containers": [{"name": "main"}]}}},
    }

    def names(client: ControlClient) -> list[str]:
        return [text(pod, "metadata", "name") for pod in found(client, "pods")]

    def boot(client: ControlClient) -> str:
        return text(found(client, "nodes", name="n0")[0], "status", "nodeInfo", "bootID")

    with short_folder() as folder:
        with running_server(folder) as socket, connected(socket) as client:
            apply(client, web)
            delete(client, "web", force=True)
            until(lambda: names(client) == ["web-1"])
            before = boot(client)
        with running_server(folder, replace(RUN, seed=2)) as socket, connected(socket) as client:
            after = boot(client)
            delete(client, "web-1", force=True)
            until(lambda: names(client) == ["web-1"])
            apply(client, a_pod("web-2"))
            delete(client, "web-1", force=True)
            until(lambda: names(client) == ["web-2", "web-2-r2"])

    assert after == before


def test_a_recording_ends_where_the_disk_is_full_and_the_nodes_go_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "run.jsonl"
    recorder = Recorder(path)
    recorder.begin(Beginning(Instant(0), RUN, Kept(), {}, {}))
    record = NodeStatusReported((), ())
    recorder.line(Instant(1), NODE, record)
    size = path.stat().st_size
    with file_sizes_up_to(size + 10):
        recorder.line(Instant(2), NODE, record)
    recorder.line(Instant(3), NODE, record)
    recorder.close()
    with path.open("rb") as file:
        recording = read_recording(file, path.name)

    assert path.stat().st_size == size + 10
    assert recording.end == Instant(1)
    assert caplog.messages == [
        f"{path} cannot be written: File too large; the recording ends here, the nodes go on"
    ]
