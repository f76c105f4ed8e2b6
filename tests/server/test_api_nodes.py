"""`rebind serve` whose pods are an API server's: one truth for its commands, kubectl and nodes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from simulator.api.client.endpoint import endpoint_at
from simulator.api.client.http import HttpClient
from simulator.api.dialect.documents import Object, items, mapping, text
from simulator.assembly.servers import served
from simulator.engine.spec import SimulationSpec
from simulator.errors import (
    InputError,
    ObjectConflictError,
    ObjectNotFoundError,
    RebindError,
    ServerError,
)
from simulator.live.remote.settings import RemoteSettings
from simulator.live.settings import LiveSettings
from simulator.protocol import rebind_control_pb2 as control
from simulator.protocol.control_services import APPLY, DELETE, DESCRIBE, GET
from simulator.wire.control_client import ControlClient, connected
from tests.api.serving.running import Api, running_api
from tests.cli.running import rebind
from tests.server.running import RUN, running_server, short_folder

PODS = "/api/v1/namespaces/default/pods"


def manifest(name: str, kind: str = "Pod", **spec: object) -> bytes:
    """Return a manifest of something that needs no devices, and ends at once."""
    pod = {"containers": [{"name": "main", "image": "x"}], **spec}
    metadata = {"name": name, "annotations": {"rebind.internal/termination-time": "0"}}
    content: dict[str, object] = {"apiVersion": "v1", "kind": kind, "metadata": metadata}
    content["spec"] = pod
    if kind != "Pod":
        content["apiVersion"] = "apps/v1"
        content["spec"] = {"template": {"metadata": {}, "spec": pod}}
    return yaml.safe_dump(content).encode()


def apply(client: ControlClient, content: bytes) -> list[tuple[str, str]]:
    """Apply, and wait until it is decided."""
    request = control.ApplyRequest(manifest=content, name="f.yaml", wait=True)
    return [(each.name, each.outcome) for each in client.call(APPLY, request).objects]


def delete(client: ControlClient, name: str) -> None:
    key = control.ObjectName(kind="pod", name=name)
    client.call(DELETE, control.DeleteRequest(objects=[key], wait=True))


def pods(client: ControlClient) -> list[Object]:
    """Return the pods that `rebind get` shows."""
    return [json.loads(each) for each in client.call(GET, control.GetRequest(kind="pods")).objects]


@pytest.fixture(scope="module")
def there() -> Iterator[tuple[Api, ControlClient]]:
    """An API server, and a server whose nodes are clients of it."""
    with (
        running_api() as api,
        short_folder() as root,
        running_server(root, api=RemoteSettings(endpoint_at(api.url))) as socket,
        connected(socket) as client,
    ):
        yield api, client


def test_what_is_applied_is_in_the_api_and_shown_from_there(
    there: tuple[Api, ControlClient],
) -> None:
    api, client = there
    content = manifest("a", nodeName="n0")

    assert apply(client, content) == [("pod/a", "created")]
    assert apply(client, content) == [("pod/a", "unchanged")]
    found = api.get(f"{PODS}/a")
    assert found["status"]["phase"] == "Running"
    [shown] = [each for each in pods(client) if text(each, "metadata", "name") == "a"]
    assert shown["metadata"] == found["metadata"]
    assert shown["spec"] == found["spec"]
    assert {**mapping(shown, "status"), "devices": {}} == {**found["status"], "devices": {}}
    described = client.call(DESCRIBE, control.DescribeRequest(kind="pod", name="a")).document
    assert found["metadata"]["uid"].encode() in described

    delete(client, "a")
    assert api.ask("GET", f"{PODS}/a").code == 404
    assert not [each for each in pods(client) if text(each, "metadata", "name") == "a"]


def test_a_pod_that_others_create_is_shown(there: tuple[Api, ControlClient]) -> None:
    api, client = there
    api.create(PODS, yaml.safe_load(manifest("b", nodeName="n1")))
    apply(client, manifest("c", nodeName="n1"))  # It is decided after the one before.

    assert {text(each, "metadata", "name") for each in pods(client)} >= {"b", "c"}
    for name in ("b", "c"):
        delete(client, name)


@pytest.mark.parametrize(
    ("content", "error", "message"),
    [
        (manifest("d", "ReplicaSet"), InputError, "controllers are not Rebind's there"),
        (manifest("e", nodeName="n0", restartPolicy="Never"), ObjectConflictError, "another mani"),
        (
            manifest("f").replace(b"name: f", b"namespace: nowhere\n  name: f"),
            ServerError,
            'pod/f is not created: namespaces "nowhere" not found',
        ),
    ],
)
def test_what_cannot_be_applied_is_said_in_one_line(
    there: tuple[Api, ControlClient], content: bytes, error: type[RebindError], message: str
) -> None:
    api, client = there
    if error is ObjectConflictError:
        api.create(PODS, yaml.safe_load(manifest("e", nodeName="n0")))

    with pytest.raises(error, match=message) as caught:
        apply(client, content)

    assert "\n" not in str(caught.value)


def test_what_is_not_there_cannot_be_deleted(there: tuple[Api, ControlClient]) -> None:
    _, client = there
    with pytest.raises(ObjectNotFoundError, match='pod "nobody" not found'):
        delete(client, "nobody")


async def _asked(url: str, method: str, path: str, body: Object | None = None) -> Object:
    client = HttpClient(endpoint_at(url))
    try:
        return (await client.ask(method, path, body)).document
    finally:
        await client.close()


@pytest.mark.parametrize("persistence", ["database", "bind-resource"])
def test_an_api_server_in_the_same_process_keeps_pods_over_restarts(persistence: str) -> None:
    """Rebind schedules; the containers of a server that is started anew have run on."""
    run = SimulationSpec(nodes=RUN.nodes, persistence=persistence, seed=1)

    async def serve(root: Path, create: bool) -> Object:  # noqa: FBT001 - the first time or not
        async with served(
            run, LiveSettings(root=root), db=f"sqlite:///{root}/api.db", api_http="127.0.0.1:0"
        ) as server:
            if create:
                body = yaml.safe_load(manifest("a"))
                await _asked(server.api, "POST", PODS, body)
            found: Object = {}
            for _ in range(3_000):
                found = await _asked(server.api, "GET", f"{PODS}/a")
                if text(found, "status", "phase") == "Running":
                    break
                await asyncio.sleep(0.02)
            return found

    with short_folder() as root:
        first = asyncio.run(serve(root, create=True))
        again = asyncio.run(serve(root, create=False))

    assert text(first, "spec", "nodeName") in {"n0", "n1"}
    assert first["spec"] == again["spec"]
    assert text(again, "metadata", "uid") == text(first, "metadata", "uid")
    assert _restarts(again) == [0]
    assert text(again, "status", "phase") == "Running"


def _restarts(pod: Object) -> list[object]:
    return [each["restartCount"] for each in items(pod, "status", "containerStatuses")]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--api", "--api-server", "http://127.0.0.1:1"], "--api and --api-server name different"),
        (["--api", "--record", "x.jsonl"], "--record cannot be used with --api"),
        (["--context", "c"], "--context is for --kubeconfig, which is not given"),
        (["--api", "--api-http", "0.0.0.0:0"], "cannot be served on 0.0.0.0:0 without tokens"),
        (["--api-server", "here"], '"here" is no API server'),
    ],
)
def test_options_that_cannot_go_together_are_refused(arguments: list[str], message: str) -> None:
    with short_folder() as root:
        result = rebind("serve", "--root-dir", str(root / "r"), "--http", "none", *arguments)

    assert result.code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
