"""What kubelets may read and write with an identity of their node, over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from simulator.api.dialect.authorization import read_tokens
from simulator.api.serving.running import ApiSettings
from store.sql_store import SqlStore
from tests.api.serving.running import Api, Document, serving

BINDINGS = "/apis/rebind.internal/v1alpha1/namespaces/default/devicebindings"
PODS = "/api/v1/namespaces/default/pods"
TOKENS = """
m,admin,1,system:masters
n0,system:node:n0,2,system:nodes
n1,system:node:n1,3,system:nodes
"""


@pytest.fixture(scope="module")
def clients() -> Iterator[dict[str, Api]]:
    """Clients by their token."""
    settings = ApiSettings("127.0.0.1", 0, tokens=read_tokens(TOKENS))
    with closing(SqlStore("sqlite://")) as store, serving(store, settings) as url:
        yield {who: Api(url, {"Authorization": f"Bearer {who}"}) for who in ("m", "n0", "n1")}


def binding(name: str, uid: str, node: str) -> Document:
    spec = {"podUID": uid, "nodeName": node, "containers": []}
    return {"metadata": {"name": name}, "spec": spec}


def test_a_node_reads_and_writes_the_device_bindings_of_its_pods(clients: dict[str, Api]) -> None:
    spec = {"containers": [{"name": "main"}], "nodeName": "n0"}
    made = clients["m"].create(PODS, {"metadata": {"name": "a"}, "spec": spec})
    uid = made["metadata"]["uid"]
    owner, other = clients["n0"], clients["n1"]

    for foreign in (binding("a", uid, "n1"), binding("a", uid, "n0"), binding("b", uid, "n1")):
        refused = other.ask("POST", BINDINGS, foreign)
        assert (refused.code, refused.object["reason"]) == (403, "Forbidden")
    assert owner.ask("POST", BINDINGS, binding("b", uid, "n0")).code == 403
    assert owner.ask("POST", BINDINGS, binding("a", uid, "n0")).code == 201
    assert [each.ask("GET", f"{BINDINGS}/a").code for each in (owner, other)] == [200, 403]
    assert owner.ask("GET", BINDINGS).code == 403
    assert [
        len(each.get(f"{BINDINGS}?fieldSelector=spec.nodeName={who}")["items"])
        for who, each in (("n0", owner), ("n1", other))
    ] == [1, 0]
    assert other.ask("GET", f"{BINDINGS}?watch=1&fieldSelector=spec.nodeName=n0").code == 403
    clients["m"].ask("DELETE", f"{PODS}/a?gracePeriodSeconds=0")
    labels = {"metadata": {"labels": {"pod": "gone"}}}
    media = {"Content-Type": "application/merge-patch+json"}
    assert owner.ask("PATCH", f"{BINDINGS}/a", labels, media).code == 200
    assert [each.ask("DELETE", f"{BINDINGS}/a").code for each in (other, owner)] == [403, 200]
