"""What a running server shows to clients: its pods, PodResources, its stores."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import grpc

from simulator.cli.object_tables import Object, at, items, text
from simulator.config import CHECKPOINT_FILE_NAME
from simulator.errors import ServerError
from simulator.protocol import control_services as methods
from simulator.protocol import rebind_control_pb2 as control
from simulator.protocol import rebind_podresources_v1_pb2 as v1
from simulator.protocol.services import LIST
from simulator.server.reading import RemoteReader
from simulator.wire.control_client import ControlClient
from tests.server.ledger import Devices, SeenPod, Sight

NODES: Final = ("n0", "n1")
_TIMEOUT_S: Final = 60.0


def objects(client: ControlClient, kind: str, **request: str) -> list[Object]:
    """Return objects of a kind."""
    answer = client.call(methods.GET, control.GetRequest(kind=kind, **request))
    return [json.loads(each) for each in answer.objects]


def pods(client: ControlClient, name: str = "") -> list[SeenPod]:
    """Return the pods, all or that of a name."""
    return [_pod(each) for each in objects(client, "pods", name=name)]


def _pod(document: Object) -> SeenPod:
    devices = at(document, "status", "devices")
    assert devices is None or isinstance(devices, dict)
    return SeenPod(
        text(document, "metadata", "name"),
        text(document, "metadata", "uid"),
        text(document, "spec", "nodeName"),
        text(document, "status", "phase"),
        {resource: tuple(map(str, ids)) for resource, ids in (devices or {}).items()},
        ending=bool(text(document, "metadata", "deletionTimestamp")),
    )


def pod_resources(root: Path, node: str) -> dict[str, Devices]:
    """Return what PodResources of a node lists, of pods with devices.

    Raises:
        ServerError: It does not answer.
    """
    with grpc.insecure_channel(f"unix:{root}/{node}/pod-resources/kubelet.sock") as channel:
        ask = channel.unary_unary(
            LIST.path,
            request_serializer=LIST.request.SerializeToString,
            response_deserializer=LIST.response.FromString,
        )
        try:
            answer = ask(v1.ListPodResourcesRequest(), timeout=_TIMEOUT_S)
        except grpc.RpcError as error:
            reason = f"PodResources of {node} does not answer: {error}"
            raise ServerError(reason) from error
    listed: dict[str, Devices] = {}
    for pod in answer.pod_resources:
        ids: dict[str, list[str]] = {}
        for container in pod.containers:
            for entry in container.devices:
                ids.setdefault(entry.resource_name, []).extend(entry.device_ids)
        if ids:
            listed[pod.name] = _sorted(ids)
    return listed


def in_checkpoints(root: Path) -> dict[tuple[str, str], Devices]:
    """Return what the checkpoint files say, read as plain JSON."""
    held: dict[tuple[str, str], dict[str, list[str]]] = {}
    for node in NODES:
        file = root / node / "device-plugins" / CHECKPOINT_FILE_NAME
        if not file.exists():
            continue
        for entry in json.loads(file.read_bytes())["Data"]["PodDeviceEntries"] or ():
            ids = held.setdefault((node, entry["PodUID"]), {}).setdefault(entry["ResourceName"], [])
            ids += [device for group in entry["DeviceIDs"].values() for device in group]
    return {key: _sorted(ids) for key, ids in held.items()}


def in_database(client: ControlClient) -> dict[tuple[str, str], Devices]:
    """Return what the database says."""
    held: dict[tuple[str, str], dict[str, list[str]]] = {}
    for row in RemoteReader(client).holders():
        ids = held.setdefault((row.node, row.pod.uid), {})
        ids.setdefault(row.resource, []).append(row.device)
    return {key: _sorted(ids) for key, ids in held.items()}


def sight(client: ControlClient, root: Path, persistence: str) -> Sight:
    """Return all that a server shows; PodResources first, which releases what can be (S8.7)."""
    listed = {
        (node, name): devices
        for node in NODES
        for name, devices in pod_resources(root, node).items()
    }
    held: dict[str, Mapping[tuple[str, str], Devices]] = {}
    if persistence != "checkpoint":
        held["database"] = in_database(client)
    if persistence != "database":
        held["checkpoint"] = in_checkpoints(root)
    return Sight(tuple(pods(client)), listed, held)


def plugins_registered(client: ControlClient) -> bool:
    """Tell whether each node has a plugin that has listed its devices."""
    found = objects(client, "nodes")
    return all(items(node, "status", "deviceManager") for node in found) and all(
        text(line, "endpoint") == "Registered" and at(line, "healthy") != 0
        for node in found
        for line in items(node, "status", "deviceManager")
    )


def _sorted(ids: Mapping[str, list[str]]) -> Devices:
    return {resource: tuple(sorted(of_resource)) for resource, of_resource in sorted(ids.items())}
