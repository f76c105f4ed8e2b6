"""Who may do what (issue 5 A; Kubernetes' node authorizer and NodeRestriction)."""

from __future__ import annotations

import pytest

from simulator.api.dialect import kinds
from simulator.api.dialect.authorization import (
    ADMIN,
    ANONYMOUS,
    Identity,
    authorize,
    node_identity,
    read_tokens,
    restrict,
    restrict_to_own_pods,
)
from simulator.api.dialect.documents import Object, items, mapping
from simulator.api.dialect.kinds import (
    BINDINGS,
    BULK_RESOURCE_BINDINGS,
    DEVICE_BINDINGS,
    EVENTS,
    LEASES,
    NODES,
    PODS,
    SELF_SUBJECT_ACCESS_REVIEWS,
    SELF_SUBJECT_REVIEWS,
    SELF_SUBJECT_RULES_REVIEWS,
)
from simulator.api.dialect.reviews import reviewed
from simulator.api.dialect.routes import Route
from simulator.api.dialect.selectors import read_selection
from simulator.api.dialect.statuses import StatusError
from simulator.errors import ConfigError
from tests.api.dialect.objects import FRESH, binding_body, stored_pod

NODE = node_identity("node-1")
VIEWER = Identity("someone")
SCHEDULER = Identity("system:kube-scheduler")
OWN_POD = stored_pod(spec={"nodeName": "node-1"})
OTHER_POD = stored_pod(spec={"nodeName": "node-2"})
UNBOUND_POD = stored_pod()
ALL_PODS = Route(PODS)
STATUS = Route(PODS, "default", "trainer", "status")


def allowed(identity: Identity, verb: str, route: Route, fields: str = "") -> bool:
    try:
        authorize(identity, verb, route, read_selection(route.kind, "", fields))
    except StatusError as refused:
        return refused.code != 403
    return True


def refusal(verb: str, route: Route, current: Object | None, body: Object | None = None) -> str:
    with pytest.raises(StatusError) as refused:
        restrict(NODE, verb, route, current, body)
    assert (refused.value.code, refused.value.reason) == (403, "Forbidden")
    return refused.value.message


def test_masters_may_do_everything_and_strangers_nothing() -> None:
    for verb in kinds.EVERYTHING:
        assert allowed(ADMIN, verb, Route(PODS, "default", "trainer"))
        assert not allowed(ANONYMOUS, verb, Route(PODS, "default", "trainer"))


def test_a_known_user_reads_and_does_not_write() -> None:
    assert allowed(VIEWER, kinds.LIST, ALL_PODS)
    assert not allowed(VIEWER, kinds.CREATE, Route(PODS, "default"))
    with pytest.raises(StatusError) as refused:
        authorize(VIEWER, kinds.DELETE, Route(DEVICE_BINDINGS, "default", "trainer"))
    assert refused.value.message == (
        'devicebindings.rebind.internal "trainer" is forbidden: User "someone" cannot delete '
        'resource "devicebindings" in API group "rebind.internal" in the namespace "default"'
    )


def test_the_scheduler_binds_and_does_not_create() -> None:
    binding = Route(PODS, "default", "trainer", "binding")

    assert allowed(SCHEDULER, kinds.CREATE, binding)
    assert not allowed(SCHEDULER, kinds.CREATE, Route(PODS, "default"))
    assert not allowed(NODE, kinds.CREATE, binding)
    assert allowed(SCHEDULER, kinds.CREATE, Route(BINDINGS, "default"))
    assert not allowed(VIEWER, kinds.CREATE, Route(BINDINGS, "default"))


def test_a_node_lists_the_pods_that_are_bound_to_it() -> None:
    assert allowed(NODE, kinds.WATCH, ALL_PODS, "spec.nodeName=node-1")
    assert not allowed(NODE, kinds.WATCH, ALL_PODS, "spec.nodeName=node-2")
    with pytest.raises(StatusError) as refused:
        authorize(NODE, kinds.LIST, ALL_PODS)
    assert refused.value.message == (
        'pods is forbidden: User "system:node:node-1" cannot list resource "pods" in API group "" '
        "at the cluster scope: can only list/watch pods with spec.nodeName field selector"
    )


def test_a_node_reads_its_own_node_object_and_pods() -> None:
    assert allowed(NODE, kinds.GET, Route(NODES, name="node-1"))
    assert allowed(NODE, kinds.WATCH, Route(NODES), "metadata.name=node-1")
    assert not allowed(NODE, kinds.GET, Route(NODES, name="node-2"))
    assert not allowed(NODE, kinds.LIST, Route(NODES))
    restrict(NODE, kinds.GET, Route(PODS, "default", "trainer"), OWN_POD, None)
    message = refusal(kinds.GET, Route(PODS, "default", "trainer"), OTHER_POD)
    assert message.endswith("no relationship found between node 'node-1' and this object")


