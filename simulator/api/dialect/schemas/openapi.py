"""The types as OpenAPI v3 schemas, as clients look for them: explain, apply and diff."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from simulator.api.dialect.documents import Json, Object
from simulator.api.dialect.kinds import Kind
from simulator.api.dialect.schemas.descriptions import FIELDS, TYPES
from simulator.api.dialect.schemas.notation import Field, type_named
from simulator.api.dialect.schemas.own import TYPES as OWN

_META: Final = frozenset(
    {
        "DeleteOptions",
        "LabelSelector",
        "LabelSelectorRequirement",
        "ManagedFieldsEntry",
        "ObjectMeta",
        "OwnerReference",
        "Preconditions",
    }
)
_META_PREFIX: Final = "io.k8s.apimachinery.pkg.apis.meta.v1."
_CORE_PREFIX: Final = "io.k8s.api.core.v1."
_OWN_PREFIX: Final = "internal.rebind.v1alpha1."
_QUANTITY: Final = "io.k8s.apimachinery.pkg.api.resource.Quantity"
_OWN_NAMES: Final = frozenset(
    line.partition(":")[0] for line in OWN.splitlines() if line and not line.startswith(" ")
)
_SCALARS: Final[dict[str, Object]] = {
    "any": {},
    "bool": {"type": "boolean"},
    "int": {"type": "integer", "format": "int64"},
    "intOrString": {"oneOf": [{"type": "integer"}, {"type": "string"}]},
    "microTime": {"type": "string", "format": "date-time"},
    "quantity": {"$ref": f"#/components/schemas/{_QUANTITY}"},
    "string": {"type": "string"},
    "time": {"type": "string", "format": "date-time"},
}


def schema_name(type_name: str) -> str:
    """Return the name of a type's schema."""
    if type_name in _META:
        return f"{_META_PREFIX}{type_name}"
    prefix = _OWN_PREFIX if type_name in _OWN_NAMES else _CORE_PREFIX
    return f"{prefix}{type_name}"


def reference(type_name: str) -> Object:
    """Return a reference to a type's schema."""
    return {"$ref": f"#/components/schemas/{schema_name(type_name)}"}


def components(kinds: Iterable[tuple[Kind, str]]) -> Object:
    """Return the schemas of kinds and of all that they are made of.

    Args:
        kinds: Each with the name of its type; what is not a resource of its own comes with the
            resource that it is a part of.
    """
    known = {name: kind for kind, name in kinds if kind.kind == name}
    wanted = [name for _, name in kinds]
    found: Object = {
        _QUANTITY: {
            "description": "A number with a unit, such as 500m or 64Gi.",
            "oneOf": [{"type": "string"}, {"type": "number"}],
        }
    }
    while wanted:
        name = wanted.pop()
        if schema_name(name) in found:
            continue
        found[schema_name(name)] = _schema(name, known.get(name))
        wanted += [field.type for field in type_named(name).values() if field.is_object]
    return {key: found[key] for key in sorted(found)}


def _schema(name: str, kind: Kind | None) -> Object:
    fields = type_named(name)
    schema: Object = {"type": "object"}
    if name in TYPES:
        schema["description"] = TYPES[name]
    schema["properties"] = {each.name: _property(name, each) for each in fields.values()}
    if needed := [each.name for each in fields.values() if each.required]:
        schema["required"] = [*needed]
    if kind is not None:
        schema["x-kubernetes-group-version-kind"] = [group_version_kind(kind)]
    return schema


def inlined(type_name: str) -> Object:
    """Return a type's schema without references, as a CustomResourceDefinition demands it.

    Metadata is the server's business: there it is said to be an object, and no more.
    """
    if type_name == "ObjectMeta":
        return {"type": "object"}
    schema = _schema(type_name, None)
    schema["properties"] = {
        field.name: _property(type_name, field, inlined) for field in type_named(type_name).values()
    }
    return schema


def group_version_kind(kind: Kind, name: str = "") -> Object:
    """Return what OpenAPI documents of Kubernetes name a kind by."""
    return {"group": kind.group, "kind": name or kind.kind, "version": kind.version}


def _property(owner: str, field: Field, refer: Callable[[str], Object] = reference) -> Object:
    said = FIELDS.get(f"{owner}.{field.name}", FIELDS.get(field.name, ""))
    described: Object = {"description": said} if said else {}
    if not field.shape:
        return _described(_value(field, refer), described)
    schema = _value(field, refer)
    for shape in reversed([field.shape[at : at + 2] for at in range(0, len(field.shape), 2)]):
        schema = (
            {"type": "array", "items": schema}
            if shape == "[]"
            else {"type": "object", "additionalProperties": schema}
        )
    schema |= described
    if field.merges:
        strategy = "merge,retainKeys" if field.retains else "merge"
        schema["x-kubernetes-patch-strategy"] = strategy
        schema["x-kubernetes-list-type"] = "map" if field.key else "set"
        if field.key:
            keys: list[Json] = [field.key]
            schema["x-kubernetes-patch-merge-key"] = field.key
            schema["x-kubernetes-list-map-keys"] = keys
    return schema


def _value(field: Field, refer: Callable[[str], Object]) -> Object:
    return dict(refer(field.type) if field.is_object else _SCALARS[field.type])


def _described(schema: Object, described: Object) -> Object:
    """Add a description; beside a reference nothing else may stand."""
    if "$ref" in schema and described:
        return {"allOf": [schema], **described}
    return schema | described
