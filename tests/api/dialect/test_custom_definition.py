"""The CustomResourceDefinition for real clusters: a structural schema of the same objects."""

from __future__ import annotations

import jsonschema
import pytest
from kubernetes.client import V1CustomResourceDefinition

from simulator.api.dialect.custom_definition import device_binding_definition
from simulator.api.dialect.documents import Object, items, mapping
from simulator.api.dialect.kinds import DEVICE_BINDINGS
from tests.api.dialect.objects import binding_body, stored

VERSION = items(device_binding_definition(), "spec", "versions")[0]
SCHEMA = mapping(VERSION, "schema", "openAPIV3Schema")


def every_part(schema: Object) -> list[Object]:
    below = [schema[key] for key in ("items", "additionalProperties") if key in schema]
    below += list(mapping(schema, "properties").values())
    return [
        schema,
        *(part for each in below if isinstance(each, dict) for part in every_part(each)),
    ]


def test_the_official_client_takes_the_definition() -> None:
    made = V1CustomResourceDefinition.model_validate(device_binding_definition())

    assert made.metadata is not None
    assert made.metadata.name == "devicebindings.rebind.internal"
    assert made.spec.scope == "Namespaced"


def test_its_schema_is_structural() -> None:
    # Kubernetes takes no schema with references or with parts that have no type.
    for part in every_part(SCHEMA):
        assert "$ref" not in part
        assert part.get("type") in {"object", "array", "string", "integer", "boolean"}


def test_of_the_metadata_it_says_nothing_but_that_there_are_some() -> None:
    """Kubernetes refuses a schema whose root says more of them than of a name, even in words."""
    assert mapping(SCHEMA, "properties")["metadata"] == {"type": "object"}


def test_it_takes_the_objects_that_the_server_takes_and_no_others() -> None:
    jsonschema.validate(stored(DEVICE_BINDINGS, binding_body()), SCHEMA)
    with pytest.raises(jsonschema.ValidationError, match="'podUID' is a required property"):
        jsonschema.validate({**binding_body(), "spec": {"nodeName": "a"}}, SCHEMA)
    with pytest.raises(jsonschema.ValidationError, match="7 is not of type 'string'"):
        jsonschema.validate(binding_body(podUID=7), SCHEMA)