@pytest.mark.parametrize("pod", [OTHER_POD, UNBOUND_POD])
@pytest.mark.parametrize(
    ("route", "verb", "done"),
    [
        (STATUS, kinds.PATCH, "update pod status for pods"),
        (Route(PODS, "default", "trainer", "eviction"), kinds.CREATE, "evict pods"),
        (
            Route(PODS, "default", "trainer", "resourcebinding"),
            kinds.CREATE,
            "bind devices to pods",
        ),
        (Route(PODS, "default", "trainer"), kinds.DELETE, "delete pods"),
    ],
)
def test_a_node_writes_only_about_pods_bound_to_it(
    pod: Object, route: Route, verb: str, done: str
) -> None:
    restrict(NODE, verb, route, OWN_POD, None)

    assert refusal(verb, route, pod) == (
        f'pods "trainer" is forbidden: node "node-1" can only {done} with spec.nodeName set to '
        "itself"
    )


def test_a_node_creates_mirror_pods_alone() -> None:
    mirror: Object = {
        "metadata": {"annotations": {"kubernetes.io/config.mirror": "x"}},
        "spec": {"nodeName": "node-1"},
    }
    foreign: Object = {**mirror, "spec": {"nodeName": "node-2"}}
    route = Route(PODS, "default")

    restrict(NODE, kinds.CREATE, route, None, mirror)

    assert "can only create mirror pods" in refusal(kinds.CREATE, route, None, OWN_POD)
    assert "can only create pods with spec.nodeName set" in refusal(
        kinds.CREATE, route, None, foreign
    )


def test_a_node_writes_its_own_node_object_and_lease() -> None:
    lease = Route(LEASES, "kube-node-lease", "node-1")

    restrict(NODE, kinds.PATCH, Route(NODES, "", "node-1", "status"), {}, {})
    restrict(NODE, kinds.CREATE, Route(NODES), None, {"metadata": {"name": "node-1"}})
    restrict(NODE, kinds.UPDATE, lease, {}, {})

    assert allowed(NODE, kinds.GET, lease)
    assert not allowed(NODE, kinds.GET, Route(LEASES, "kube-node-lease", "node-2"))
    assert not allowed(NODE, kinds.WATCH, Route(LEASES, "kube-node-lease"))
    assert refusal(kinds.PATCH, Route(NODES, "", "node-2", "status"), {}).endswith(
        'node "node-1" is not allowed to modify node "node-2"'
    )
    assert refusal(kinds.UPDATE, Route(LEASES, "kube-node-lease", "node-2"), {}).endswith(
        "can only access node lease with the same name as the requesting node"
    )
    assert refusal(kinds.UPDATE, Route(LEASES, "default", "node-1"), {}).endswith(
        'can only access leases in the "kube-node-lease" system namespace'
    )


def test_a_node_writes_device_bindings_of_its_own() -> None:
    route = Route(DEVICE_BINDINGS, "default", "trainer")
    own, other = binding_body(), binding_body(nodeName="node-2")

    restrict(NODE, kinds.CREATE, Route(DEVICE_BINDINGS, "default"), None, own)
    restrict(NODE, kinds.DELETE, route, own, None)
    restrict(NODE, kinds.PATCH, Route(DEVICE_BINDINGS, "default", "trainer", "status"), own, {})

    wanted = "can only write device bindings with spec.nodeName set to itself"
    assert wanted in refusal(kinds.CREATE, Route(DEVICE_BINDINGS, "default"), None, other)
    assert wanted in refusal(kinds.UPDATE, route, other, own)
    assert wanted in refusal(kinds.DELETE, route, other)


def test_a_node_reads_the_device_bindings_that_name_it() -> None:
    route = Route(DEVICE_BINDINGS, "default", "trainer")

    assert allowed(NODE, kinds.WATCH, Route(DEVICE_BINDINGS), "spec.nodeName=node-1")
    assert not allowed(NODE, kinds.LIST, Route(DEVICE_BINDINGS), "spec.nodeName=node-2")
    assert not allowed(NODE, kinds.LIST, Route(DEVICE_BINDINGS, "default"))
    restrict(NODE, kinds.GET, route, binding_body(), None)
    assert refusal(kinds.GET, route, binding_body(nodeName="node-2")).endswith(
        "no relationship found between node 'node-1' and this object"
    )


