"""The keys of Kubernetes' core/v1 objects at the levels that manifests are read at."""

from __future__ import annotations

from typing import Final

from simulator.api.dialect.schemas.notation import type_named

OBJECT: Final = tuple(type_named("Pod"))
METADATA: Final = tuple(type_named("ObjectMeta"))
POD_SPEC: Final = tuple(type_named("PodSpec"))
CONTAINER: Final = tuple(key for key in type_named("Container") if key != "computeDevices")
"""Devices are not asked for by id in a manifest; only the API takes that (details 28)."""
RESOURCES: Final = tuple(type_named("ResourceRequirements"))
