"""Where nothing more can be written, nothing is told that would not be so after the next start."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

from simulator.errors import ServerError
from simulator.protocol import control_services as methods
from simulator.protocol import rebind_control_pb2 as control
from simulator.wire.control_client import ControlClient, connected
from tests.server import looking
from tests.server.ledger import shared
from tests.server.load import manifest_of, pod_manifest
from tests.server.processes import Process, fake_plugin, serve, until
from tests.server.running import short_folder

UNLIMITED = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)


@pytest.fixture
def folder() -> Iterator[Path]:
    with short_folder() as folder:
        yield folder


def apply(client: ControlClient, name: str) -> None:
    request = control.ApplyRequest(manifest=manifest_of(pod_manifest(name, "n0", 1)), name="x")
    client.call(methods.APPLY, request)


def limit(process: Process, size: int) -> None:
    """Let no file of a process grow beyond a size, as on a disk that is full."""
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def names(client: ControlClient) -> list[str]:
    return [pod.name for pod in looking.pods(client)]


def phase(client: ControlClient, name: str) -> str:
    return looking.pods(client, name)[0].phase


def test_a_server_that_cannot_keep_its_pods_says_so_and_ends(folder: Path) -> None:
    arguments = ("--persistence", "checkpoint")
    server = serve(folder, *arguments, nodes="n0")
    socket = folder / "lab" / "rebind.sock"
    try:
        server.ready()
        with connected(socket) as client:
            apply(client, "kept")
            until(lambda: phase(client, "kept") == "Running")
            limit(server, (folder / "lab" / "objects.jsonl").stat().st_size + 50)
            with pytest.raises(ServerError, match=r"objects\.jsonl cannot be written: File too"):
                apply(client, "refused")
            with pytest.raises(ServerError):
                names(client)
        code, said = server.wait(), server.said
    finally:
        server.end()
    again = serve(folder, *arguments, nodes="n0")
    try:
        again.ready()
        with connected(socket) as client:
            there = names(client)
    finally:
        again.end()

    assert code == 3
    assert said.splitlines()[-1] == (
        "error: lab/objects.jsonl cannot be written: File too large; the server ends, since it "
        "could not remember its pods; make room and start it again"
    )
    assert "Traceback" not in said
    assert there == ["kept"]


def until_one_runs(client: ControlClient) -> str:
    """Apply pods until one runs: the node accounting may still count the refused one (S13.3)."""
    for name in map("taken-{}".format, range(100)):
        apply(client, name)
        until(lambda name=name: phase(client, name) in ("Running", "Failed"))  # type: ignore[misc]
        if phase(client, name) == "Running":
            return name
    pytest.fail("none runs")


@pytest.mark.parametrize("persistence", ["checkpoint", "database"])
def test_a_pod_whose_binding_cannot_be_kept_is_refused_and_the_server_goes_on(
    persistence: str, folder: Path
) -> None:
    server = serve(folder, "--persistence", persistence)
    plugins: list[Process] = []
    try:
        server.ready()
        plugins += [fake_plugin(folder, node, "--count", "500") for node in looking.NODES]
        with connected(folder / "lab" / "rebind.sock") as client:
            until(lambda: looking.plugins_registered(client))
            limit(server, 4000)
            apply(client, "refused")
            until(lambda: phase(client, "refused") == "Failed")
            limit(server, resource.RLIM_INFINITY)
            taken = until_one_runs(client)
            until(
                lambda: "refused" not in looking.pod_resources(folder / "lab", "n0"), pause_s=0.03
            )
            seen = looking.sight(client, folder / "lab", persistence)
        ended = server.terminate()
    finally:
        for process in (*plugins, server):
            process.end()

    assert ("n0", taken) in seen.listed
    assert shared(seen) == []
    assert ended == 0