def test_a_node_says_which_devices_a_pod_has_of_pods_bound_to_it() -> None:
    route, own = Route(DEVICE_BINDINGS, "default"), binding_body(podUID="u-1")
    pod: Object = {"metadata": {"uid": "u-1"}, "spec": {"nodeName": "node-1"}}

    restrict_to_own_pods(NODE, route, None, own, pod)
    restrict_to_own_pods(NODE, route, own, own, None)
    restrict_to_own_pods(VIEWER, route, None, own, None)

    others: list[Object | None] = [
        None,
        {**pod, "spec": {"nodeName": "node-2"}},
        {**pod, "metadata": {"uid": "u-2"}},
    ]
    for other in others:
        with pytest.raises(StatusError) as refused:
            restrict_to_own_pods(NODE, route, binding_body(podUID="u-0"), own, other)
        assert (refused.value.code, refused.value.message.partition(": ")[2]) == (
            403,
            'node "node-1" can only write device bindings of pods that are bound to it',
        )


def test_a_node_does_not_speak_for_another_in_events() -> None:
    route = Route(EVENTS, "default")

    restrict(NODE, kinds.CREATE, route, None, {"source": {"host": "node-1"}})

    own: Object = {"source": {"host": "node-1"}}
    other: Object = {"source": {"host": "node-2"}}
    assert "source.host" in refusal(kinds.CREATE, route, None, other)
    assert "source.host" in refusal(kinds.PATCH, route, other, own)


def test_others_than_nodes_are_not_restricted() -> None:
    restrict(ADMIN, kinds.PATCH, STATUS, OTHER_POD, None)
    restrict(SCHEDULER, kinds.CREATE, Route(PODS, "default", "trainer", "binding"), None, None)
    assert node_identity("n").node == "n"
    assert Identity("system:node:n").node == ""


def test_a_token_file_is_that_of_kubernetes() -> None:
    tokens = read_tokens(
        "# who may ask\n"
        'secret-a,alice,1,"system:masters,team"\n'
        "\n"
        "secret-b,system:node:node-1,2,system:nodes\n"
        "secret-c,bob,3\n"
    )

    assert list(tokens.tokens()) == ["secret-a", "secret-b", "secret-c"]
    alice, node = tokens.identity("secret-a"), tokens.identity("secret-b")
    assert alice == Identity("alice", ("system:masters", "team", "system:authenticated"))
    assert node is not None
    assert node.node == "node-1"
    assert tokens.identity("secret-c") == Identity("bob")
    assert tokens.identity("other") is None
    assert tokens.identity("sécret") is None


@pytest.mark.parametrize("content", ["", "a,b\n", ",b,c\n", "a,b,c\na,d,e\n"])
def test_a_token_file_that_is_none_is_refused_without_showing_a_token(content: str) -> None:
    with pytest.raises(ConfigError) as refused:
        read_tokens(content.replace("a", "secret-token"))

    assert "secret-token" not in str(refused.value)


def access(identity: Identity, **asked: str) -> bool:
    spec: Object = {"resourceAttributes": {**asked}}
    answer = reviewed(SELF_SUBJECT_ACCESS_REVIEWS, identity, {"spec": spec}, FRESH)
    return mapping(answer, "status")["allowed"] is True


def test_people_can_ask_what_they_may() -> None:
    assert access(VIEWER, verb="list", resource="pods")
    assert not access(VIEWER, verb="create", resource="pods")
    assert access(SCHEDULER, verb="create", resource="pods", subresource="binding")
    assert access(SCHEDULER, verb="create", resource="pods/binding")
    assert access(ADMIN, verb="*", resource="whatever")
    assert not access(VIEWER, verb="*", resource="pods")
    assert not access(VIEWER, verb="get", resource="secrets")
    path: Object = {"spec": {"nonResourceAttributes": {"path": "/version", "verb": "get"}}}
    answer = reviewed(SELF_SUBJECT_ACCESS_REVIEWS, VIEWER, path, FRESH)
    assert mapping(answer, "status") == {"allowed": True}


def test_people_can_ask_for_all_rules_and_who_they_are() -> None:
    every = reviewed(SELF_SUBJECT_RULES_REVIEWS, ADMIN, {}, FRESH)
    own = reviewed(SELF_SUBJECT_RULES_REVIEWS, VIEWER, {}, FRESH)
    who = reviewed(SELF_SUBJECT_REVIEWS, VIEWER, {}, FRESH)

    assert items(every, "status", "resourceRules")[0]["resources"] == ["*"]
    rules = {str(one["resources"]): one["verbs"] for one in items(own, "status", "resourceRules")}
    assert rules["['pods']"] == ["get", "list", "watch"]
    assert mapping(who, "status", "userInfo") == {
        "username": "someone",
        "groups": ["system:authenticated"],
    }


def test_many_bindings_at_once_are_for_those_who_bind() -> None:
    route = Route(BULK_RESOURCE_BINDINGS)

    assert allowed(NODE, kinds.CREATE, route)
    assert allowed(SCHEDULER, kinds.CREATE, route)
    assert not allowed(VIEWER, kinds.CREATE, route)
