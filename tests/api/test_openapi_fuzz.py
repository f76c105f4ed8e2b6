"""Requests made up from the server's own OpenAPI documents: none is answered with a 5xx.

Also what is not in the documents is sent: wrong types, half of a body, odd headers and names.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import quote, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.api.dialect.discovery import document_at
from simulator.api.dialect.documents import Json, Object, items, mapping, text
from tests.api.serving.running import Answer, Api, running_api

DEPTH = 5
REQUESTS = 5
NAMES = (
    "a",
    "a",
    "a",
    "b",
    "default",
    "node-1",
    "kube-node-lease",
    "A",
    "x/y",
    "\u00fc",
    "-",
    "a" * 300,
)
WORDS = (
    "", "a", "b", "default", "main", "node-1", "1", "-1", "0.5", "500m", "example.com/gpu", "true",
    "All", "Strict", "Always", "Exact", "NotOlderThan", "a=b", "a in (b", "metadata.name=a",
    "spec.nodeName=node-1", "2026-01-01T00:00:00Z", "\u00fc\u0000\U0001f600",
)  # fmt: skip
ACCEPTS = (
    "application/json",
    "application/json;as=Table;v=v1;g=meta.k8s.io",
    "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
    "*/*",
    "text/html",
)
LEAVES: st.SearchStrategy[Json] = (
    st.none() | st.booleans() | st.integers(-1, 1 << 64) | st.floats(allow_nan=False)
    | st.sampled_from(WORDS)
)  # fmt: skip
METHODS = ("get", "post", "put", "patch", "delete")


PRESENT: tuple[tuple[str, Object], ...] = (
    (
        "/api/v1/namespaces/default/pods",
        {"metadata": {"name": "a"}, "spec": {"containers": [{"name": "main"}]}},
    ),
    ("/api/v1/nodes", {"metadata": {"name": "a"}}),
    (
        "/apis/rebind.internal/v1alpha1/namespaces/default/devicebindings",
        {"metadata": {"name": "a"}, "spec": {"podUID": "u", "nodeName": "a"}},
    ),
)
"""What is there before anything is asked, so that there is something to change."""


@dataclass(frozen=True)
class Operation:
    """A path with a method, and the document that it is from."""

    path: str
    method: str
    about: Object
    document: Object


@dataclass(frozen=True)
class Request:
    """What is sent."""

    method: str
    path: str
    body: bytes | None
    headers: dict[str, str]


def read(path: str) -> Object:
    page = document_at(path)
    assert page is not None
    found: Json = json.loads(page.body)
    assert isinstance(found, dict)
    return found


def operations() -> Iterator[Operation]:
    for place in mapping(read("/openapi/v3"), "paths"):
        document = read(f"/openapi/v3/{place}")
        for path, item in mapping(document, "paths").items():
            assert isinstance(item, dict)
            for method in METHODS:
                if method in item:
                    yield Operation(path, method, mapping(item, method), document)


def values(schema: Object, document: Object, depth: int = DEPTH) -> st.SearchStrategy[Json]:
    """Return values of a schema; of what is deeper than `depth` only small ones."""
    for inner in items(schema, "allOf"):
        return values(inner, document, depth)
    if reference := text(schema, "$ref"):
        name = reference.rpartition("/")[2]
        return values(mapping(document, "components", "schemas", name), document, depth)
    kind = text(schema, "type")
    if kind == "object" and depth > 0:
        return objects(schema, document, depth)
    if kind == "array" and depth > 0:
        return st.lists(values(mapping(schema, "items"), document, depth - 1), max_size=2)
    plain: dict[str, st.SearchStrategy[Json]] = {
        "string": st.sampled_from(WORDS),
        "integer": st.integers(-1, 70),
        "boolean": st.booleans(),
        "object": st.just({}),
        "array": st.just([]),
    }
    return plain.get(kind, LEAVES)


def objects(schema: Object, document: Object, depth: int) -> st.SearchStrategy[Json]:
    known = mapping(schema, "properties")
    below = schema.get("additionalProperties")
    inner: Object = below if isinstance(below, dict) else {}
    if not known:
        return st.dictionaries(
            st.sampled_from(WORDS), values(inner, document, depth - 1), max_size=2
        )
    needed = [key for key in ("metadata", "spec", "name", "target", "containers") if key in known]

    def pair(key: str) -> st.SearchStrategy[tuple[str, Json]]:
        of_key = values(mapping(known, key), document, depth - 1)
        return st.tuples(st.just(key), of_key if depth > 2 else of_key | LEAVES)

    keys: st.SearchStrategy[list[str]] = st.lists(
        st.sampled_from([*needed, *needed, *known]), max_size=4, unique=True
    )
    pairs = keys.flatmap(lambda chosen: st.tuples(*map(pair, chosen)))
    return pairs.map(lambda found: {**dict(found)})


def requests(operation: Operation) -> st.SearchStrategy[Request]:
    names = st.sampled_from(NAMES)
    query = [text(one, "name") for one in items(operation.about, "parameters")]
    chosen = st.lists(
        st.tuples(st.sampled_from([one for one in query if one != "watch"] or ["x"]),
                  st.sampled_from(WORDS)),
        max_size=2,
    )  # fmt: skip
    content = mapping(operation.about, "requestBody", "content")
    shown = mapping(operation.about, "responses", "200", "content", "application/json", "schema")

    def of_media(media: str) -> st.SearchStrategy[tuple[str, Json]]:
        schema = mapping(content, media, "schema")
        # A patch looks like what it is for.
        wanted = shown if operation.method == "patch" and "json-patch" not in media else schema
        return st.tuples(st.just(media), values(wanted, operation.document))

    odd: st.SearchStrategy[tuple[str, Json]] = st.tuples(
        st.sampled_from([*content, "application/json", "application/yaml", ""]), LEAVES
    )
    right = st.sampled_from([*content]).flatmap(of_media) if content else st.just(("", None))

    def made(
        name: str,
        namespace: str,
        pairs: list[tuple[str, str]],
        sent: tuple[str, tuple[str, Json], int],
    ) -> Request:
        accept, (of_type, body), cut = sent
        path = operation.path.replace("{name}", quote(name, safe=""))
        path = path.replace("{namespace}", quote(namespace, safe=""))
        data = None if body is None else json.dumps(body).encode()
        headers = {"Accept": accept}
        if data is not None:
            headers["Content-Type"] = of_type
            data = data if cut else data[: len(data) // 2]
        return Request(operation.method.upper(), f"{path}?{urlencode(pairs)}", data, headers)

    sent = st.tuples(st.sampled_from(ACCEPTS), right | right | odd, st.integers(0, 9))
    namespaces = st.just("default") | st.sampled_from(NAMES)
    return st.builds(made, names, namespaces, st.just([]) | chosen, sent)


OPERATIONS = tuple(operations())


@pytest.fixture(scope="module")
def api() -> Iterator[Api]:
    with running_api() as running:
        yield running


def checked(answer: Answer, request: Request) -> None:
    assert answer.code < 500, (request, answer)
    if answer.content.startswith(b"404 page not found"):
        return
    found = answer.object
    if answer.code >= 400:
        assert found["kind"] == "Status"
        assert found["status"] == "Failure"
        assert found["code"] == answer.code
        assert found["message"]


@given(
    st.lists(st.sampled_from(OPERATIONS).flatmap(requests), min_size=1, max_size=REQUESTS),
)
def test_whatever_the_documents_allow_is_answered(api: Api, sent: list[Request]) -> None:
    for path, body in PRESENT:
        assert api.ask("POST", path, body).code in {201, 409}
    for request in sent:
        answer = api.ask(request.method, request.path, request.body, request.headers)
        checked(answer, request)


def test_the_documents_name_every_way_to_write() -> None:
    assert {one.method for one in OPERATIONS} == set(METHODS)
    assert len({one.path for one in OPERATIONS}) > 20
