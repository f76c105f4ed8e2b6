"""Patches: the examples of RFC 7386, recorded strategic merges of kubectl, and what holds for all.

`strategic_merges.json` was answered by Kubernetes' own code, run by kubectl without a server.
"""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.api.dialect.documents import Json, Object, items, mapping, part, text
from simulator.api.dialect.kinds import DEVICE_BINDINGS, NODES, PODS
from simulator.api.dialect.patches import Patch, PatchType, applied, merge
from simulator.api.dialect.queries import Validation
from simulator.api.dialect.routes import Route
from simulator.api.dialect.statuses import StatusError
from simulator.api.dialect.strategic import strategic_merge
from simulator.api.dialect.writing import patched
from tests.api.dialect.objects import BINDING, FRESH, GPU, POD, binding_body, stored, stored_pod

RECORDED = json.loads(Path(__file__).with_name("strategic_merges.json").read_text())
KEYS = st.sampled_from(["a", "b", "c"])
SCALARS = st.none() | st.booleans() | st.integers(0, 9) | st.text("xy", max_size=2)
DOCUMENTS = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)


def without_nulls(value: Json) -> Json:
    if isinstance(value, dict):
        return {key: without_nulls(each) for key, each in value.items() if each is not None}
    return value


@pytest.mark.parametrize(
    ("original", "patch", "result"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        (["a", "b"], ["c", "d"], ["c", "d"]),
        ({"a": "b"}, ["c"], ["c"]),
        ({"a": "foo"}, None, None),
        ({"a": "foo"}, "bar", "bar"),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    ],
)
def test_a_merge_patch_is_that_of_rfc_7386(original: Json, patch: Json, result: Json) -> None:
    # RFC 7386, appendix A.
    assert merge(original, patch) == result


@given(DOCUMENTS, DOCUMENTS)
def test_a_merge_patch_done_twice_is_done_once(original: Json, patch: Json) -> None:
    once = merge(original, patch)

    assert merge(once, patch) == once


@given(st.dictionaries(KEYS, DOCUMENTS, max_size=3))
def test_a_merge_patch_onto_nothing_leaves_no_nulls(patch: Object) -> None:
    assert merge({}, patch) == without_nulls(patch)


@pytest.mark.parametrize("recorded", RECORDED["merges"], ids=lambda one: str(one["statement"]))
def test_a_strategic_merge_is_kubernetes_own(recorded: Object) -> None:
    before = copy.deepcopy(RECORDED["object"])
    patch = copy.deepcopy(mapping(recorded, "patch"))

    assert strategic_merge(before, patch, "Pod") == recorded["result"]
    assert before == RECORDED["object"]
    assert patch == recorded["patch"]


CONTAINERS = st.fixed_dictionaries(
    {"name": KEYS},
    optional={
        "image": st.sampled_from(["one", "two"]) | st.none(),
        "$patch": st.sampled_from(["delete"]),
    },
)
PATCHES = st.fixed_dictionaries(
    {},
    optional={
        "containers": st.lists(CONTAINERS, max_size=3, unique_by=lambda one: one["name"]),
        "nodeSelector": st.none() | st.dictionaries(KEYS, st.none() | st.just("1"), max_size=2),
        "tolerations": st.lists(st.fixed_dictionaries({"key": KEYS}), max_size=2),
    },
)


@given(PATCHES)
def test_a_strategic_merge_done_twice_is_done_once(spec: Object) -> None:
    original: Object = RECORDED["object"]
    once = strategic_merge(original, {"spec": spec}, "Pod")

    assert strategic_merge(once, {"spec": spec}, "Pod") == once


@given(PATCHES)
def test_a_strategic_merge_touches_only_what_its_patch_names(spec: Object) -> None:
    original: Object = RECORDED["object"]
    result = strategic_merge(original, {"spec": spec}, "Pod")
    named = {text(one, "name") for one in items(spec, "containers")}

    assert result["status"] == original["status"]
    assert [one for one in items(result, "spec", "containers") if one["name"] not in named] == [
        one for one in items(original, "spec", "containers") if one["name"] not in named
    ]
    for one in items(spec, "containers"):
        left = [each for each in items(result, "spec", "containers") if each["name"] == one["name"]]
        assert len(left) == (0 if "$patch" in one else 1)


