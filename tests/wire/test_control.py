"""The control service over a real socket: calls, streams, errors, and who may listen."""

from __future__ import annotations

import asyncio
import os
import stat
import tempfile
import threading
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import Future
from pathlib import Path

import pytest

from simulator.cli.failures import exit_code
from simulator.errors import (
    ConfigError,
    ManifestError,
    ObjectConflictError,
    ObjectNotFoundError,
    RebindError,
    ServerError,
    ServerNotRunningError,
    StoreUnavailableError,
    WatchBrokenError,
)
from simulator.protocol import control_services as methods
from simulator.protocol import rebind_control_pb2 as control
from simulator.wire.control import ControlServer
from simulator.wire.control_client import connected
from simulator.wire.control_socket import claim, is_served

ERRORS: tuple[RebindError, ...] = (
    ConfigError("no such version"),
    ManifestError("no pod", path="pods.yaml", line=3, column=1),
    ObjectConflictError("another pod"),
    ObjectNotFoundError("no pod"),
    ServerError("the node is down"),
    StoreUnavailableError("disk full"),
)


class Echo:
    """Answers with what it was asked; `error N` raises the error of that number."""

    async def info(self, request: control.InfoRequest) -> control.InfoResponse:
        del request
        return control.InfoResponse(version="1", pid=os.getpid())

    async def apply(self, request: control.ApplyRequest) -> control.ApplyResponse:
        size = control.AppliedObject(name=request.name, outcome=str(len(request.manifest)))
        return control.ApplyResponse(objects=[size])

    async def get(self, request: control.GetRequest) -> control.GetResponse:
        if request.kind == "error":
            raise ERRORS[int(request.name)]
        return control.GetResponse(objects=[request.kind.encode()])

    async def watch(self, request: control.GetRequest) -> AsyncIterator[control.WatchEvent]:
        for kind in ("ADDED", "BOOKMARK", "DELETED"):
            yield control.WatchEvent(type=kind, object=request.kind.encode())
        raise WatchBrokenError

    async def describe(self, request: control.DescribeRequest) -> control.DescribeResponse:
        return control.DescribeResponse(document=request.name.encode())

    async def delete(self, request: control.DeleteRequest) -> control.DeleteResponse:
        return control.DeleteResponse(names=[each.name for each in request.objects])

    async def read(self, request: control.ReadRequest) -> control.ReadResponse:
        return control.ReadResponse(answer=request.question.encode())

    async def records(
        self, request: control.RecordsRequest
    ) -> AsyncIterator[control.RecordsResponse]:
        del request
        yield control.RecordsResponse(line=b"{}")

    async def restart_kubelet(
        self, request: control.RestartKubeletRequest
    ) -> control.RestartKubeletResponse:
        return control.RestartKubeletResponse(kubelet_version=request.kubelet_version)

    async def reboot_node(self, request: control.RebootNodeRequest) -> control.RebootNodeResponse:
        return control.RebootNodeResponse(boot_id=request.node)

    async def start_plugin(
        self, request: control.StartPluginRequest
    ) -> control.StartPluginResponse:
        return control.StartPluginResponse(name=request.name)

    async def stop_plugin(self, request: control.StopPluginRequest) -> control.StopPluginResponse:
        del request
        return control.StopPluginResponse()


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="rb") as name:
        yield Path(name)


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Path]:
    """A server of `Echo` on a loop of its own."""
    path = folder / "rebind.sock"
    started: Future[asyncio.Event] = Future()

    async def serve() -> None:
        server = ControlServer(Echo(), path)
        await server.start()
        over = asyncio.Event()
        started.set_result(over)
        await over.wait()
        await server.stop(0)

    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    over = started.result(10)
    yield path
    loop.call_soon_threadsafe(over.set)
    thread.join()
    loop.close()
    assert not path.exists()


def test_a_call_is_answered_and_only_the_owner_may_connect(server: Path) -> None:
    with connected(server) as client:
        answer = client.call(methods.INFO, control.InfoRequest())

    assert answer.pid == os.getpid()
    assert stat.S_IMODE(server.stat().st_mode) == 0o600
    assert is_served(server)


def test_a_file_of_manifests_may_be_larger_than_grpc_takes_by_default(server: Path) -> None:
    with connected(server) as client:
        request = control.ApplyRequest(manifest=bytes(8_000_000), name="big.yaml")
        answer = client.call(methods.APPLY, request)

    assert [each.outcome for each in answer.objects] == ["8000000"]


@pytest.mark.parametrize("number", range(len(ERRORS)))
def test_an_error_arrives_as_it_was_raised_and_ends_with_its_exit_code(
    server: Path, number: int
) -> None:
    with connected(server) as client, pytest.raises(type(ERRORS[number])) as caught:
        client.call(methods.GET, control.GetRequest(kind="error", name=str(number)))

    assert str(caught.value) == str(ERRORS[number])
    assert exit_code(caught.value) == exit_code(ERRORS[number])


def test_a_stream_yields_until_the_server_ends_it_with_an_error(server: Path) -> None:
    with connected(server) as client:
        events = client.stream(methods.WATCH, control.GetRequest(kind="pods"))
        seen = [next(events).type for _ in range(3)]
        with pytest.raises(WatchBrokenError):
            next(events)

    assert seen == ["ADDED", "BOOKMARK", "DELETED"]


def test_a_stream_that_is_left_early_is_cancelled(server: Path) -> None:
    with connected(server) as client:
        events = client.stream(methods.WATCH, control.GetRequest(kind="pods"))
        first = next(events)

    assert (first.type, first.object) == ("ADDED", b"pods")


def test_a_server_that_is_not_there_is_named_with_its_socket(folder: Path) -> None:
    path = folder / "nobody.sock"

    with connected(path) as client, pytest.raises(ServerNotRunningError, match=r"nobody\.sock"):
        client.call(methods.INFO, control.InfoRequest())

    assert not is_served(path)


def test_one_socket_has_one_server_and_the_next_one_is_told_its_process(folder: Path) -> None:
    path = folder / "one.sock"
    first = claim(path)

    with pytest.raises(ServerError, match=rf"one\.sock already \(process {os.getpid()}\)"):
        claim(path)
    first.give_up()
    claim(path).give_up()


def test_a_dead_servers_socket_is_removed(folder: Path) -> None:
    path = folder / "dead.sock"
    path.touch()

    claim(path).give_up()

    assert not path.exists()


def test_a_path_that_no_socket_can_have_is_refused_with_its_length(folder: Path) -> None:
    path = folder / ("x" * 100)

    with pytest.raises(ServerError, match=f"has {len(os.fsencode(path))} bytes.* at most 107"):
        claim(path)
