"""Whatever a client sends is answered or refused: nothing but a StatusError leaves the dialect."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from functools import partial

from hypothesis import given
from hypothesis import strategies as st

from simulator.api.dialect.authorization import node_identity, restrict
from simulator.api.dialect.binding import bound, bulk_items, devices_bound, evicted
from simulator.api.dialect.bodies import DeleteOptions, delete_options
from simulator.api.dialect.deleting import deleted
from simulator.api.dialect.documents import Json, Object
from simulator.api.dialect.kinds import (
    DEVICE_BINDINGS,
    NODES,
    PODS,
    SELF_SUBJECT_ACCESS_REVIEWS,
    STORED_KINDS,
    Kind,
)
from simulator.api.dialect.patches import Patch, PatchType
from simulator.api.dialect.reviews import reviewed
from simulator.api.dialect.routes import Route
from simulator.api.dialect.schemas.notation import type_named, type_names
from simulator.api.dialect.statuses import StatusError
from simulator.api.dialect.tables import Page, table
from simulator.api.dialect.writing import Written, created, patched, updated
from tests.api.dialect.objects import FRESH, NOW, binding_body, stored, stored_pod

WORDS = (
    "", "a", "main", "node-1", "Always", "1", "-1", "500m", "example.com/gpu", "delete", "replace",
    "2026-01-01T00:00:00Z",
)  # fmt: skip
DIRECTIVES = ("$patch", "$retainKeys", "$setElementOrder/containers", "$setElementOrder/x")
LEAVES: st.SearchStrategy[Json] = (
    st.none() | st.booleans() | st.integers(-2, 1 << 65) | st.sampled_from(WORDS)
)
DEPTH = 5


def documents(type_name: str, depth: int = DEPTH) -> st.SearchStrategy[Json]:
    """Return documents that look like a type here and there."""
    fields = type_named(type_name) if type_name in type_names() else None
    if fields is None or depth == 0:
        return LEAVES
    keys = [key for key in fields if fields[key].is_object or key in COMMON] or list(fields)

    def pair(key: str) -> st.SearchStrategy[tuple[str, Json]]:
        return st.tuples(st.just(key), values(type_name, key, depth - 1))

    chosen = st.sampled_from([*keys, *list(fields)[:3], *DIRECTIVES])
    return st.lists(chosen.flatmap(pair), max_size=4).map(dict)


COMMON = frozenset(
    {
        "name", "namespace", "uid", "resourceVersion", "labels", "annotations", "finalizers",
        "nodeName", "limits", "requests", "deviceIDs", "resourceName", "containerName", "phase",
        "restartPolicy", "key", "effect", "type", "count", "restartCount", "podUID",
    }
)  # fmt: skip


def values(type_name: str, key: str, depth: int) -> st.SearchStrategy[Json]:
    """Return values for a field: right ones, and others."""
    field = type_named(type_name).get(key)
    if field is None:
        return LEAVES | st.lists(LEAVES, max_size=2)
    one = documents(field.type, depth)
    if field.shape.startswith("[]"):
        return st.lists(one, max_size=2) | one
    if field.shape:
        return st.dictionaries(st.sampled_from(WORDS), one, max_size=2)
    return one


KINDS = st.sampled_from(STORED_KINDS)


def present(kind: Kind) -> Object:
    """Return an object of a kind as it is stored."""
    if kind is PODS:
        return stored_pod(spec={"nodeName": "node-1"})
    if kind is DEVICE_BINDINGS:
        return stored(kind, binding_body())
    involved: Object = {"namespace": "default"}
    return stored(kind, {"metadata": {"name": "trainer"}, "involvedObject": involved})


def answered(ask: Callable[[], object]) -> object:
    """Return the answer, or the refusal as its Status; both can be written."""
    try:
        answer = ask()
    except StatusError as refused:
        return refused.status()
    if isinstance(answer, Written):
        json.dumps(answer.object, allow_nan=False).encode()
    return answer


def bodies(kind: Kind) -> st.SearchStrategy[tuple[Kind, Json]]:
    return st.tuples(st.just(kind), documents(kind.kind))


@given(KINDS.flatmap(bodies))
def test_whatever_is_created_or_put_is_answered(sent: tuple[Kind, Json]) -> None:
    kind, body = sent
    assert isinstance(body, dict)
    before = copy.deepcopy(body)
    namespace = "default" if kind.namespaced else ""
    current = present(kind)

    made = answered(lambda: created(Route(kind, namespace), body, FRESH))
    for part in ("", "status"):
        route = Route(kind, namespace, "trainer", part)
        answered(partial(updated, route, current, body))

    assert body == before
    assert current == present(kind)
    if isinstance(made, Written):
        shown = table(kind, [made.object], NOW, Page(1))
        json.dumps(shown)
        answered(lambda: deleted(Route(kind, namespace, "a"), made.object, DeleteOptions(), FRESH))


@given(KINDS.flatmap(bodies), st.sampled_from(PatchType))
def test_whatever_is_patched_is_answered(sent: tuple[Kind, Json], kind_of: PatchType) -> None:
    kind, content = sent
    namespace = "default" if kind.namespaced else ""
    current = present(kind)
    for part in ("", "status"):
        route = Route(kind, namespace, "trainer", part)
        answered(partial(patched, route, current, Patch(kind_of, content), FRESH))

    assert current == present(kind)


POINTERS = st.sampled_from(
    ["", "/", "/spec", "/metadata/labels", "/spec/containers/0", "/a/-", "x"]
)
STEPS = st.fixed_dictionaries(
    {},
    optional={
        "op": st.sampled_from(["add", "remove", "replace", "move", "copy", "test", "x"]) | LEAVES,
        "path": POINTERS | LEAVES,
        "from": POINTERS | LEAVES,
        "value": LEAVES | documents("PodSpec", 2),
    },
)


@given(st.lists(STEPS | LEAVES, max_size=3) | LEAVES)
def test_whatever_json_patch_is_sent_is_answered(steps: Json) -> None:
    route, current = Route(PODS, "default", "trainer"), stored_pod()

    answered(lambda: patched(route, current, Patch(PatchType.JSON, steps), FRESH))

    assert current == stored_pod()


@given(documents("ResourceBinding"), documents("Binding"), documents("Eviction"))
def test_whatever_is_ordered_is_answered(devices: Json, node: Json, eviction: Json) -> None:
    pod, route = stored_pod(), Route(PODS, "default", "trainer", "binding")
    assert isinstance(devices, dict)
    assert isinstance(node, dict)
    assert isinstance(eviction, dict)

    answered(lambda: devices_bound(route, pod, devices))
    answered(lambda: bound(route, pod, node, FRESH))
    answered(lambda: evicted(route, eviction))
    answered(lambda: bulk_items({"items": [devices]}))
    answered(lambda: delete_options(eviction))
    answered(lambda: reviewed(SELF_SUBJECT_ACCESS_REVIEWS, node_identity("n"), node, FRESH))
    answered(lambda: restrict(node_identity("n"), "create", Route(NODES), None, node))

    assert pod == stored_pod()
