"""What clients ask before anything else: which groups, versions and kinds there are.

Plain for old clients, one list for each group; aggregated for new ones that say so. Clients of 1.27
and 1.28 know `v2beta1` alone, so a version is answered that stands in the Accept header, and the
content type repeats it (api-facts 1.2).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from simulator.api.dialect.documents import Json, Object
from simulator.api.dialect.kinds import KINDS, Kind, Subresource
from simulator.api.dialect.negotiation import JSON_TYPE, accepted
from simulator.api.dialect.openapi_paths import openapi_document

OPENAPI_V2_TYPE: Final = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
"""What is asked for has an `@` in it, which kubectl 1.20 cannot read in an answer's header."""
_DISCOVERY: Final = "apidiscovery.k8s.io"
_AGGREGATED: Final = "APIGroupDiscoveryList"
_VERSIONS: Final = ("v2", "v2beta1")
_EMPTY_GROUPS: Final = (("policy", "v1"),)
"""`kubectl drain` evicts only where this group is; what it needs of it is below `pods`."""
VERSION: Final[Object] = {
    "major": "1",
    "minor": "36",
    "gitVersion": "v1.36.2+rebind",
    "gitCommit": "",
    "gitTreeState": "clean",
    "buildDate": "1970-01-01T00:00:00Z",
    "goVersion": "none",
    "compiler": "none",
    "platform": "linux/amd64",
}
"""Python's client demands all of them, as texts (api-facts 1.2)."""


@dataclass(frozen=True, slots=True)
class Page:
    """A document that does not change while the server runs.

    Attributes:
        etag: For `ETag` and `If-None-Match`.
    """

    content_type: str
    body: bytes
    etag: str


def document_at(path: str, accept: str = "") -> Page | None:
    """Return what is at a path outside the resources; None when there is nothing.

    Args:
        path: Without the query.
        accept: The header; it says whether discovery is wanted in one piece.
    """
    plain = path.rstrip("/")
    if plain in {"/api", "/apis"}:
        for media, parameters in accepted(accept):
            if media == JSON_TYPE and parameters.get("as") == _AGGREGATED:
                version = parameters.get("v", "")
                if version in _VERSIONS and parameters.get("g") == _DISCOVERY:
                    return _aggregated(plain, version)
            elif media in {JSON_TYPE, "application/*", "*/*"} and "as" not in parameters:
                break
    return _pages().get(plain)


def _page(document: Object, content_type: str = JSON_TYPE) -> Page:
    return _page_of(json.dumps(document, separators=(",", ":")).encode(), content_type)


def _page_of(body: bytes, content_type: str) -> Page:
    digest = hashlib.sha256(body).hexdigest().upper()
    return Page(content_type, body, f'"{digest}"')


def group_versions() -> Iterator[tuple[str, str]]:
    """Iterate over groups with their versions, the core group first."""
    found = {(kind.group, kind.version) for kind in KINDS}
    yield from sorted(found | set(_EMPTY_GROUPS))


@cache
def _pages() -> dict[str, Page]:
    pages = {
        "/api": _page({"kind": "APIVersions", "versions": ["v1"], **_ADDRESS}),
        "/apis": _page(
            {
                "kind": "APIGroupList",
                "apiVersion": "v1",
                "groups": [_group(group, version) for group, version in group_versions() if group],
            }
        ),
        "/version": _page(VERSION),
        "/openapi/v2": _page_of(b"", OPENAPI_V2_TYPE),
    }
    index: Object = {}
    for group, version in group_versions():
        place = f"/apis/{group}/{version}" if group else f"/api/{version}"
        kinds = [one for one in KINDS if (one.group, one.version) == (group, version)]
        pages[place] = _page(_resource_list(group, version, kinds))
        if group:
            about = {"kind": "APIGroup", "apiVersion": "v1", **_group(group, version)}
            pages[f"/apis/{group}"] = _page(about)
        if kinds:
            page = pages[f"/openapi/v3{place}"] = _page(openapi_document(group, version))
            url = f"/openapi/v3{place}?hash={page.etag.strip(chr(34))}"
            index[place.removeprefix("/")] = {"serverRelativeURL": url}
    pages["/openapi/v3"] = _page({"paths": index})
    return pages


_ADDRESS: Final[Object] = {
    "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": ""}]
}


def _group(group: str, version: str) -> Object:
    named: Object = {"groupVersion": f"{group}/{version}", "version": version}
    return {"name": group, "versions": [named], "preferredVersion": named}


def _resource_list(group: str, version: str, kinds: list[Kind]) -> Object:
    resources: list[Json] = []
    for kind in kinds:
        resources.append(_resource(kind))
        resources += [_plain_subresource(kind, one) for one in kind.subresources]
    return {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": f"{group}/{version}" if group else version,
        "resources": resources,
    }


def _resource(kind: Kind) -> Object:
    resource: Object = {
        "name": kind.plural,
        "singularName": kind.singular,
        "namespaced": kind.namespaced,
        "kind": kind.kind,
        "verbs": [*kind.verbs],
    }
    if kind.short_names:
        resource["shortNames"] = [*kind.short_names]
    if kind.categories:
        resource["categories"] = [*kind.categories]
    return resource


def _plain_subresource(kind: Kind, part: Subresource) -> Object:
    resource: Object = {
        "name": f"{kind.plural}/{part.name}",
        "singularName": "",
        "namespaced": kind.namespaced,
        "kind": part.kind,
        "verbs": [*part.verbs],
    }
    if part.group != kind.group:
        resource |= {"group": part.group, "version": part.version}
    return resource


@cache
def _aggregated(path: str, version: str) -> Page:
    items: list[Json] = []
    for group, of_group in group_versions():
        if bool(group) != (path == "/apis"):
            continue
        kinds = [one for one in KINDS if (one.group, one.version) == (group, of_group)]
        metadata: Object = {"name": group} if group else {}
        resources: list[Json] = [_discovered(one) for one in kinds]
        known: Object = {"version": of_group, "resources": resources, "freshness": "Current"}
        items.append({"metadata": metadata, "versions": [known]})
    document: Object = {
        "kind": _AGGREGATED,
        "apiVersion": f"{_DISCOVERY}/{version}",
        "metadata": {},
        "items": items,
    }
    return _page(document, f"{JSON_TYPE};g={_DISCOVERY};v={version};as={_AGGREGATED}")


def _discovered(kind: Kind) -> Object:
    found: Object = {
        "resource": kind.plural,
        "responseKind": {"group": kind.group, "version": kind.version, "kind": kind.kind},
        "scope": "Namespaced" if kind.namespaced else "Cluster",
        "singularResource": kind.singular,
        "verbs": [*kind.verbs],
    }
    if kind.short_names:
        found["shortNames"] = [*kind.short_names]
    if kind.categories:
        found["categories"] = [*kind.categories]
    if kind.subresources:
        found["subresources"] = [
            {
                "subresource": part.name,
                "responseKind": {
                    "group": part.group,
                    "version": part.version,
                    "kind": part.kind,
                },
                "verbs": [*part.verbs],
            }
            for part in kind.subresources
        ]
    return found