@pytest.mark.parametrize(
    ("patch", "code", "message"),
    [
        ({"spec": {"containers": [{"image": "x"}]}}, 422, "does not contain declared merge key"),
        ({"spec": {"nodeSelector": {"$patch": "other"}}}, 422, "unknown patch type"),
        ({"spec": {"containers": [{"name": "a", "$patch": "odd"}]}}, 422, "unknown patch type"),
        (
            {"spec": {"volumes": [{"name": "v1", "$retainKeys": ["name"], "nfs": {}}]}},
            400,
            "invalid patch format of retainKeys",
        ),
        (
            {
                "spec": {
                    "$setElementOrder/containers": [{"name": "a"}],
                    "containers": [{"name": "b"}],
                }
            },
            400,
            "doesn't match \\$setElementOrder list",
        ),
        (
            {"metadata": {"$deleteFromPrimitiveList/finalizers": "x"}},
            400,
            "invalid patch format of primitive list",
        ),
        ({"spec": {"containers": ["x"]}}, 422, "is no object with a name"),
        ({"spec": {"$setElementOrder/nodeName": 1}}, 400, "setElementOrder"),
    ],
)
def test_what_is_no_strategic_patch_is_refused(patch: Object, code: int, message: str) -> None:
    with pytest.raises(StatusError, match=message) as refused:
        strategic_merge(RECORDED["object"], patch, "Pod")

    assert refused.value.code == code


def test_a_json_patch_is_that_of_rfc_6902() -> None:
    made = stored_pod()
    steps: Json = [
        {"op": "test", "path": "/spec/restartPolicy", "value": "Always"},
        {"op": "add", "path": "/metadata/labels", "value": {"a/b": "c"}},
        {"op": "replace", "path": "/metadata/labels/a~1b", "value": "d"},
    ]

    written = patched(POD, made, Patch(PatchType.JSON, steps), FRESH)

    assert mapping(written.object, "metadata", "labels") == {"a/b": "d"}
    assert "labels" not in mapping(made, "metadata")


def test_an_object_in_place_of_a_json_patch_is_a_bad_request() -> None:
    # api-facts 4: kubernetes_asyncio sends a custom object so.
    with pytest.raises(StatusError) as refused:
        applied(stored_pod(), Patch(PatchType.JSON, {"spec": {}}), "Pod")

    assert refused.value.code == 400
    assert "cannot unmarshal object into Go value of type jsonpatch.Patch" in refused.value.message


@pytest.mark.parametrize(
    "step",
    [
        {"op": "test", "path": "/spec/restartPolicy", "value": "Never"},
        {"op": "remove", "path": "/spec/nothing"},
        {"op": "add", "path": "/spec/containers/9", "value": {}},
        {"op": "replace", "path": "/spec/containers/x", "value": {}},
        {"op": "move", "from": "/nowhere", "path": "/spec"},
        {"op": "replace", "path": "", "value": 1},
    ],
)
def test_a_json_patch_that_does_not_apply_is_unprocessable(step: Object) -> None:
    with pytest.raises(StatusError, match="the server rejected our request") as refused:
        applied(stored_pod(), Patch(PatchType.JSON, [step]), "Pod")

    assert refused.value.code == 422


@pytest.mark.parametrize("steps", [[{"op": "sing", "path": "/a"}], [{"op": "add"}], ["add"], [{}]])
def test_what_is_no_json_patch_is_a_bad_request(steps: Json) -> None:
    with pytest.raises(StatusError) as refused:
        applied(stored_pod(), Patch(PatchType.JSON, steps), "Pod")

    assert refused.value.code == 400


def test_a_patch_without_effect_changes_nothing() -> None:
    made = stored_pod()
    same = Patch(PatchType.STRATEGIC, {"spec": {"restartPolicy": "Always"}})

    written = patched(POD, made, same, FRESH)

    assert not written.changed
    assert written.object == made


def test_a_status_patch_that_names_another_uid_is_a_conflict() -> None:
    # S12.4: the kubelet's status patch includes metadata.uid.
    route = Route(PODS, "default", "trainer", "status")
    patch = Patch(
        PatchType.STRATEGIC, {"metadata": {"uid": "gone"}, "status": {"phase": "Running"}}
    )

    with pytest.raises(StatusError, match="UID in precondition: gone") as refused:
        patched(route, stored_pod(), patch, FRESH)

    assert refused.value.code == 409


def test_a_patch_with_an_older_revision_is_a_conflict() -> None:
    # api-facts 2: kubectl label --resource-version.
    patch = Patch(PatchType.MERGE, {"metadata": {"resourceVersion": "3", "labels": {"a": "b"}}})

    with pytest.raises(StatusError, match="the object has been modified"):
        patched(BINDING, stored(DEVICE_BINDINGS, binding_body()), patch, FRESH)


