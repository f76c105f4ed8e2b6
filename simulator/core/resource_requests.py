"""What the API server demands of a container's `resources`, as far as device counts go.

Extended resources are whole numbers, cannot be overcommitted (a request needs a limit and equals
it), and their names are qualified. One home for manifests and for the API server.

Kubernetes: ValidateContainerResourceRequirements (pkg/apis/core/validation).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from simulator.core.quantities import canonical_quantity, parse_quantity
from simulator.core.resources import ResourceName, is_extended_resource_name

LIMITS: Final = "limits"
REQUESTS: Final = "requests"
_SHOWN_MAX: Final = 60
_NAME_MAX: Final = 80
_NATIVE: Final = "kubernetes.io/"
_KEPT: Final = 1024


@dataclass(frozen=True, slots=True)
class RequestFault:
    """Something about a container's `resources` that the API server refuses.

    Attributes:
        section: `limits` or `requests`: where it stands.
        name: The resource.
        field: What the message begins with, below `resources`.
        message: The API server's.
        about_key: Whether the resource's name is at fault, not its quantity.
        missing: Whether something is not there that must be.
        value: What is refused.
    """

    section: str
    name: str
    field: str
    message: str
    about_key: bool = False
    missing: bool = False
    value: str = ""


def is_extended(name: str) -> bool:
    """Tell whether a resource is no native one: it has a domain, and not Kubernetes'."""
    return "/" in name and _NATIVE not in name


def extended_counts(quantities: Mapping[str, str]) -> dict[ResourceName, int]:
    """Return the extended resources of valid limits or requests with their counts, in order."""
    return {
        ResourceName(name): int(parse_quantity(text))
        for name, text in quantities.items()
        if is_extended(name)
    }


def request_faults(
    limits: Mapping[str, str], requests: Mapping[str, str]
) -> Iterator[RequestFault]:
    """Iterate over what is wrong about a container's resources: limits first, in their order."""
    for section, quantities in ((LIMITS, limits), (REQUESTS, requests)):
        for name, text in quantities.items():
            fault = _quantity_fault(section, name, text)
            if fault is not None:
                yield fault
    for name, text in requests.items():
        if not is_extended(name) or _quantity_fault(REQUESTS, name, text) is not None:
            continue
        if name not in limits:
            missing = "Required value: Limit must be set for non overcommitable resources"
            yield RequestFault(REQUESTS, name, LIMITS, missing, missing=True)
        elif _quantity_fault(LIMITS, name, limits[name]) is None:
            count, limit = parse_quantity(text), parse_quantity(limits[name])
            if count != limit:
                wanted = f"must be equal to {name} limit of {canonical_quantity(limit)}"
                shown = canonical_quantity(count)
                message = f"{_invalid(shown)}: {wanted}"
                yield RequestFault(REQUESTS, name, REQUESTS, message, value=shown)


@lru_cache(maxsize=_KEPT)
def _quantity_fault(section: str, name: str, text: str) -> RequestFault | None:
    field = f"{section}[{name[:_NAME_MAX]}]"
    try:
        quantity = parse_quantity(text)
    except ValueError as cause:
        message = f"{_invalid(text)}: {cause}"
        return RequestFault(section, name, field, message, value=text)
    shown = canonical_quantity(quantity)
    if quantity < 0:
        message = f"{_invalid(shown)}: must be greater than or equal to 0"
        return RequestFault(section, name, field, message, value=shown)
    if not is_extended(name):
        return None
    if not is_extended_resource_name(name):
        message = f"{_invalid(name)}: must be an extended resource name"
        return RequestFault(section, name, field, message, about_key=True, value=name)
    if quantity.denominator != 1:
        message = f"{_invalid(shown)}: must be an integer"
        return RequestFault(section, name, field, message, value=shown)
    return None


def _invalid(value: str) -> str:
    return f'Invalid value: "{value[:_SHOWN_MAX]}"'
