"""A server in a folder whose name means something to others than the file system."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from simulator.errors import ServerError
from simulator.protocol import control_services as methods
from simulator.protocol import rebind_control_pb2 as control
from simulator.wire.control_client import connected
from simulator.wire.pod_resources_client import list_pods
from tests.server.running import RUN, running_server, short_folder
from tests.server.test_service import a_pod, apply, phase, serves, until

ODD_NAME = "a b%41#?é漢"


def test_sockets_are_found_in_a_folder_of_any_name() -> None:
    with short_folder() as folder:
        run = replace(RUN, nodes=RUN.nodes[:1])
        with running_server(folder / ODD_NAME, run) as socket, connected(socket) as client:
            client.call(
                methods.START_PLUGIN,
                control.StartPluginRequest(node="n0", name="gpu", kind="fake"),
            )
            until(lambda: serves(client, "n0"))
            apply(client, a_pod("pod-1"))
            until(lambda: phase(client, "pod-1") == "Running")
            agents = folder / ODD_NAME / "n0" / "pod-resources" / "kubelet.sock"
            (listed,) = asyncio.run(list_pods(agents))
            assert listed.name == "pod-1"


def test_a_folder_that_grpc_would_part_is_refused_in_one_line() -> None:
    with (
        short_folder() as folder,
        pytest.raises(ServerError, match="has a comma in it") as caught,
        running_server(folder / "a,b"),
    ):
        pass
    assert "\n" not in str(caught.value)
    assert not (folder / "a,b").exists()
