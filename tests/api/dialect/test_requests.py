"""Paths, verbs, queries, bodies and forms of answers (api-facts 1 to 4)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.api.dialect import kinds
from simulator.api.dialect.bodies import BODY_MAX, read_object, read_patch
from simulator.api.dialect.documents import mapping
from simulator.api.dialect.kinds import (
    DEVICE_BINDINGS,
    KINDS,
    NAMESPACES,
    NODES,
    PODS,
    SELF_SUBJECT_ACCESS_REVIEWS,
    SELF_SUBJECT_REVIEWS,
)
from simulator.api.dialect.negotiation import Shape, answer_form
from simulator.api.dialect.patches import PatchType
from simulator.api.dialect.queries import (
    Continue,
    Validation,
    flag,
    read_continue,
    read_list_query,
    read_write_query,
)
from simulator.api.dialect.routes import Route, find_resource, verb_of
from simulator.api.dialect.statuses import PathNotFoundError, StatusError
from simulator.errors import RebindError

TABLE = (
    "application/json;as=Table;v=v1;g=meta.k8s.io,"
    "application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json"
)
PODS_HERE = Route(PODS, "default")


@pytest.mark.parametrize(
    ("path", "route"),
    [
        ("/api/v1/pods", Route(PODS)),
        ("/api/v1/namespaces/default/pods", PODS_HERE),
        ("/api/v1/namespaces/default/pods/a", Route(PODS, "default", "a")),
        ("/api/v1/namespaces/default/pods/a/status", Route(PODS, "default", "a", "status")),
        ("/api/v1/namespaces/default/pods/a/binding", Route(PODS, "default", "a", "binding")),
        ("/api/v1/namespaces", Route(NAMESPACES)),
        ("/api/v1/namespaces/default", Route(NAMESPACES, "", "default")),
        ("/api/v1/namespaces/default/status", Route(NAMESPACES, "", "default", "status")),
        ("/api/v1/namespaces/default/finalize", Route(NAMESPACES, "", "default", "finalize")),
        ("/api/v1/nodes/node-1/status", Route(NODES, "", "node-1", "status")),
        (
            "/apis/rebind.internal/v1alpha1/namespaces/n/devicebindings/a",
            Route(DEVICE_BINDINGS, "n", "a"),
        ),
    ],
)
def test_a_path_leads_to_a_resource_and_back(path: str, route: Route) -> None:
    assert find_resource(path) == route
    assert route.path() == path


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/api",
        "/api/v1",
        "/api/v2/pods",
        "/api/v1/secrets",
        "/apis/apps/v1/deployments",
        "/api/v1/pods/a",
        "/api/v1/namespaces/default/nodes",
        "/api/v1/pods/a/log",
        "/api/v1/namespaces/default/pods//log",
        "/api/v1/namespaces/default/pods/a/status/b",
        "/api/v1/namespaces/default/pods//status",
        "/api/v1/nodes/node-1/scale",
        "/apis/rebind.internal/v1alpha1/resourcebindings/a",
    ],
)
def test_other_paths_lead_nowhere(path: str) -> None:
    with pytest.raises(PathNotFoundError, match="404 page not found"):
        find_resource(path)


@pytest.mark.parametrize("below", ["log", "exec", "attach", "portforward", "proxy", "proxy/x"])
def test_what_kubernetes_has_below_a_pod_is_refused_with_the_reason(below: str) -> None:
    with pytest.raises(StatusError) as refused:
        find_resource(f"/api/v1/namespaces/default/pods/a/{below}")
    what = below.partition("/")[0]

    assert (refused.value.code, refused.value.reason) == (405, "MethodNotAllowed")
    assert refused.value.message.startswith(f'pods "a": {what} is not served here: containers are ')


@given(st.text(max_size=30), st.sampled_from(["/api/", "/apis/", "/api/v1/", ""]))
def test_every_path_leads_somewhere_or_nowhere(rest: str, start: str) -> None:
    try:
        route = find_resource(start + rest)
    except RebindError:
        return
    assert route.kind in KINDS


@pytest.mark.parametrize(
    ("method", "route", "is_watch", "verb"),
    [
        ("GET", PODS_HERE, False, "list"),
        ("GET", PODS_HERE, True, "watch"),
        ("GET", Route(PODS, "n", "a"), False, "get"),
        ("POST", PODS_HERE, False, "create"),
        ("DELETE", PODS_HERE, False, "deletecollection"),
        ("DELETE", Route(PODS, "n", "a"), False, "delete"),
        ("PATCH", Route(PODS, "n", "a", "status"), False, "patch"),
        ("PUT", Route(NODES, "", "a"), False, "update"),
        ("POST", Route(PODS, "n", "a", "resourcebinding"), False, "create"),
    ],
)
def test_a_method_is_a_verb(method: str, route: Route, verb: str, *, is_watch: bool) -> None:
    assert verb_of(method, route, is_watch=is_watch) == verb


@pytest.mark.parametrize(
    ("method", "route", "allowed"),
    [
        ("POST", Route(PODS, "n", "a"), "GET, PUT, PATCH, DELETE"),
        ("PUT", PODS_HERE, "GET, POST, DELETE"),
        ("GET", Route(PODS, "n", "a", "binding"), "POST"),
        ("DELETE", Route(NAMESPACES), "GET, POST"),
        ("BREW", PODS_HERE, "GET, POST, DELETE"),
    ],
)
def test_a_method_that_a_path_does_not_know_is_refused(
    method: str, route: Route, allowed: str
) -> None:
    with pytest.raises(StatusError) as refused:
        verb_of(method, route)

    assert (refused.value.code, refused.value.reason) == (405, "MethodNotAllowed")
    assert refused.value.headers == {"Allow": allowed}


@pytest.mark.parametrize(
    ("value", "holds"),
    [("true", True), ("1", True), ("True", True), ("", True), ("0", False), ("FALSE", False)],
)
def test_only_zero_and_false_are_false(value: str, *, holds: bool) -> None:
    # api-facts 3: kubernetes_asyncio says watch=True.
    assert flag({"watch": value}, "watch") is holds
    assert not flag({}, "watch")


def test_a_place_in_a_list_is_told_and_read_back() -> None:
    token = Continue(12, "default/ünï").encode()

    assert read_continue(token) == Continue(12, "default/ünï")
    assert read_list_query({"continue": token, "limit": "1"}).start == Continue(12, "default/ünï")


@given(st.text(max_size=40))
def test_what_is_no_place_in_a_list_is_a_bad_request(token: str) -> None:
    with pytest.raises(StatusError, match="continue key is not valid") as refused:
        read_continue(token)

    assert refused.value.code == 400


@pytest.mark.parametrize(
    ("query", "code", "message"),
    [
        ({"limit": "x"}, 400, "strconv.ParseInt"),
        ({"resourceVersion": "abc"}, 400, 'Invalid value: "abc": strconv.ParseUint'),
        (
            {"continue": Continue(1, "a/b").encode(), "resourceVersion": "5"},
            400,
            "specifying resource version is not allowed when using continue",
        ),
        (
            {"watch": "1", "sendInitialEvents": "true"},
            422,
            (
                "resourceVersionMatch: Forbidden: sendInitialEvents requires setting "
                "resourceVersionMatch to NotOlderThan"
            ),
        ),
        ({"sendInitialEvents": "true"}, 422, "sendInitialEvents is forbidden for list"),
        (
            {"watch": "1", "resourceVersionMatch": "NotOlderThan"},
            422,
            "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
        ),
        ({"resourceVersionMatch": "Exact"}, 422, "is forbidden unless resourceVersion is provided"),
        ({"resourceVersionMatch": "Sort", "resourceVersion": "1"}, 422, "supported values"),
        (
            {"resourceVersionMatch": "Exact", "resourceVersion": "0"},
            422,
            'resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
        ),
        ({"includeObject": "All"}, 422, "includeObject: Unsupported value"),
    ],
)
def test_options_of_a_list_that_make_no_sense_are_refused(
    query: dict[str, str], code: int, message: str
) -> None:
    with pytest.raises(StatusError) as refused:
        read_list_query(query)

    assert refused.value.code == code
    assert message in refused.value.message


def test_the_query_of_kubectl_wait_is_read() -> None:
    query = read_list_query(
        {
            "watch": "true",
            "sendInitialEvents": "true",
            "resourceVersionMatch": "NotOlderThan",
            "allowWatchBookmarks": "true",
            "timeoutSeconds": "7",
            "fieldSelector": "metadata.name=a",
            "resourceVersion": "",
        }
    )

    assert (query.initial_events, query.bookmarks, query.timeout_seconds) == (True, True, 7)
    assert (query.fields, query.revision) == ("metadata.name=a", None)


@pytest.mark.parametrize(
    ("query", "applies", "message"),
    [
        ({"dryRun": "Some"}, False, "dryRun: Unsupported value"),
        ({"fieldValidation": "Loose"}, False, "fieldValidation: Unsupported value"),
        ({"force": "true"}, False, "force: Forbidden: may not be specified for non-apply patch"),
        ({}, True, "fieldManager: Required value: is required for apply patch"),
        ({"fieldManager": "a" * 129}, False, "should only contain printable characters"),
    ],
)
def test_options_of_a_write_that_make_no_sense_are_refused(
    query: dict[str, str], message: str, *, applies: bool
) -> None:
    with pytest.raises(StatusError) as refused:
        read_write_query(query, applies=applies)

    assert refused.value.code == 422
    assert message in refused.value.message


def test_the_query_of_a_server_side_apply_is_read() -> None:
    query = read_write_query(
        {"fieldManager": "kubectl", "force": "true", "dryRun": "All", "fieldValidation": "Strict"},
        applies=True,
    )

    assert (query.manager, query.force, query.dry_run) == ("kubectl", True, True)
    assert query.validation is Validation.STRICT


@pytest.mark.parametrize(
    ("accept", "shape", "version"),
    [
        ("", Shape.OBJECT, "v1"),
        ("*/*", Shape.OBJECT, "v1"),
        ("application/vnd.kubernetes.protobuf,application/json", Shape.OBJECT, "v1"),
        (TABLE, Shape.TABLE, "v1"),
        ("application/json;as=Table;v=v1beta1;g=meta.k8s.io", Shape.TABLE, "v1beta1"),
        ("application/json;as=Table;v=v9;g=meta.k8s.io,application/json", Shape.OBJECT, "v1"),
        (
            "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
            Shape.PARTIAL,
            "v1",
        ),
        ("text/html;q=0.9,application/json;q=0.1", Shape.OBJECT, "v1"),
        ("application/json;q=x", Shape.OBJECT, "v1"),
    ],
)
def test_the_first_form_that_there_is_is_answered(accept: str, shape: Shape, version: str) -> None:
    form = answer_form(accept)

    assert (form.shape, form.version) == (shape, version)


@pytest.mark.parametrize("accept", ["text/html", "application/json;as=Odd", "image/png,text/*"])
def test_a_client_that_takes_no_json_is_told_so(accept: str) -> None:
    with pytest.raises(StatusError) as refused:
        answer_form(accept)

    assert refused.value.code == 406
    assert refused.value.message == (
        "only the following media types are accepted: application/json"
    )


def test_a_body_without_a_content_type_is_json_and_its_kind_is_that_of_the_path() -> None:
    found = read_object(PODS_HERE, "", b'{"metadata":{"name":"a"}}')

    assert found == {"metadata": {"name": "a"}, "kind": "Pod", "apiVersion": "v1"}


def test_yaml_is_read_as_json_has_it() -> None:
    body = b"kind: Pod\nmetadata: {name: a, labels: {at: 2026-01-01}}\n"

    found = read_object(PODS_HERE, "application/yaml", body)

    assert mapping(found, "metadata", "labels") == {"at": "2026-01-01"}


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"{", "couldn't get version/kind; json parse error"),
        (b"", "couldn't get version/kind"),
        (b"[]", "the body is no object"),
        (b'{"a":NaN}', "invalid character 'N' looking for beginning of value"),
        (b'{"a":1e999}', "1e999 is no number that a float64 holds"),
        (b'{"a":"\xff"}', "json parse error"),
        (b'{"a":' * 100_000, "json parse error"),
        (b'{"a":' * 129 + b"1" + b"}" * 129, "exceeded max depth of 128"),
        (b'{"kind":"Node"}', 'Node in version "v1" cannot be handled as a Pod'),
        (b'{"apiVersion":"v2"}', "the API version in the data (v2) does not match the expected"),
    ],
)
def test_a_body_that_is_none_is_a_bad_request(body: bytes, message: str) -> None:
    with pytest.raises(StatusError) as refused:
        read_object(PODS_HERE, "application/json", body)

    assert refused.value.code == 400
    assert message in refused.value.message


@pytest.mark.parametrize(
    "body",
    [
        b"a: &x [1]\nb: [*x, *x]",
        b"a: !!binary aGk=",
        b"? [a]\n: b",
        b"a: .inf",
        b"a: [",
        b"a: !!set {b}",
    ],
)
def test_yaml_that_is_no_json_is_a_bad_request(body: bytes) -> None:
    with pytest.raises(StatusError) as refused:
        read_object(PODS_HERE, "application/yaml", body)

    assert refused.value.code == 400


def test_half_a_surrogate_pair_becomes_a_replacement_character() -> None:
    body = b'{"metadata":{"name":"a","annotations":{"x":"\\ud800","y":"\\ud83d\\ude00"}}}'

    found = read_object(PODS_HERE, "application/json", body)

    assert mapping(found, "metadata", "annotations") == {"x": "\ufffd", "y": "\U0001f600"}


def test_a_key_that_stands_twice_is_an_error_only_when_asked_for() -> None:
    body = b'{"metadata":{"name":"a","name":"b"}}'

    with pytest.raises(StatusError, match='duplicate field "name"'):
        read_object(PODS_HERE, "application/json", body, Validation.STRICT)
    assert read_object(PODS_HERE, "application/json", body)["metadata"] == {"name": "b"}


def test_a_body_of_another_type_or_of_more_than_3_mib_is_refused() -> None:
    with pytest.raises(StatusError) as other:
        read_object(PODS_HERE, "text/plain", b"{}")
    with pytest.raises(StatusError) as large:
        read_object(PODS_HERE, "application/json", b" " * (BODY_MAX + 1))

    assert other.value.code == 415
    assert other.value.message == (
        "the body of the request was in an unknown format - accepted media types include: "
        "application/json, application/yaml, application/vnd.kubernetes.protobuf"
    )
    assert large.value.code == 413


NAMESPACE = (
    "6b3873000a0f0a02763112094e616d657370616365121e0a160a067465616d2d6112001a0022002a003200"
    "3800420012001a020a001a002200"
)
ACCESS_REVIEW = (
    "6b3873000a320a17617574686f72697a6174696f6e2e6b38732e696f2f7631121753656c665375626a6563"
    "7441636365737352657669657712430a100a0012001a0022002a0032003800420012250a230a047465616d"
    "12066372656174651a0022002a04706f6473320762696e64696e673a001a08080012001a0020001a002200"
)
WHO = (
    "6b3873000a2d0a1861757468656e7469636174696f6e2e6b38732e696f2f7631121153656c665375626a65"
    "6374526576696577121a0a100a0012001a0022002a0032003800420012060a040a0012001a002200"
)
"""What kubectl 1.32.4 sent: create ns team-a; auth can-i create pods/binding; auth whoami."""
PROTOBUF = "application/vnd.kubernetes.protobuf"


def test_the_protobuf_bodies_of_new_kubectl_are_read() -> None:
    access = Route(SELF_SUBJECT_ACCESS_REVIEWS)

    namespace = read_object(Route(NAMESPACES), PROTOBUF, bytes.fromhex(NAMESPACE))
    review = read_object(access, PROTOBUF, bytes.fromhex(ACCESS_REVIEW))
    who = read_object(Route(SELF_SUBJECT_REVIEWS), PROTOBUF, bytes.fromhex(WHO))

    assert mapping(namespace, "metadata") == {"name": "team-a"}
    assert mapping(review, "spec", "resourceAttributes") == {
        "namespace": "team",
        "verb": "create",
        "resource": "pods",
        "subresource": "binding",
    }
    assert who["kind"] == "SelfSubjectReview"


@given(st.binary(max_size=60))
def test_no_protobuf_body_is_more_than_a_bad_request(data: bytes) -> None:
    with pytest.raises(StatusError) as refused:
        read_object(PODS_HERE, PROTOBUF, b"k8s\x00" + data)

    assert refused.value.code in {400, 415}


def test_a_protobuf_body_of_a_kind_that_is_not_read_is_unsupported() -> None:
    data = bytes.fromhex(NAMESPACE).replace(b"Namespace", b"Deploymen")

    with pytest.raises(StatusError) as refused:
        read_object(Route(NAMESPACES), PROTOBUF, data)

    assert refused.value.code == 415


def test_a_strategic_patch_of_a_custom_kind_is_refused_with_the_types_there_are() -> None:
    # api-facts 2: kubectl patch without --type prints it.
    route = Route(DEVICE_BINDINGS, "default", "a")

    with pytest.raises(StatusError) as refused:
        read_patch(route, "application/strategic-merge-patch+json", b"{}")

    assert refused.value.code == 415
    assert refused.value.message == (
        "the body of the request was in an unknown format - accepted media types include: "
        "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml"
    )


def test_a_patch_is_read_by_its_type() -> None:
    route = Route(PODS, "default", "a")
    applied = b'{"kind":"Pod","apiVersion":"v1"}'

    assert read_patch(route, "application/json-patch+json", b"[]").content == []
    patch = read_patch(route, "application/apply-patch+yaml", applied)
    assert patch.type is PatchType.APPLY
    with pytest.raises(StatusError, match="invalid object type"):
        read_patch(route, "application/apply-patch+yaml", b"kind: Node")
    with pytest.raises(StatusError, match="error decoding patch") as refused:
        read_patch(route, "application/merge-patch+json", b"{")
    assert refused.value.code == 400


def test_the_verbs_are_those_of_kubernetes() -> None:
    assert set(kinds.EVERYTHING) == {
        "create", "delete", "deletecollection", "get", "list", "patch", "update", "watch",
    }  # fmt: skip
