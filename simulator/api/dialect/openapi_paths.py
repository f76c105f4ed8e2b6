"""The OpenAPI v3 documents: which paths there are for a group and version, and what they take.

kubectl asks for them to explain kinds, to find out whether the server checks fields
(`fieldValidation`) and how lists merge (api-facts 1.3).
"""

from __future__ import annotations

from typing import Final

from simulator.api.dialect import kinds
from simulator.api.dialect.documents import Json, Object
from simulator.api.dialect.kinds import KINDS, Kind
from simulator.api.dialect.patches import PatchType, patch_types
from simulator.api.dialect.routes import Route
from simulator.api.dialect.schemas.openapi import components, group_version_kind, reference

_JSON: Final = "application/json"
_METHODS: Final = {
    kinds.GET: "get",
    kinds.LIST: "get",
    kinds.CREATE: "post",
    kinds.UPDATE: "put",
    kinds.PATCH: "patch",
    kinds.DELETE: "delete",
    kinds.DELETE_COLLECTION: "delete",
}
_Query = tuple[tuple[str, str], ...]
_LIST_QUERY: Final[_Query] = (
    ("allowWatchBookmarks", "boolean"),
    ("continue", "string"),
    ("fieldSelector", "string"),
    ("labelSelector", "string"),
    ("limit", "integer"),
    ("resourceVersion", "string"),
    ("resourceVersionMatch", "string"),
    ("sendInitialEvents", "boolean"),
    ("timeoutSeconds", "integer"),
    ("watch", "boolean"),
)
_WRITE_QUERY: Final[_Query] = (
    ("dryRun", "string"),
    ("fieldManager", "string"),
    ("fieldValidation", "string"),
)
_DELETE_QUERY: Final[_Query] = (
    ("dryRun", "string"),
    ("gracePeriodSeconds", "integer"),
    ("propagationPolicy", "string"),
)
_WRITES: Final = frozenset({kinds.CREATE, kinds.UPDATE, kinds.PATCH})


def openapi_document(group: str, version: str) -> Object:
    """Return the document of a group and version."""
    of_group = [one for one in KINDS if (one.group, one.version) == (group, version)]
    paths: Object = {}
    types: list[tuple[Kind, str]] = []
    for kind in of_group:
        paths |= _paths(kind)
        types.append((kind, kind.kind))
        types += [(kind, one.kind) for one in kind.subresources]
    types += [(kind, "DeleteOptions") for kind in of_group[:1]]
    return {
        "openapi": "3.0.0",
        "info": {"title": "Rebind", "version": "v1"},
        "paths": {key: paths[key] for key in sorted(paths)},
        "components": {"schemas": components(types)},
    }


def _paths(kind: Kind) -> Object:
    namespace = "{namespace}" if kind.namespaced else ""
    all_of = Route(kind, namespace)
    one = Route(kind, namespace, "{name}")
    found: Object = {}
    if kind.namespaced and kind.stored:
        found[Route(kind).path()] = _item(kind, (kinds.LIST,), Route(kind))
    of_all = (kinds.LIST, kinds.CREATE, kinds.DELETE_COLLECTION)
    found[all_of.path()] = _item(kind, of_all, all_of)
    if kind.stored:
        of_one = (kinds.GET, kinds.UPDATE, kinds.PATCH, kinds.DELETE)
        found[one.path()] = _item(kind, of_one, one)
    for part in kind.subresources:
        route = Route(kind, namespace, "{name}", part.name)
        found[route.path()] = _item(kind, part.verbs, route)
    return found


def _item(kind: Kind, verbs: tuple[str, ...], route: Route) -> Object:
    part = kind.subresource(route.subresource)
    known = part.verbs if part is not None else kind.verbs
    parameters: list[Json] = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in ("name", "namespace")
        if "{" + name + "}" in route.path()
    ]
    item: Object = {"parameters": parameters}
    for verb in verbs:
        if verb in known:
            item[_METHODS[verb]] = _operation(kind, verb, route)
    return item


def _operation(kind: Kind, verb: str, route: Route) -> Object:
    part = kind.subresource(route.subresource)
    body = part.kind if part is not None else kind.kind
    query: _Query = _DELETE_QUERY if verb in {kinds.DELETE, kinds.DELETE_COLLECTION} else ()
    query = _WRITE_QUERY if verb in _WRITES else query
    query = _LIST_QUERY if verb == kinds.LIST else query
    shown: Object = reference(body) if verb in {kinds.GET, *_WRITES} else {"type": "object"}
    operation: Object = {
        "operationId": _operation_id(kind, verb, route),
        "parameters": [
            {"name": name, "in": "query", "schema": {"type": kind_of}} for name, kind_of in query
        ],
        "responses": {
            "200": {"description": "OK", "content": {_JSON: {"schema": shown}}},
            "default": {"description": "a Status says what is wrong"},
        },
        "x-kubernetes-action": verb if verb not in {kinds.CREATE, kinds.UPDATE} else _HTTP[verb],
        "x-kubernetes-group-version-kind": (
            group_version_kind(kind)
            if part is None
            else {"group": part.group, "kind": part.kind, "version": part.version}
        ),
    }
    content: Object = {}
    if verb == kinds.PATCH:
        content = {one.value: {"schema": _patch_schema(one)} for one in patch_types(kind)}
        operation["parameters"] = [
            {"name": name, "in": "query", "schema": {"type": kind_of}}
            for name, kind_of in (*query, ("force", "boolean"))
        ]
    elif verb in _WRITES:
        content = {_JSON: {"schema": reference(body)}}
    elif query is _DELETE_QUERY:
        content = {_JSON: {"schema": reference("DeleteOptions")}}
    if content:
        operation["requestBody"] = {"content": content, "required": verb in _WRITES}
    return operation


_HTTP: Final = {kinds.CREATE: "post", kinds.UPDATE: "put"}


def _patch_schema(kind: PatchType) -> Object:
    return {"type": "array" if kind is PatchType.JSON else "object"}


def _operation_id(kind: Kind, verb: str, route: Route) -> str:
    words = [verb, kind.group.replace(".", "-") or "core", kind.version]
    words += ["namespaced"] if route.namespace else []
    words += [kind.plural, route.subresource] if route.subresource else [kind.plural]
    return "_".join(words)
