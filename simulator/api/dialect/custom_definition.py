"""The CustomResourceDefinition that makes DeviceBindings known to a real cluster.

Rebind's own server serves the kind by itself. The schema is made from the same types, so both take
the same objects; what a schema cannot say (that devices do not stand twice, say) is checked by
Rebind's server alone. `spec.nodeName` can be selected by from Kubernetes 1.30 on.
"""

from __future__ import annotations

from typing import Final

from simulator.api.dialect.documents import Json, Object, mapping
from simulator.api.dialect.kinds import DEVICE_BINDINGS
from simulator.api.dialect.schemas.openapi import inlined

SELECTABLE: Final = (".spec.nodeName", ".spec.podUID")
_COLUMNS: Final = (
    ("Node", "string", ".spec.nodeName", 0),
    ("Age", "date", ".metadata.creationTimestamp", 0),
    ("IDs", "string", ".spec.containers[*].devices[*].deviceIDs", 1),
    ("Pod UID", "string", ".spec.podUID", 1),
)


def _structural(schema: Object) -> Object:
    """Return a schema as Kubernetes takes it: of `metadata` it says nothing but its type.

    With a description it is refused: "must not specify anything other than name and generateName".
    """
    metadata: Object = {"type": "object"}
    return {**schema, "properties": {**mapping(schema, "properties"), "metadata": metadata}}


def device_binding_definition() -> Object:
    """Return the definition, as `kubectl create -f` takes it."""
    kind = DEVICE_BINDINGS
    columns: list[Json] = [
        {"name": name, "type": type_name, "jsonPath": path, "priority": priority}
        for name, type_name, path, priority in _COLUMNS
    ]
    version: Object = {
        "name": kind.version,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": _structural(inlined(kind.kind))},
        "subresources": {"status": {}},
        "additionalPrinterColumns": columns,
        "selectableFields": [{"jsonPath": path} for path in SELECTABLE],
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": kind.resource},
        "spec": {
            "group": kind.group,
            "names": {
                "kind": kind.kind,
                "listKind": kind.list_kind,
                "plural": kind.plural,
                "singular": kind.singular,
                "shortNames": [*kind.short_names],
                "categories": [*kind.categories],
            },
            "scope": "Namespaced",
            "versions": [version],
        },
    }
