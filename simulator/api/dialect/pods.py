"""Pods: what is filled in, what is refused, and what may change once they are there.

Kubernetes: pkg/apis/core/v1/defaults.go, pkg/apis/core/validation and pkg/registry/core/pod, as far
as the device manager and the clients that watch it depend on. An image is not demanded: containers
are simulated. Volumes, probes and affinity are stored as they are.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

from simulator.api.dialect import names
from simulator.api.dialect.compute_devices import device_faults
from simulator.api.dialect.documents import (
    CONTAINER_FIELDS,
    Object,
    containers_of,
    items,
    mapping,
    part,
    text,
    whole,
)
from simulator.api.dialect.statuses import (
    Cause,
    duplicate,
    forbidden_field,
    invalid_value,
    required,
    unsupported,
)
from simulator.core.quantities import parse_quantity
from simulator.core.resource_requests import LIMITS, REQUESTS, request_faults

DEFAULT_SCHEDULER: Final = "default-scheduler"
"""Who schedules a pod that names no scheduler."""
GRACE_SECONDS: Final = 30
"""What a pod has that names no grace period."""
_POLICIES: Final = ("Always", "Never", "OnFailure")
_PORT_MAX: Final = 65_535
_UNCHANGED: Final = (
    "pod updates may not change fields other than `spec.containers[*].image`,"
    "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only "
    "additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set "
    "to 1 if it was previously negative)"
)


def fill_in(pod: Object) -> None:
    """Give a pod what it does not say (SetDefaults_PodSpec and its relatives)."""
    spec = part(pod, "spec")
    spec.setdefault("restartPolicy", "Always")
    spec.setdefault("terminationGracePeriodSeconds", GRACE_SECONDS)
    spec.setdefault("dnsPolicy", "ClusterFirst")
    spec.setdefault("schedulerName", DEFAULT_SCHEDULER)
    spec.setdefault("securityContext", {})
    spec.setdefault("enableServiceLinks", True)
    for container in containers_of(pod):
        _fill_in_container(container)


def begin(pod: Object) -> None:
    """Give a new pod its first status."""
    pod["status"] = {"phase": "Pending", "qosClass": quality_of_service(pod)}


def _fill_in_container(container: Object) -> None:
    resources = part(container, "resources")
    limits = mapping(resources, LIMITS)
    if limits:
        resources[REQUESTS] = {**limits, **mapping(resources, REQUESTS)}
    container.setdefault("terminationMessagePath", "/dev/termination-log")
    container.setdefault("terminationMessagePolicy", "File")
    image = text(container, "image")
    if image:
        _, _, tag = image.rpartition("/")[2].partition(":")
        newest = "@" not in image and tag in {"", "latest"}
        container.setdefault("imagePullPolicy", "Always" if newest else "IfNotPresent")
    for port in items(container, "ports"):
        port.setdefault("protocol", "TCP")


def quality_of_service(pod: Object) -> str:
    """Return `Guaranteed`, `Burstable` or `BestEffort`: only cpu and memory count."""
    asked, guaranteed = False, True
    for container in containers_of(pod):
        limits = mapping(container, "resources", LIMITS)
        requests = mapping(container, "resources", REQUESTS)
        for name in ("cpu", "memory"):
            limit, request = limits.get(name), requests.get(name)
            asked = asked or limit is not None or request is not None
            guaranteed = guaranteed and limit is not None and limit == request
    if not asked:
        return "BestEffort"
    return "Guaranteed" if guaranteed else "Burstable"


def faults(pod: Object) -> Iterator[Cause]:
    """Iterate over what is wrong about a new pod."""
    spec = mapping(pod, "spec")
    if not items(spec, "containers"):
        yield required("spec.containers")
    seen: set[str] = set()
    for field in CONTAINER_FIELDS:
        for index, container in enumerate(items(spec, field)):
            where = f"spec.{field}[{index}]"
            yield from _name_faults(container, where, seen)
            yield from _resource_faults(container, where)
            yield from _port_faults(container, where)
    policy = text(spec, "restartPolicy")
    if policy not in _POLICIES:
        yield unsupported("spec.restartPolicy", policy, _POLICIES)
    node = text(spec, "nodeName")
    for fault in names.subdomain_faults(node) if node else ():
        yield invalid_value("spec.nodeName", node, fault)
    yield from _number_faults(spec)
    yield from device_faults(pod)


def _name_faults(container: Object, where: str, seen: set[str]) -> Iterator[Cause]:
    name = text(container, "name")
    if not name:
        yield required(f"{where}.name")
        return
    for fault in names.label_faults(name):
        yield invalid_value(f"{where}.name", name, fault)
    if name in seen:
        yield duplicate(f"{where}.name", name)
    seen.add(name)


def _resource_faults(container: Object, where: str) -> Iterator[Cause]:
    limits = _quantities(mapping(container, "resources", LIMITS))
    requests = _quantities(mapping(container, "resources", REQUESTS))
    for fault in request_faults(limits, requests):
        reason = "FieldValueRequired" if fault.missing else "FieldValueInvalid"
        yield Cause(f"{where}.resources.{fault.field}", reason, fault.message)
    for name, asked in requests.items():
        if "/" in name or name not in limits:
            continue
        if parse_quantity(asked) > parse_quantity(limits[name]):
            why = f"must be less than or equal to {name} limit of {limits[name]}"
            yield invalid_value(f"{where}.resources.{REQUESTS}", asked, why)


def _quantities(found: Object) -> dict[str, str]:
    return {name: value for name, value in found.items() if isinstance(value, str)}


def _port_faults(container: Object, where: str) -> Iterator[Cause]:
    for index, port in enumerate(items(container, "ports")):
        number = whole(port, "containerPort")
        if number is None:
            yield required(f"{where}.ports[{index}].containerPort")
        elif not 0 < number <= _PORT_MAX:
            why = f"must be between 1 and {_PORT_MAX}, inclusive"
            yield invalid_value(f"{where}.ports[{index}].containerPort", number, why)


def _number_faults(spec: Object) -> Iterator[Cause]:
    grace = whole(spec, "terminationGracePeriodSeconds")
    if grace is not None and grace < 0:
        why = "must be greater than or equal to 0"
        yield invalid_value("spec.terminationGracePeriodSeconds", grace, why)
    deadline = whole(spec, "activeDeadlineSeconds")
    if deadline is not None and deadline < 1:
        why = "must be between 1 and 2147483647, inclusive"
        yield invalid_value("spec.activeDeadlineSeconds", deadline, why)


def update_faults(before: Object, after: Object) -> Iterator[Cause]:
    """Iterate over what may not change in a pod's spec and did."""
    old, new = mapping(before, "spec"), mapping(after, "spec")
    if old == new:
        return
    for field in CONTAINER_FIELDS:
        if len(items(old, field)) != len(items(new, field)):
            yield forbidden_field(f"spec.{field}", "pod updates may not add or remove containers")
            return
    yield from _deadline_faults(old, new)
    yield from _toleration_faults(old, new)
    before_fixed, after_fixed = _without_changeable(old), _without_changeable(new)
    if before_fixed != after_fixed:
        keys = sorted({*before_fixed, *after_fixed})
        changed = [key for key in keys if before_fixed.get(key) != after_fixed.get(key)]
        yield forbidden_field("spec", f"{_UNCHANGED}\nchanged: {', '.join(changed)}")


def _without_changeable(spec: Object) -> Object:
    kept: Object = {
        key: value
        for key, value in spec.items()
        if key not in {"activeDeadlineSeconds", "tolerations", *CONTAINER_FIELDS}
    }
    for field in CONTAINER_FIELDS:
        kept[field] = [
            {key: value for key, value in container.items() if key != "image"}
            for container in items(spec, field)
        ]
    return kept


def _deadline_faults(old: Object, new: Object) -> Iterator[Cause]:
    before, after = whole(old, "activeDeadlineSeconds"), whole(new, "activeDeadlineSeconds")
    field = "spec.activeDeadlineSeconds"
    if before is None or after == before:
        return
    if after is None:
        yield invalid_value(field, None, "must not update from a positive integer to nil value")
    elif after > before:
        why = f"must be less than or equal to previous value {before}"
        yield invalid_value(field, after, why)


def _toleration_faults(old: Object, new: Object) -> Iterator[Cause]:
    kept = {json.dumps(one, sort_keys=True) for one in items(new, "tolerations")}
    if any(json.dumps(one, sort_keys=True) not in kept for one in items(old, "tolerations")):
        why = "existing toleration can not be modified except its tolerationSeconds"
        yield forbidden_field("spec.tolerations", why)
