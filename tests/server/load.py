"""Clients that keep a server busy, and write down what it tells them."""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from simulator.errors import (
    ObjectNotFoundError,
    RebindError,
    ServerError,
    ServerNotRunningError,
)
from simulator.protocol import control_services as methods
from simulator.protocol import rebind_control_pb2 as control
from simulator.wire.control_client import ControlClient, connected
from tests.server import looking
from tests.server.ledger import ENDED, RUNNING, Ledger
from tests.server.looking import NODES

RESOURCE: Final = "example.com/gpu"
_PODS_EACH: Final = 3
_GONE: Final = (ServerNotRunningError, ServerError)
_LOOK_MAX: Final = 40
_PAUSE_S: Final = 0.004


class Client:
    """One client with pods of its own, over all servers of a test.

    Attributes:
        ledger: What it was told.
        wrong: What it saw that must not be.
    """

    def __init__(self, number: int, chance: random.Random) -> None:
        self.ledger = Ledger()
        self.wrong: list[str] = []
        self._number = number
        self._chance = chance
        self._made = 0
        self._pods: list[str] = []

    def work(self, client: ControlClient, over: Callable[[], bool]) -> None:
        """Apply pods, look at them and delete them until the server is gone."""
        while not over():
            try:
                self._step(client)
            except ObjectNotFoundError as error:
                self.wrong.append(str(error))
            except _GONE:
                return

    def _step(self, client: ControlClient) -> None:
        if len(self._pods) < _PODS_EACH:
            self._apply(client)
        elif self._chance.random() < 0.5:
            name = self._chance.choice(self._pods)
            (pod,) = looking.pods(client, name)
            self.wrong += self.ledger.see(pod)
            if pod.phase in ENDED:
                self._delete(client, name)
        else:
            self._delete(client, self._chance.choice(self._pods))

    def _apply(self, client: ControlClient) -> None:
        count = self._chance.choice((1, 1, 2))
        names = []
        for _ in range(count):
            self._made += 1
            names.append(f"c{self._number}-{self._made}")
        node = self._chance.choice(NODES)
        manifests = [pod_manifest(name, node, self._chance.choice((1, 1, 2))) for name in names]
        request = control.ApplyRequest(manifest=manifest_of(*manifests), name="pods.json")
        client.call(methods.APPLY, request)
        self.ledger.applied.update(names)
        self._pods += names
        for name in names:
            self._look_until_it_runs(client, name)

    def _look_until_it_runs(self, client: ControlClient, name: str) -> None:
        for _ in range(self._chance.randrange(_LOOK_MAX)):
            (pod,) = looking.pods(client, name)
            self.wrong += self.ledger.see(pod)
            if pod.phase in (RUNNING, *ENDED):
                return
            time.sleep(_PAUSE_S)

    def _delete(self, client: ControlClient, name: str) -> None:
        wait = self._chance.random() < 0.6
        self._pods.remove(name)
        self.ledger.deleting.add(name)
        request = control.DeleteRequest(
            objects=[control.ObjectName(kind="pod", name=name)],
            wait=wait,
            force=self._chance.random() < 0.2,
        )
        client.call(methods.DELETE, request)
        self.ledger.deleted.add(name)
        if wait:
            self.ledger.gone.add(name)
            if name in [pod.name for pod in looking.pods(client)]:
                self.wrong.append(f"{name} is there after its deletion was answered")


class Disturber:
    """Restarts kubelets, reboots nodes and reads PodResources.

    Attributes:
        rebooted: Nodes that were ever asked to reboot.
        wrong: What it saw that must not be.
    """

    def __init__(self, root: Path, chance: random.Random) -> None:
        self.rebooted: set[str] = set()
        self.wrong: list[str] = []
        self.done = 0
        self._root = root
        self._chance = chance

    def work(self, client: ControlClient, over: Callable[[], bool]) -> None:
        """Disturb until the server is gone."""
        while not over():
            node = self._chance.choice(NODES)
            try:
                self._step(client, node, self._chance.random())
            except _GONE:
                if over():
                    return
            time.sleep(_PAUSE_S)
            self.done += 1

    def _step(self, client: ControlClient, node: str, chance: float) -> None:
        if chance < 0.05:
            # Only one of the nodes, so that what runs on the other must outlive every kill.
            self.rebooted.add(NODES[1])
            client.call(methods.REBOOT_NODE, control.RebootNodeRequest(node=NODES[1]))
        elif chance < 0.2:
            client.call(methods.RESTART_KUBELET, control.RestartKubeletRequest(node=node))
        else:
            self._read(node)

    def _read(self, node: str) -> None:
        holders: dict[str, str] = {}
        for name, devices in looking.pod_resources(self._root, node).items():
            for device in devices.get(RESOURCE, ()):
                if device in holders:
                    self.wrong.append(f"{device} of {node} is {name}'s and {holders[device]}'s")
                holders[device] = name


class Load:
    """All clients of a test.

    Args:
        root: The server's directory.
        chance: What each of them does is drawn from this.
        clients: How many make pods.
    """

    def __init__(self, root: Path, chance: random.Random, *, clients: int = 3) -> None:
        self._root = root
        self.clients = [Client(each, random.Random(chance.random())) for each in range(clients)]  # noqa: S311 - no secret
        self.disturber = Disturber(root, random.Random(chance.random()))  # noqa: S311 - no secret
        self._all: list[Client | Disturber] = [*self.clients, self.disturber]
        self._over = threading.Event()
        self._threads: list[threading.Thread] = []
        self._failures: list[BaseException] = []

    def begin(self) -> None:
        """Let all of them work, each in a thread."""
        self._over.clear()
        self._threads = [
            threading.Thread(target=self._work, args=(each.work,)) for each in self._all
        ]
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        """Wait until all of them have seen that the server is gone."""
        self._over.set()
        for thread in self._threads:
            thread.join()
        assert self._failures == []

    @property
    def done(self) -> int:
        """How much has been done: the pods that were applied, or the disturbances if fewer."""
        applied = sum(len(each.ledger.applied) for each in self.clients)
        return min(applied, self.disturber.done)

    @property
    def is_under_way(self) -> bool:
        """Whether somebody works on."""
        return any(thread.is_alive() for thread in self._threads)

    @property
    def ledger(self) -> Ledger:
        """What all of them were told."""
        whole = Ledger()
        for each in self.clients:
            whole.applied |= each.ledger.applied
            whole.deleting |= each.ledger.deleting
            whole.deleted |= each.ledger.deleted
            whole.gone |= each.ledger.gone
            whole.running |= each.ledger.running
        return whole

    @property
    def wrong(self) -> list[str]:
        """What they saw that must not be."""
        return [fault for each in self._all for fault in each.wrong]

    def _work(self, work: Callable[[ControlClient, Callable[[], bool]], None]) -> None:
        try:
            with connected(self._root / "rebind.sock") as client:
                work(client, self._over.is_set)
        except (RebindError, AssertionError) as failure:
            self._failures.append(failure)


def pod_manifest(name: str, node: str, count: int) -> dict[str, object]:
    """Return a pod that wants devices."""
    limits = {"limits": {RESOURCE: count}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {"nodeName": node, "containers": [{"name": "main", "resources": limits}]},
    }


def manifest_of(*objects: dict[str, object]) -> bytes:
    """Return a file of objects."""
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}).encode()
