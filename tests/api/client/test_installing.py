"""`rebind api install-crd`, and what is looked for before nodes become clients of a server."""

from __future__ import annotations

import asyncio

import pytest

from simulator.api.client.endpoint import endpoint_at
from simulator.api.client.installing import Installed, install
from simulator.api.dialect.documents import Object, mapping
from simulator.core.transitions import NodeName
from simulator.errors import ServerError
from simulator.live.remote.beginning import found_pods
from simulator.live.remote.settings import RemoteSettings
from tests.api.client.fake import fake_server, refusal
from tests.api.serving.running import running_api
from tests.cli.running import rebind

DEFINITION = (
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/devicebindings.rebind.internal"
)


class Cluster:
    """As much of a real cluster as these questions need."""

    def __init__(self) -> None:
        self.definition: Object | None = None
        self.revision = 1

    def respond(self, method: str, path: str, body: Object) -> tuple[int, Object]:
        kinds = ("/apis/rebind.internal/v1alpha1/devicebindings", "/api/v1/pods")
        if path.startswith(kinds) and (self.definition is not None or "pods" in path):
            return 200, {"items": []}
        if path == "/api/v1":
            return 200, {"resources": [{"name": "pods"}, {"name": "pods/binding"}]}
        if method == "POST" and path == DEFINITION.rpartition("/")[0]:
            self.definition = body
            return 201, self._shown()
        if path == DEFINITION and self.definition is not None:
            if method == "PATCH" and mapping(body, "spec") != mapping(self.definition, "spec"):
                self.definition = {**self.definition, **body}
                self.revision += 1
            return 200, self._shown()
        return refusal(404, "NotFound", "the server could not find the requested resource")

    def _shown(self) -> Object:
        metadata: Object = {"resourceVersion": str(self.revision)}
        return {**(self.definition or {}), "metadata": metadata}


def test_the_definition_is_created_once_and_renewed_when_it_is_another() -> None:
    cluster = Cluster()
    with fake_server(cluster.respond) as (url, asked):
        endpoint = endpoint_at(url)
        assert install(endpoint) is Installed.CREATED
        assert install(endpoint) is Installed.UNCHANGED
        assert cluster.definition is not None
        cluster.definition = {**cluster.definition, "spec": {"group": "old"}}
        assert install(endpoint) is Installed.CONFIGURED
        assert install(endpoint) is Installed.UNCHANGED

    assert sum(each.startswith("POST") for each in asked.requests) == 1
    assert mapping(cluster.definition, "spec")["group"] == "rebind.internal"


def test_a_cluster_that_is_slow_to_serve_the_kind_is_waited_for() -> None:
    """The server has no room for a moment, and somebody else creates it at the same time."""
    cluster = Cluster()
    refusals = iter([503, 429, 404])

    def respond(method: str, path: str, body: Object) -> tuple[int, Object]:
        if path == DEFINITION.rpartition("/")[0] and method == "POST":
            cluster.respond(method, path, body)
            return refusal(409, "AlreadyExists", "already exists")
        if "devicebindings?limit" in path and (code := next(refusals, 0)):
            return refusal(code, "", "not now")
        return cluster.respond(method, path, body)

    with fake_server(respond) as (url, asked):
        assert install(endpoint_at(url)) is Installed.UNCHANGED

    assert sum("devicebindings?limit" in each for each in asked.requests) == 4


def test_a_kind_that_is_not_served_says_why() -> None:
    """Its names are taken by another definition, say."""
    condition: Object = {"type": "NamesAccepted", "status": "False", "message": "devb is in use"}
    shown: Object = {"status": {"conditions": [condition]}, "metadata": {}}

    def respond(method: str, path: str, body: Object) -> tuple[int, Object]:
        del body
        is_definition = path.startswith(DEFINITION.rpartition("/")[0])
        if is_definition and method != "POST":
            return 200, shown
        return refusal(404, "NotFound", "the server could not find the requested resource")

    with (
        fake_server(respond) as (url, _),
        pytest.raises(ServerError, match="does not serve DeviceBindings yet: devb is in use"),
    ):
        install(endpoint_at(url), within_s=0.5)


def test_rebinds_own_server_needs_no_definition() -> None:
    with running_api() as api:
        assert install(endpoint_at(api.url)) is Installed.BUILT_IN


def test_who_may_not_write_definitions_is_told_so() -> None:
    with (
        fake_server(lambda *_: refusal(403, "Forbidden", "no right to it")) as (url, _),
        pytest.raises(ServerError, match="refuses: no right to it"),
    ):
        install(endpoint_at(url))


@pytest.mark.parametrize(
    ("persistence", "message"),
    [
        ("bind-resource", "has no pods/resourcebinding.*there work: checkpoint, database"),
        ("checkpoint+api", "which is Rebind's own and which --persistence checkpoint.api needs"),
        ("binding-object", "make them known with: rebind api install-crd"),
        ("checkpoint", ""),
        ("pod-status", ""),
    ],
)
def test_a_cluster_that_lacks_what_a_persistence_needs_is_refused(
    persistence: str, message: str
) -> None:
    with fake_server(Cluster().respond) as (url, _):
        asking = found_pods(RemoteSettings(endpoint_at(url)), [NodeName("n0")], persistence)
        if message:
            with pytest.raises(ServerError, match=message):
                asyncio.run(asking)
        else:
            assert asyncio.run(asking) == {}


def test_a_server_that_is_away_is_said_so() -> None:
    with fake_server(Cluster().respond) as (url, _):
        pass
    told = f"the API server {url} cannot be reached: Connection refused$"
    with pytest.raises(ServerError, match=told):
        asyncio.run(found_pods(RemoteSettings(endpoint_at(url)), [NodeName("n0")], "checkpoint"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "name the cluster with --kubeconfig or with --api-server, or use -o yaml"),
        (["--context", "c"], "--context is for --kubeconfig, which is not given"),
        (
            ["--api-server", "http://127.0.0.1:1", "--kubeconfig", __file__],
            "--api-server and --kubeconfig name different API servers; give one of them",
        ),
    ],
)
def test_a_cluster_that_is_not_named_clearly_is_refused(arguments: list[str], message: str) -> None:
    result = rebind("api", "install-crd", *arguments)

    assert (result.code, result.stderr) == (2, f"error: {message}\n")
