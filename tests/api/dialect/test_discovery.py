"""Discovery, version and OpenAPI: what clients ask first (api-facts 1.2, 1.3)."""

from __future__ import annotations

import json

import pytest
from kubernetes.client import VersionInfo

from simulator.api.dialect.discovery import document_at
from simulator.api.dialect.documents import Json, Object, items, mapping, text, texts

NEW = (
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json"
)
OF_1_27 = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"


def read(path: str, accept: str = "application/json, */*") -> Object:
    page = document_at(path, accept)
    assert page is not None
    found: Json = json.loads(page.body)
    assert isinstance(found, dict)
    return found


def test_old_clients_find_the_groups_one_by_one() -> None:
    assert read("/api")["versions"] == ["v1"]
    groups = [text(one, "name") for one in items(read("/apis"), "groups")]
    assert groups == [
        "authentication.k8s.io",
        "authorization.k8s.io",
        "coordination.k8s.io",
        "policy",
        "rebind.internal",
    ]
    listed = {text(one, "name"): one for one in items(read("/api/v1"), "resources")}
    assert listed["pods"] == {
        "name": "pods",
        "singularName": "pod",
        "namespaced": True,
        "kind": "Pod",
        "verbs": [
            "create",
            "delete",
            "deletecollection",
            "get",
            "list",
            "patch",
            "update",
            "watch",
        ],
        "shortNames": ["po"],
        "categories": ["all"],
    }
    assert listed["pods/eviction"]["group"] == "policy"
    assert {"pods/binding", "pods/resourcebinding", "pods/status", "nodes/status"} <= set(listed)


@pytest.mark.parametrize(
    ("accept", "version"),
    [(NEW, "v2"), (OF_1_27, "v2beta1")],
)
def test_new_clients_get_one_piece_in_a_version_that_they_name(accept: str, version: str) -> None:
    page = document_at("/apis", accept)

    assert page is not None
    assert page.content_type == (
        f"application/json;g=apidiscovery.k8s.io;v={version};as=APIGroupDiscoveryList"
    )
    assert read("/apis", accept)["apiVersion"] == f"apidiscovery.k8s.io/{version}"
    core = items(read("/api", accept), "items")[0]
    resources = items(items(core, "versions")[0], "resources")
    pods = next(one for one in resources if one["resource"] == "pods")
    assert pods["scope"] == "Namespaced"
    assert pods["categories"] == ["all"]
    assert [text(one, "subresource") for one in items(pods, "subresources")] == [
        "binding",
        "eviction",
        "resourcebinding",
        "status",
    ]


def test_the_version_is_one_that_the_python_client_takes_with_a_slash_too() -> None:
    assert VersionInfo.model_validate(read("/version/")).git_version.startswith("v1.36.2")


def test_openapi_v2_is_an_empty_document_whatever_is_asked() -> None:
    page = document_at("/openapi/v2", "application/com.github.proto-openapi.spec.v2@v1.0+protobuf")

    assert page is not None
    assert page.body == b""


def test_openapi_v3_says_that_the_server_checks_fields_and_how_lists_merge() -> None:
    index = mapping(read("/openapi/v3"), "paths")
    document = read("/openapi/v3/api/v1")

    assert "api/v1" in index
    assert "apis/rebind.internal/v1alpha1" in index
    url = text(index, "api/v1", "serverRelativeURL")
    assert url.startswith("/openapi/v3/api/v1?hash=")
    patch = mapping(document, "paths", "/api/v1/namespaces/{namespace}/pods/{name}", "patch")
    assert patch["x-kubernetes-group-version-kind"] == {
        "group": "",
        "kind": "Pod",
        "version": "v1",
    }
    assert "fieldValidation" in [text(one, "name") for one in items(patch, "parameters")]
    assert "application/strategic-merge-patch+json" in mapping(patch, "requestBody", "content")
    schemas = mapping(document, "components", "schemas")
    containers = mapping(schemas, "io.k8s.api.core.v1.PodSpec", "properties", "containers")
    assert containers["x-kubernetes-patch-merge-key"] == "name"
    assert containers["x-kubernetes-patch-strategy"] == "merge"


def test_every_reference_in_a_document_leads_to_a_schema() -> None:
    for path in mapping(read("/openapi/v3"), "paths"):
        page = document_at(f"/openapi/v3/{path}")
        assert page is not None
        document = json.loads(page.body)
        start = "#/components/schemas/"
        references = {
            part.partition('"')[0] for part in page.body.decode().split(f'"$ref":"{start}')[1:]
        }
        assert references
        assert references <= set(mapping(document, "components", "schemas"))


def test_what_a_document_needs_is_in_its_schema() -> None:
    document = read("/openapi/v3/apis/rebind.internal/v1alpha1")
    schema = mapping(
        document, "components", "schemas", "internal.rebind.v1alpha1.DeviceBindingSpec"
    )

    assert texts(schema, "required") == ["nodeName", "podUID"]
    assert text(mapping(schema, "properties", "podUID"), "description")


def test_there_is_nothing_at_other_paths() -> None:
    assert document_at("/openapi/v3/apis/apps/v1") is None
    assert document_at("/swagger-2.0.0.pb-v1") is None
    assert document_at("/") is None
