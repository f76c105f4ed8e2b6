"""The types are Kubernetes' own: field by field those of the official client."""

from __future__ import annotations

import typing

import kubernetes.client.models as official
import pytest
from pydantic import BaseModel

from simulator.api.dialect.documents import Object
from simulator.api.dialect.schemas.checking import MistypedError, decoded
from simulator.api.dialect.schemas.notation import type_named, type_names

OWN_FIELDS = {
    ("Container", "computeDevices"),
    ("NodeStatus", "deviceManager"),
    ("PodSpec", "workloadRef"),
    ("PodStatus", "devices"),
}
"""What Rebind adds, and a field of 1.36 that 1.37 has no more."""
SCALARS = {bool: "bool", int: "int", str: "string"}


def official_type(name: str) -> type[BaseModel]:
    for prefix in ("V1", "CoreV1", "V1beta1"):
        found: type[BaseModel] | None = getattr(official, f"{prefix}{name}", None)
        if found is not None:
            return found
    pytest.fail(f"the official client has no {name}")


def compared() -> list[str]:
    own = {
        "BulkResourceBinding",
        "ComputeDevice",
        "ComputeResourceBinding",
        "ResourceBinding",
        "WorkloadReference",
    }
    return [
        name for name in type_names() if name not in own and not name.startswith("DeviceBinding")
    ]


@pytest.mark.parametrize("name", compared())
def test_a_type_has_the_fields_of_the_official_client(name: str) -> None:
    model = official_type(name)
    theirs = {
        field.serialization_alias or key: field.is_required()
        for key, field in model.model_fields.items()
    }

    ours = {
        key: field.required
        for key, field in type_named(name).items()
        if (name, key) not in OWN_FIELDS
    }
    assert ours == theirs


@pytest.mark.parametrize("name", compared())
def test_a_field_has_the_type_of_the_official_client(name: str) -> None:
    for key, field in official_type(name).model_fields.items():
        alias = field.serialization_alias or key
        ours = type_named(name)[alias]
        shape, leaf = "", field.annotation
        while True:
            origin, arguments = typing.get_origin(leaf), typing.get_args(leaf)
            if origin is list:
                shape, leaf = f"{shape}[]", arguments[0]
            elif origin is dict:
                shape, leaf = f"{shape}{{}}", arguments[1]
            elif origin is typing.Annotated:
                leaf = arguments[0]
            elif origin is typing.Union and type(None) in arguments:
                leaf = next(one for one in arguments if one is not type(None))
            else:
                break
        assert ours.shape == shape, alias
        if isinstance(leaf, type) and issubclass(leaf, BaseModel):
            assert leaf is official_type(ours.type), alias
        elif leaf in SCALARS:
            assert ours.type in {SCALARS[leaf], "quantity"}, alias


def test_nulls_are_nothing_and_times_and_quantities_have_one_form() -> None:
    body: Object = {
        "metadata": {"name": "a", "creationTimestamp": None},
        "spec": {"containers": [{"name": "c", "resources": {"limits": {"cpu": 0.5}}}]},
        "status": {"startTime": "2026-01-01T01:00:00.25+01:00"},
    }

    assert decoded(body, "Pod").object == {
        "metadata": {"name": "a"},
        "spec": {"containers": [{"name": "c", "resources": {"limits": {"cpu": "500m"}}}]},
        "status": {"startTime": "2026-01-01T00:00:00Z"},
    }


def test_unknown_fields_are_found_at_any_depth() -> None:
    body: Object = {"spec": {"containers": [{"livenessProbe": {"httpGet": {"prt": 1}}}], "x": 1}}

    assert decoded(body, "Pod").unknown == [
        "spec.containers[0].livenessProbe.httpGet.prt",
        "spec.x",
    ]


START = "json: cannot unmarshal"
FIELD = "into Go struct field"


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (
            {"containers": {}},
            f"{START} object {FIELD} PodSpec.spec.containers of type []v1.Container",
        ),
        (
            {"containers": [{"image": 1}]},
            f"{START} number {FIELD} Container.spec.containers.image of type string",
        ),
        (
            {"nodeSelector": {"a": True}},
            f"{START} bool {FIELD} PodSpec.spec.nodeSelector.a of type string",
        ),
        ({"hostNetwork": "yes"}, f"{START} string {FIELD} PodSpec.spec.hostNetwork of type bool"),
        (
            {"overhead": {"cpu": "two"}},
            (
                "quantities must match the regular expression "
                "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
            ),
        ),
    ],
)
def test_a_value_of_another_type_is_refused(spec: Object, message: str) -> None:
    with pytest.raises(MistypedError) as refused:
        decoded({"spec": spec}, "Pod")

    assert str(refused.value) == message


@pytest.mark.parametrize("text", ["yesterday", "2026-01-01T00:00:00", "9999-12-31T23:59:59-01:00"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(MistypedError, match="parsing time"):
        decoded({"status": {"startTime": text}}, "Pod")
