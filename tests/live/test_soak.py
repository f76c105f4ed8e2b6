"""Fifty nodes for ten minutes: everybody agrees, and nothing grows.

`rebind serve` is a process of its own here, so that its memory and its descriptors are its alone.
`REBIND_SOAK_SECONDS` makes it shorter or longer.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median

import pytest

from simulator.protocol import control_services as methods
from simulator.protocol import rebind_control_pb2 as control
from simulator.protocol import rebind_podresources_v1_pb2 as pod_resources
from simulator.protocol.services import LIST
from simulator.wire.connections import ConnectionSettings, dial
from simulator.wire.control_client import ControlClient, connected
from store.sql_store import SqlStore

DEVICES = 8
WAVE_S = 10.0
"""A wave of pods begins so often, or when the last one is gone."""
WAIT_S = 120.0
PAGE = os.sysconf("SC_PAGE_SIZE")

Held = set[tuple[str, str]]
"""Pods and the devices that they have."""


class Soaked:
    """A server, watched from outside."""

    def __init__(self, process: subprocess.Popen[bytes], client: ControlClient, root: Path) -> None:
        self._process = process
        self._client = client
        self._root = root

    def start_plugin(self, node: str) -> None:
        """Start a plugin of 8 devices."""
        arguments = ["--count", str(DEVICES)]
        request = control.StartPluginRequest(
            node=node, name="gpu", kind="fake", arguments=arguments
        )
        self._client.call(methods.START_PLUGIN, request)

    def registered(self) -> int:
        """Return the number of plugins that are registered and have listed their devices."""
        states = [each["status"] for each in self._found("plugins")]
        return sum((each["state"], each["healthy"]) == ("Registered", DEVICES) for each in states)

    def apply(self, names: Sequence[tuple[str, str]]) -> None:
        """Apply pods of one device, each on a node."""
        pods = [_pod(name, node) for name, node in names]
        manifest = json.dumps({"apiVersion": "v1", "kind": "List", "items": pods}).encode()
        self._client.call(methods.APPLY, control.ApplyRequest(manifest=manifest, name="soak.json"))

    def delete(self, names: Sequence[tuple[str, str]]) -> None:
        """Delete pods."""
        for name, _ in names:
            named = control.ObjectName(kind="pod", name=name)
            self._client.call(methods.DELETE, control.DeleteRequest(objects=[named]))

    def phases(self) -> list[object]:
        """Return the phases of all pods."""
        return [each["status"]["phase"] for each in self._found("pods")]

    def restart(self, node: str) -> None:
        """Restart a kubelet."""
        self._client.call(methods.RESTART_KUBELET, control.RestartKubeletRequest(node=node))

    def held_by_records(self) -> Held:
        """Return who holds what according to the database."""
        store = SqlStore(f"sqlite:///{self._root / 'rebind.db'}", read_only=True)
        try:
            return {(each.pod.name, each.device) for each in store.holders()}
        finally:
            store.close()

    async def held_by_agents(self, nodes: Sequence[str]) -> Held:
        """Return who holds what according to the PodResources services of the nodes."""
        held: Held = set()
        for node in nodes:
            path = self._root / "run" / node / "pod-resources" / "kubelet.sock"
            connection = await dial(path, ConnectionSettings())
            answer = await connection.call(LIST, pod_resources.ListPodResourcesRequest())
            await connection.close()
            held |= {
                (pod.name, device)
                for pod in answer.pod_resources
                for container in pod.containers
                for entry in container.devices
                for device in entry.device_ids
            }
        return held

    def memory(self) -> int:
        """Return the bytes of memory that the server uses."""
        return int(Path(f"/proc/{self._process.pid}/statm").read_text().split()[1]) * PAGE

    def descriptors(self) -> int:
        """Return the number of its open files and sockets."""
        return len(os.listdir(f"/proc/{self._process.pid}/fd"))  # noqa: PTH208 - only their number

    def _found(self, kind: str) -> list[dict[str, dict[str, object]]]:
        answer = self._client.call(methods.GET, control.GetRequest(kind=kind))
        return [json.loads(each) for each in answer.objects]


def _pod(name: str, node: str) -> dict[str, object]:
    limits = {"limits": {"example.com/gpu": 1}}
    containers = [{"name": "main", "resources": limits}]
    spec = {"nodeName": node, "containers": containers, "terminationGracePeriodSeconds": 0}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}


@contextmanager
def soaked(nodes: int) -> Iterator[Soaked]:
    """Serve nodes on a database."""
    with ExitStack() as stack:
        root = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="rb")))
        command = [sys.executable, "-m", "simulator.cli", "serve", "--nodes", str(nodes)]
        command += ["--root-dir", "run", "--db", "sqlite:///rebind.db", "--http", "none"]
        environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
        pipe = subprocess.PIPE
        process = stack.enter_context(
            subprocess.Popen(command, cwd=root, env=environment, stderr=pipe)  # noqa: S603 - ours
        )
        stack.callback(process.kill)
        assert process.stderr is not None
        assert process.stderr.readline().startswith(b"ready")
        client = stack.enter_context(connected(root / "run" / "rebind.sock"))
        yield Soaked(process, client, root)


def until(condition: Callable[[], bool]) -> None:
    """Wait for what comes by itself, with a deadline."""
    deadline = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < deadline, "it did not come"
        time.sleep(0.05)


def one_wave(server: Soaked, nodes: Sequence[str], number: int) -> None:
    """Let pods come and go on all nodes; a kubelet is restarted while they run."""
    names = [(f"p{number}-{node}-{index}", node) for node in nodes for index in range(DEVICES)]
    server.apply(names)
    until(lambda: server.phases() == ["Running"] * len(names))
    held = server.held_by_records()
    assert {pod for pod, _ in held} == {name for name, _ in names}
    assert asyncio.run(server.held_by_agents(nodes)) == held
    server.restart(nodes[number % len(nodes)])
    until(lambda: server.registered() == len(nodes))
    assert server.held_by_records() == held
    server.delete(names)
    until(lambda: not server.phases())
    assert asyncio.run(server.held_by_agents(nodes)) == set()
    assert server.held_by_records() == set()


@pytest.mark.parametrize(
    ("nodes", "pods"), [(2, 16), pytest.param(50, 2_000, marks=pytest.mark.soak)]
)
def test_pods_come_and_go_while_everybody_agrees_and_nothing_grows(nodes: int, pods: int) -> None:
    """Agents see what the database says; memory and descriptors stay as they are."""
    names = [f"n{number}" for number in range(nodes)]
    seconds = float(os.environ.get("REBIND_SOAK_SECONDS", "600")) if nodes > 2 else 0.0
    memory: list[int] = []
    descriptors: list[int] = []
    with soaked(nodes) as server:
        for node in names:
            server.start_plugin(node)
        until(lambda: server.registered() == nodes)
        begun, wave = time.monotonic(), 0
        while wave * nodes * DEVICES < pods or time.monotonic() < begun + seconds:
            one_wave(server, names, wave)
            wave += 1
            memory.append(server.memory())
            descriptors.append(server.descriptors())
            time.sleep(max(0.0, min(begun + wave * WAVE_S, begun + seconds) - time.monotonic()))
    third = len(memory) // 3
    if third:
        told = f"{[each // 2**20 for each in memory]} MiB, {descriptors} descriptors"
        assert median(memory[-third:]) < 1.1 * median(memory[third : 2 * third]), told
        assert max(descriptors[-third:]) <= max(descriptors[: 2 * third]), told
