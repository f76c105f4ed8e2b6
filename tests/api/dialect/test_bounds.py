"""No request takes the server's time or memory out of proportion to its bytes.

All requests are decided on one loop: one that takes seconds stops everybody for seconds.
"""

from __future__ import annotations

import json
import time

import pytest

from simulator.api.dialect import bodies, names, writing
from simulator.api.dialect.documents import Json, Object
from simulator.api.dialect.kinds import DEVICE_BINDINGS, PODS
from simulator.api.dialect.patches import PatchType
from simulator.api.dialect.queries import Validation
from simulator.api.dialect.routes import Route
from simulator.api.dialect.statuses import StatusError
from simulator.api.dialect.writing import Fresh
from simulator.core.instants import Instant

PODS_IN = Route(PODS, "default")
POD = Route(PODS, "default", "p")
FRESH = Fresh(Instant(1_700_000_000 * 10**9), "11111111-2222-4333-8444-555555555555", "abcde")
SPEC: Object = {"containers": [{"name": "main"}]}
SENT: Object = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p", "namespace": "default"},
    "spec": SPEC,
}
MANY = 20_000
"""So many of anything took the squares of it, minutes, once; now it is a fraction of a second."""
SECONDS = 20.0
"""What that may take on a machine that is busy with other things."""


def pod() -> Object:
    return writing.created(PODS_IN, SENT, FRESH).object


def nested(levels: int) -> Json:
    value: Json = 1
    for _ in range(levels):
        value = {"a": value}
    return value


@pytest.mark.parametrize(
    "scalar",
    ['!!timestamp "x"', '!!bool "x"', '!!int ""', '!!float "_"', '!!int "-"', f"0x{'f' * 5000}"],
)
def test_a_yaml_tag_or_number_that_cannot_be_is_a_bad_request(scalar: str) -> None:
    text = f"apiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\nspec: {{priority: {scalar}}}\n"
    with pytest.raises(StatusError) as refused:
        bodies.read_object(PODS_IN, "application/yaml", text.encode())
    assert refused.value.code == 400


def test_yaml_is_read_up_to_a_size_and_json_in_its_place_up_to_that_of_bodies() -> None:
    long = "x" * 200_000
    yaml = f"apiVersion: v1\nkind: Pod\nmetadata: {{name: p, annotations: {{a: {long}}}}}\n"
    for read in (
        lambda: bodies.read_object(PODS_IN, "application/yaml", yaml.encode()),
        lambda: bodies.read_patch(POD, PatchType.APPLY.value, yaml.encode()),
    ):
        with pytest.raises(StatusError) as refused:
            read()
        assert refused.value.code == 413
    as_json = json.dumps({**SENT, "metadata": {"name": "p", "annotations": {"a": long}}}).encode()
    assert bodies.read_object(PODS_IN, "application/yaml", as_json)["kind"] == "Pod"


@pytest.mark.parametrize("levels", [200, 600, 900, 5_000])
@pytest.mark.parametrize("media", ["application/json", "application/yaml"])
def test_a_body_that_is_nested_too_deeply_is_a_bad_request(levels: int, media: str) -> None:
    deep = b'{"spec":{"affinity":' + b'{"a":' * levels + b"1" + b"}" * (levels + 2)
    with pytest.raises(StatusError) as refused:
        bodies.read_object(PODS_IN, media, deep)
    assert refused.value.code == 400


@pytest.mark.parametrize("kind", list(PatchType))
def test_a_patch_that_is_nested_too_deeply_is_a_bad_request(kind: PatchType) -> None:
    content = nested(600)
    sent = [{"op": "add", "path": "/spec/affinity", "value": content}]
    data = json.dumps(sent if kind is PatchType.JSON else {"spec": {"affinity": content}})
    with pytest.raises(StatusError) as refused:
        bodies.read_patch(POD, kind.value, data.encode())
    assert refused.value.code == 400


def test_what_stands_twice_among_many_is_found_at_once() -> None:
    begun = time.monotonic()
    many = b",".join(b'"k%d":1' % number for number in range(MANY))
    with pytest.raises(StatusError, match='duplicate field "a"') as refused:
        bodies.read_object(
            PODS_IN, "application/json", b'{"a":1,%b,"a":2}' % many, Validation.STRICT
        )
    assert refused.value.code == 400
    ids: list[Json] = [*map(str, range(MANY)), "7"]
    devices: Json = [{"resourceName": "example.com/gpu", "deviceIDs": ids}]
    binding: Object = {
        "metadata": {"name": "b"},
        "spec": {
            "podUID": "u",
            "nodeName": "n",
            "containers": [{"name": "main", "devices": devices}],
        },
    }
    with pytest.raises(StatusError, match=f"deviceIDs\\[{MANY}\\]: Duplicate value") as refused:
        writing.created(Route(DEVICE_BINDINGS, "default"), binding, FRESH)
    assert refused.value.code == 422
    finalizers: list[Json] = [f"example.com/f{number}" for number in range(MANY)]
    before = pod()
    metadata = {**before["metadata"], "finalizers": finalizers}  # type: ignore[dict-item]
    assert writing.updated(POD, before, {**before, "metadata": metadata}).changed
    assert time.monotonic() - begun < SECONDS


def test_of_very_many_faults_the_first_hundred_are_told() -> None:
    labels: Object = {f"!{number}": "" for number in range(MANY)}
    with pytest.raises(StatusError) as refused:
        writing.created(PODS_IN, {**SENT, "metadata": {"name": "p", "labels": labels}}, FRESH)
    assert len(refused.value.details["causes"]) == 100  # type: ignore[arg-type]
    unknown: Object = {f"u{number}": 1 for number in range(MANY)}
    with pytest.raises(StatusError) as refused:
        writing.created(PODS_IN, {**SENT, **unknown}, FRESH, Validation.STRICT)
    assert refused.value.message.count("unknown field") == 100


def test_warnings_have_room_in_the_headers_of_an_answer() -> None:
    """Kubernetes: at most 4,096 characters, 256 of each; Python's client reads 100 headers."""
    unknown: Object = {f"{number}{'u' * 400}": 1 for number in range(MANY)}
    warnings = writing.created(PODS_IN, {**SENT, **unknown}, FRESH).warnings
    assert [len(each) for each in warnings] == [256] * 16
    short: Object = {f"u{number}": 1 for number in range(MANY)}
    assert len(writing.created(PODS_IN, {**SENT, **short}, FRESH).warnings) == 50


def test_what_is_said_of_long_names_is_right_and_not_kept() -> None:
    long = "a" * 3_000_000
    assert names.label_faults(long) == ("must be no more than 63 characters",)
    [more, other] = names.label_faults(f"{long}!")
    assert more == "must be no more than 63 characters"
    assert other.startswith("a lowercase RFC 1123 label must consist of")
    assert names.qualified_faults(long) == ("name part must be no more than 63 characters",)
    assert names.label_value_faults(long) == ("must be no more than 63 characters",)
