"""Requests from an OpenAPI document: what it allows, and what lies just beside it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias
from urllib.parse import quote, urlencode

from hypothesis import strategies as st

Schema: TypeAlias = Any
"""A schema as JSON; it says itself what is in it."""

DEPTH_MAX: Final = 6
NAMES: Final = st.sampled_from(
    ["a", "b", "default", "kube-system", "n0", "A", "a.b", "..", "%", ""]
)
TEXTS: Final = st.one_of(
    NAMES,
    st.text(max_size=8),
    st.sampled_from(["1", "2Gi", "2026-01-01T00:00:00Z", "example.com/gpu", "u", "\x00", "é"]),
)
JSON: Final = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
CONTENT_TYPES: Final = st.sampled_from(
    [
        *["application/json"] * 12,
        "application/json; charset=utf-8",
        "application/yaml",
        "application/merge-patch+json",
        "application/strategic-merge-patch+json",
        "application/json-patch+json",
        "application/apply-patch+yaml",
        "application/vnd.kubernetes.protobuf",
        "text/plain",
        "",
    ]
)
ACCEPTS: Final = st.sampled_from(
    [
        "",
        "application/json",
        "*/*",
        "text/html",
        "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
        "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
        "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
        "application/json;q=x",
    ]
)
PARAMETERS: Final[Mapping[str, st.SearchStrategy[str]]] = {
    "watch": st.sampled_from(["true", "false", "1", "x"]),
    "limit": st.sampled_from(["0", "1", "2", "-1", "x"]),
    "continue": TEXTS | st.just("eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiJhIn0"),
    "resourceVersion": st.sampled_from(["", "0", "1", "5", "x", "99999999999"]),
    "resourceVersionMatch": st.sampled_from(["Exact", "NotOlderThan", "x"]),
    "labelSelector": TEXTS | st.sampled_from(["a=b", "a in (b,c)", "!a", "a notin (", "a!=b"]),
    "fieldSelector": TEXTS
    | st.sampled_from(["metadata.name=a", "spec.nodeName=n0", "status.phase!=Running"]),
    "sendInitialEvents": st.sampled_from(["true", "false"]),
    "allowWatchBookmarks": st.sampled_from(["true", "false"]),
    "timeoutSeconds": st.sampled_from(["1", "0", "-1", "x"]),
    "dryRun": st.sampled_from(["All", "x"]),
    "fieldManager": TEXTS,
    "fieldValidation": st.sampled_from(["Strict", "Warn", "Ignore", "x"]),
    "force": st.sampled_from(["true", "x"]),
    "gracePeriodSeconds": st.sampled_from(["0", "1", "-1", "x"]),
    "propagationPolicy": st.sampled_from(["Background", "Foreground", "Orphan", "x"]),
    "includeObject": st.sampled_from(["None", "Object", "x"]),
    "pretty": TEXTS,
}
PATCHES: Final = (
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
)
_POINTERS: Final = (
    "/metadata/labels/a",
    "/spec",
    "/metadata",
    "/spec/containers/0/image",
    "",
    "/x/-",
)
OPERATIONS: Final = st.fixed_dictionaries(
    {
        "op": st.sampled_from(["add", "remove", "replace", "test", "move", "copy", "x"]),
        "path": st.sampled_from(_POINTERS) | TEXTS,
    },
    optional={"value": JSON, "from": st.sampled_from(_POINTERS) | TEXTS},
)
_PLACES: Final[Mapping[str, st.SearchStrategy[str]]] = {
    "{namespace}": st.sampled_from(["default"] * 6 + ["kube-system", "a", "x", "%"]),
    "{name}": st.sampled_from(["a"] * 6 + ["n0", "default", "a.b", "..", "A"]),
}
_METADATA: Final = {"name": "a", "labels": {"a": "b"}}
VALID: Final[Mapping[str, Schema]] = {
    "pods": {
        "metadata": _METADATA,
        "spec": {
            "nodeName": "n0",
            "containers": [
                {
                    "name": "main",
                    "image": "example.com/i",
                    "resources": {"limits": {"example.com/gpu": "1"}},
                }
            ],
        },
        "status": {"phase": "Running"},
    },
    "nodes": {"metadata": _METADATA, "status": {"capacity": {"cpu": "2"}}},
    "namespaces": {"metadata": _METADATA},
    "events": {
        "metadata": _METADATA,
        "involvedObject": {"kind": "Pod", "name": "a", "namespace": "default"},
        "reason": "Seen",
    },
    "leases": {"metadata": _METADATA, "spec": {"holderIdentity": "n0"}},
    "devicebindings": {
        "metadata": _METADATA,
        "spec": {"podUID": "u", "nodeName": "n0", "containers": []},
    },
}
"""What is right, by plural."""


@dataclass(frozen=True)
class Request:
    """One request."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes | None