def test_a_typo_in_a_patch_is_an_error_only_when_asked_for() -> None:
    patch = Patch(PatchType.MERGE, {"spec": {"nodeNam": "x"}})
    made = stored_pod()

    with pytest.raises(StatusError) as refused:
        patched(POD, made, patch, FRESH, Validation.STRICT)

    assert refused.value.code == 422
    assert refused.value.message == (
        ' "" is invalid: patch: Invalid value: "{\\"spec\\": {\\"nodeNam\\": \\"x\\"}}": strict '
        'decoding error: unknown field "spec.nodeNam"'
    )
    assert not patched(POD, made, patch, FRESH).changed


def test_cordon_and_taint_are_strategic_patches_of_a_node() -> None:
    route = Route(NODES, name="node-1")
    made = stored(NODES, {"metadata": {"name": "node-1"}})
    taint: Json = {"key": "a", "effect": "NoSchedule"}
    patch = Patch(PatchType.STRATEGIC, {"spec": {"unschedulable": True, "taints": [taint]}})

    written = patched(route, made, patch, FRESH)

    assert mapping(written.object, "spec") == {"unschedulable": True, "taints": [taint]}


def test_an_apply_creates_what_is_not_there_and_else_sets_what_it_names() -> None:
    wanted: Object = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "trainer", "labels": {"a": "b"}},
        "spec": {
            "containers": [{"name": "main", "image": "i:1", "resources": {"limits": {GPU: "1"}}}]
        },
    }
    made = patched(POD, None, Patch(PatchType.APPLY, wanted), FRESH)
    newer = copy.deepcopy(wanted)
    part(newer, "metadata")["labels"] = {"c": "d"}
    part(newer, "spec")["containers"] = [{"name": "main", "image": "i:2"}]
    changed = patched(POD, made.object, Patch(PatchType.APPLY, newer), FRESH)

    assert made.created
    assert mapping(changed.object, "metadata", "labels") == {"a": "b", "c": "d"}
    container = items(changed.object, "spec", "containers")[0]
    assert container["image"] == "i:2"
    assert mapping(container, "resources", "limits") == {GPU: "1"}
    again = patched(POD, changed.object, Patch(PatchType.APPLY, newer), FRESH)
    assert not again.changed


def test_a_patch_of_what_is_not_there_is_not_found() -> None:
    with pytest.raises(StatusError, match='pods "trainer" not found') as refused:
        patched(POD, None, Patch(PatchType.MERGE, {}), FRESH)

    assert refused.value.code == 404


def test_copies_of_copies_are_bounded() -> None:
    steps: Json = [
        {"op": "copy", "from": "/metadata", "path": f"/metadata/{number}"} for number in range(40)
    ]

    with pytest.raises(StatusError, match="the accumulated size increase of copy") as refused:
        applied(stored_pod(), Patch(PatchType.JSON, steps), "Pod")

    assert refused.value.code == 413


def test_a_copy_is_one_of_what_was_there() -> None:
    steps: Json = [
        {"op": "add", "path": "/metadata/labels", "value": {"a": "b"}},
        {"op": "copy", "from": "/metadata/labels", "path": "/metadata/annotations"},
        {"op": "replace", "path": "/metadata/labels/a", "value": "c"},
    ]
    result = applied(stored_pod(), Patch(PatchType.JSON, steps), "Pod")

    assert mapping(result, "metadata", "annotations") == {"a": "b"}


def test_a_json_patch_that_nests_without_end_is_refused() -> None:
    steps: Json = [
        {"op": "add", "path": "/status/devices" + "/a" * depth, "value": {}} for depth in range(300)
    ]

    with pytest.raises(StatusError, match="what it leaves is no object"):
        applied(stored_pod(), Patch(PatchType.JSON, steps), "Pod")


@pytest.mark.parametrize("patch_type", [PatchType.STRATEGIC, PatchType.APPLY])
def test_long_lists_merge_in_one_pass(patch_type: PatchType) -> None:
    # Compared pair by pair this would take minutes.
    count = 20_000
    old: list[Json] = [{"name": f"c{number}", "image": "one"} for number in range(count)]
    new: list[Json] = [{"name": f"c{number}", "image": "two"} for number in reversed(range(count))]
    marks: list[Json] = [f"example.com/{number}" for number in range(count)]
    patch = Patch(patch_type, {"metadata": {"finalizers": marks}, "spec": {"containers": new}})

    result = applied({"spec": {"containers": old}}, patch, "Pod")

    assert [one["image"] for one in items(result, "spec", "containers")] == ["two"] * count
    assert mapping(result, "metadata")["finalizers"] == marks
