"""`/metrics` and `/healthz` of a running server."""

from __future__ import annotations

import urllib.error
import urllib.request
from collections.abc import Iterator

import pytest

from simulator.protocol import control_services as methods
from simulator.protocol import rebind_control_pb2 as control
from simulator.wire.control_client import ControlClient, connected
from tests.server.running import running_server, short_folder
from tests.server.test_service import a_pod, apply, phase, serves, until

NAMED = "n0"


@pytest.fixture(scope="module")
def server() -> Iterator[ControlClient]:
    with (
        short_folder() as root,
        running_server(root, http="127.0.0.1:0") as socket,
        connected(socket) as client,
    ):
        request = control.StartPluginRequest(node="n0", name="gpu", kind="fake")
        client.call(methods.START_PLUGIN, request)
        until(lambda: serves(client, "n0"))
        yield client


def page(server: ControlClient, path: str) -> str:
    address = server.call(methods.INFO, control.InfoRequest()).http
    with urllib.request.urlopen(f"{address}{path}", timeout=60) as answer:  # noqa: S310 - our own
        return bytes(answer.read()).decode()


def values(server: ControlClient, path: str, name: str) -> dict[str, float]:
    """Return the samples of a metric by their labels."""
    lines = [line for line in page(server, path).splitlines() if line.startswith(name)]
    pairs = [line.rsplit(" ", 1) for line in lines]
    return {labels.removeprefix(name): float(value) for labels, value in pairs}


def test_registrations_and_calls_of_a_nodes_kubelet_are_counted(server: ControlClient) -> None:
    """S11: every Register call, and one duration for each Allocate."""
    apply(server, a_pod("counted"))
    until(lambda: phase(server, "counted") == "Running")
    path = f"/metrics/{NAMED}"

    assert values(server, path, "kubelet_device_plugin_registration_total") == {
        '{resource_name="example.com/gpu"}': 1.0
    }
    assert values(server, path, "kubelet_device_plugin_alloc_duration_seconds_count") == {
        '{resource_name="example.com/gpu"}': 1.0
    }
    assert values(server, path, "kubelet_topology_manager_admission_requests_total")[""] >= 1.0
    assert values(server, "/metrics", "rebind_bound_devices")[
        '{node="n0",resource_name="example.com/gpu"}'
    ] >= 1.0  # fmt: skip


def test_health_has_a_check_of_each_node(server: ControlClient) -> None:
    assert page(server, "/healthz") == "ok"
    assert "[+]n1/" in page(server, "/healthz?verbose")


def test_a_restarted_kubelet_counts_anew(server: ControlClient) -> None:
    server.call(methods.RESTART_KUBELET, control.RestartKubeletRequest(node="n1"))

    assert values(server, "/metrics/n1", "kubelet_device_plugin_registration_total") == {}
    with pytest.raises(urllib.error.HTTPError):
        page(server, "/metrics/n7")