@dataclass(frozen=True)
class Operation:
    """What can be asked of one path.

    Attributes:
        schemas: The document's, by name.
    """

    method: str
    path: str
    body: Schema
    schemas: Mapping[str, Schema]


def operations(document: Schema) -> list[Operation]:
    """Return all operations of a document."""
    schemas = document.get("components", {}).get("schemas", {})
    found = []
    for path, item in document["paths"].items():
        for method, operation in item.items():
            if method in {"get", "post", "put", "patch", "delete"}:
                contents = operation.get("requestBody", {}).get("content", {})
                body = next((each.get("schema") for each in contents.values()), None)
                found.append(Operation(method.upper(), path, body, schemas))
    return found


def values(schema: Schema, schemas: Mapping[str, Schema], depth: int = 0) -> st.SearchStrategy[Any]:
    """Return what a schema allows, mostly; and now and then something else."""
    return st.one_of(*[_allowed(schema, schemas, depth)] * 6, JSON)


def _allowed(schema: Schema, schemas: Mapping[str, Schema], depth: int) -> st.SearchStrategy[Any]:
    if not isinstance(schema, dict) or depth > DEPTH_MAX:
        return JSON
    if "$ref" in schema:
        return _allowed(schemas.get(schema["$ref"].rpartition("/")[2]), schemas, depth)
    if "allOf" in schema:
        return _allowed(schema["allOf"][0], schemas, depth)
    if schema.get("enum"):
        return st.sampled_from(schema["enum"])
    return _of_type(schema, schemas, depth)


def _of_type(schema: Schema, schemas: Mapping[str, Schema], depth: int) -> st.SearchStrategy[Any]:
    kind = schema.get("type")
    if kind == "array":
        return st.deferred(
            lambda: st.lists(values(schema.get("items"), schemas, depth + 1), max_size=2)
        )
    if kind == "object" or "properties" in schema:
        properties = schema.get("properties", {})
        inner = schema.get("additionalProperties")
        if not properties:
            return st.dictionaries(TEXTS, values(inner, schemas, depth + 1), max_size=2)
        return st.deferred(
            lambda: st.fixed_dictionaries(
                {key: values(properties[key], schemas, depth + 1) for key in _needed(schema)},
                optional={
                    key: values(each, schemas, depth + 1)
                    for key, each in properties.items()
                    if key not in _needed(schema)
                },
            )
        )
    simple: dict[str, st.SearchStrategy[Any]] = {
        "string": TEXTS,
        "integer": st.integers(-2, 1 << 40),
        "boolean": st.booleans(),
        "number": st.floats(allow_nan=False, allow_infinity=False),
    }
    return simple.get(str(kind), JSON)


def _needed(schema: Schema) -> list[str]:
    return [key for key in schema.get("required", ()) if key in schema["properties"]]


@st.composite
def requests(draw: st.DrawFn, known: list[Operation]) -> Request:
    """Draw a request to one of the operations."""
    operation = draw(st.sampled_from(known))
    parts = [
        quote(draw(_PLACES.get(part, NAMES)), safe="") if part.startswith("{") else part
        for part in operation.path.split("/")
    ]
    names: list[str] = draw(
        st.just([]) | st.lists(st.sampled_from(sorted(PARAMETERS)), max_size=3, unique=True)
    )
    query = urlencode([(name, draw(PARAMETERS[name])) for name in names])
    target = "/".join(parts) + (f"?{query}" if query else "")
    headers = {"Accept": draw(ACCEPTS)}
    if operation.method == "GET":
        return Request(operation.method, target, headers, None)
    plural = next((part for part in parts if part in VALID), "")
    content, media = draw(_bodies(operation, VALID.get(plural, {})))
    headers["Content-Type"] = media
    body = json.dumps(content).encode()
    if draw(st.integers(0, 19)) == 0:
        body = draw(st.binary(max_size=20))
    return Request(operation.method, target, headers, body)


@st.composite
def _bodies(draw: st.DrawFn, operation: Operation, valid: Schema) -> tuple[object, str]:
    """Draw what is sent, mostly an object that is right but for a part, and its type."""
    content = draw(values(operation.body, operation.schemas))
    if draw(st.integers(0, 3)) and isinstance(content, dict):
        kept = draw(st.sampled_from(["metadata", "spec", "status", ""]))
        content = {**valid, **({kept: content[kept]} if kept in content else {})}
    media = draw(CONTENT_TYPES)
    if operation.method == "PATCH" and draw(st.integers(0, 4)):
        media = draw(st.sampled_from(PATCHES))
        if media == PATCHES[0]:
            content = draw(st.lists(OPERATIONS, max_size=3))
    return content, media
