"""Orders to a pod: to a node, to devices, and away.

`ResourceBinding` is what the design of 2018 had in mind (persistence-designs 1.1, details 28): the
devices that a kubelet chose are copied into the pod's spec. The same content again is done already;
other content is refused, since devices are never taken away or exchanged; a binding that means a
pod of another UID is refused. Each container that is named must name each of its resources once, as
many devices as its limit; containers that are not named stay as they are, so a binding may come in
parts. What may be bound is decided by `simulator.core.resource_bindings`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final

from simulator.api.dialect.bodies import DeleteOptions, delete_options
from simulator.api.dialect.compute_devices import (
    COMPUTE_DEVICES,
    cause_of,
    compute_devices,
    compute_devices_document,
    pod_value,
)
from simulator.api.dialect.documents import (
    CONTAINER_FIELDS,
    Object,
    items,
    mapping,
    text,
    timestamp,
)
from simulator.api.dialect.kinds import BINDINGS, BULK_RESOURCE_BINDINGS, PODS, Kind
from simulator.api.dialect.metadata import Fresh, check_identity, check_place, raise_generation
from simulator.api.dialect.queries import Validation
from simulator.api.dialect.routes import Route
from simulator.api.dialect.schemas.checking import MistypedError, decoded
from simulator.api.dialect.statuses import (
    Cause,
    StatusError,
    bad_request,
    conflict,
    duplicate,
    invalid,
    invalid_value,
    required,
    success,
)
from simulator.api.dialect.writing import Written
from simulator.core.pods import ComputeDevices, Container, ContainerName, Pod
from simulator.core.resource_bindings import (
    BoundDevices,
    ContainersMissing,
    DeviceHeld,
    DevicesUnfit,
    OthersBound,
    bind,
)

Holder = Callable[[str, str, str], "str | None"]
"""Which pod (`namespace/name`) of a node has a device of a resource; None when none has."""

BULK_MAX: Final = 1_000
"""Most bindings of one request."""
_RESOURCE_BINDING: Final = Kind("", "v1", "ResourceBinding", "resourcebindings", stored=False)


@dataclass(frozen=True, slots=True)
class BulkItem:
    """One binding of a request with many.

    Attributes:
        route: The pod's `resourcebinding`.
        body: A ResourceBinding.
    """

    route: Route
    body: Object


def pod_of(route: Route, body: Object) -> Route:
    """Return the pod that a Binding is for when the path does not name it (POST `bindings`).

    Raises:
        StatusError: 422, the Binding does not name it either.
    """
    name = text(body, "metadata", "name")
    if not name:
        fault = required("metadata.name", "name or generateName is required")
        raise invalid(BINDINGS, "", [fault])
    return Route(PODS, route.namespace, name, "binding")


def bound(
    route: Route,
    pod: Object,
    body: Object,
    fresh: Fresh,
    validation: Validation = Validation.WARN,
) -> Written:
    """Bind a pod to a node (POST `pods/NAME/binding`).

    Raises:
        StatusError: 400; 409, it is on a node, is going away, or another pod is meant; 422.
    """
    given = _read(route, body, "Binding", validation)
    target = mapping(given, "target")
    causes = []
    if text(target, "kind") not in {"", "Node"}:
        why = 'supported values: "<empty>", "Node"'
        message = f'Unsupported value: "{text(target, "kind")}": {why}'
        causes.append(Cause("target.kind", "FieldValueNotSupported", message))
    if not text(target, "name"):
        causes.append(required("target.name"))
    if causes:
        raise invalid(BINDINGS, route.name, causes)
    metadata = mapping(given, "metadata")
    check_identity(route, pod, text(metadata, "uid"), text(metadata, "resourceVersion"))
    node = text(pod, "spec", "nodeName")
    if text(pod, "metadata", "deletionTimestamp"):
        why = f"pod {route.name} is being deleted, cannot be assigned to a host"
        raise conflict(PODS, route.name, why, subresource="binding")
    if node:
        why = f'pod {route.name} is already assigned to node "{node}"'
        raise conflict(PODS, route.name, why, subresource="binding")
    status = dict(mapping(pod, "status"))
    status["conditions"] = [
        *(one for one in items(status, "conditions") if text(one, "type") != "PodScheduled"),
        {"type": "PodScheduled", "status": "True", "lastTransitionTime": timestamp(fresh.now)},
    ]
    result: Object = {
        **pod,
        "metadata": dict(mapping(pod, "metadata")),
        "spec": {**mapping(pod, "spec"), "nodeName": text(target, "name")},
        "status": status,
    }
    raise_generation(PODS, pod, result)
    return Written(result)


def devices_bound(
    route: Route,
    pod: Object,
    body: Object,
    *,
    holder: Holder | None = None,
    validation: Validation = Validation.WARN,
) -> Written:
    """Copy the devices that a pod was given into its spec (POST `pods/NAME/resourcebinding`).

    Args:
        route: The pod's `resourcebinding`.
        pod: As it is stored.
        body: A ResourceBinding.
        holder: Which pods have devices; None when that is not checked.
        validation: What is done about unknown fields.

    Raises:
        StatusError: 400; 409, other devices are there already, another pod is meant, or a device is
            another pod's; 422.
    """
    given = _read(route, body, "ResourceBinding", validation)
    target = mapping(given, "target")
    if text(target, "name") not in {"", route.name}:
        fault = invalid_value("target.name", text(target, "name"), f"must be {route.name}")
        raise invalid(_RESOURCE_BINDING, route.name, [fault])
    uid = text(target, "uid")
    if not uid:
        raise invalid(_RESOURCE_BINDING, route.name, [required("target.uid")])
    check_identity(route, pod, uid)
    value = pod_value(pod)
    node = text(pod, "spec", "nodeName")
    outcome = bind(value, _asked(given), None if holder is None else partial(holder, node))
    missing = outcome.names if isinstance(outcome, ContainersMissing) else ()
    causes = list(_container_causes(route, given, missing))
    if causes or isinstance(outcome, ContainersMissing):
        raise invalid(_RESOURCE_BINDING, route.name, causes)
    if not isinstance(outcome, Pod):
        raise _refusal(route, value, node, outcome)
    if outcome is value:
        return Written(pod, changed=False)
    result = _with_devices(pod, outcome)
    raise_generation(PODS, pod, result)
    return Written(result)


def _read(route: Route, body: Object, kind: str, validation: Validation) -> Object:
    try:
        found = decoded(body, kind)
    except MistypedError as cause:
        message = f'{kind} in version "v1" cannot be handled as a {kind}: {cause}'
        raise bad_request(message) from cause
    if found.unknown and validation is Validation.STRICT:
        faults = ", ".join(f'unknown field "{path}"' for path in found.unknown)
        raise bad_request(
            f'{kind} in version "v1" cannot be handled as a {kind}: strict decoding error: {faults}'
        )
    check_place(route, mapping(found.object, "metadata"))
    return found.object


def _asked(given: Object) -> BoundDevices:
    """Return the devices by container, in one order whatever the order of the request."""
    asked: dict[ContainerName, ComputeDevices] = {}
    for container in items(given, "containers"):
        devices = [(resource, tuple(sorted(ids))) for resource, ids in compute_devices(container)]
        name = ContainerName(text(container, "containerName"))
        asked[name] = tuple(sorted(devices, key=lambda entry: entry[0]))
    return asked


def _container_causes(
    route: Route, given: Object, missing: Collection[ContainerName]
) -> Iterator[Cause]:
    """Iterate over what is wrong about the containers that a binding names.

    Args:
        route: The pod's `resourcebinding`.
        given: A ResourceBinding.
        missing: Those that the pod does not have.
    """
    containers = items(given, "containers")
    if not containers:
        yield required("containers")
    seen = set()
    for index, container in enumerate(containers):
        field = f"containers[{index}].containerName"
        name = text(container, "containerName")
        if name in missing:
            yield invalid_value(field, name, f"pod {route.name} has no such container")
        elif name in seen:
            yield duplicate(field, name)
        seen.add(name)


def _refusal(
    route: Route, pod: Pod, node: str, refused: OthersBound | DevicesUnfit | DeviceHeld
) -> StatusError:
    match refused:
        case OthersBound(container, resource, ids):
            there = f"{resource} {', '.join(ids)}"
            why = f'container "{container}" has {there}; devices are never taken away or exchanged'
            return conflict(PODS, route.name, why, subresource="resourcebinding")
        case DevicesUnfit(faults):
            return invalid(PODS, route.name, [cause_of(pod, fault) for fault in faults])
        case DeviceHeld(resource, device, other):
            why = f'{resource} "{device}" on node "{node}" is held by pod {other}'
            return conflict(PODS, route.name, why, subresource="resourcebinding")


def _with_devices(pod: Object, bound_pod: Pod) -> Object:
    """Return the document of a pod with the devices that were added to its containers."""
    spec = dict(mapping(pod, "spec"))
    values = (bound_pod.init_containers, bound_pod.containers)
    for field, containers in zip(CONTAINER_FIELDS, values, strict=True):
        if field in spec:
            found = zip(items(spec, field), containers, strict=True)
            spec[field] = [_filled(one, container) for one, container in found]
    return {**pod, "metadata": dict(mapping(pod, "metadata")), "spec": spec}


def _filled(container: Object, value: Container) -> Object:
    present = items(container, COMPUTE_DEVICES)
    added = value.compute_devices[len(present) :]
    if not added:
        return container
    return {**container, COMPUTE_DEVICES: [*present, *compute_devices_document(added)]}


def bulk_items(body: Object) -> tuple[BulkItem, ...]:
    """Return the bindings of a request with many (POST `resourcebindings`, not Kubernetes).

    Each says its pod with `metadata.namespace` and `target.name`.

    Raises:
        StatusError: 400; 413, there are too many; 422.
    """
    try:
        given = decoded(body, BULK_RESOURCE_BINDINGS.kind).object
    except MistypedError as cause:
        raise bad_request(f"BulkResourceBinding cannot be read: {cause}") from cause
    listed = items(given, "items")
    if len(listed) > BULK_MAX:
        why = f"at most {BULK_MAX} bindings are taken at once, got {len(listed)}"
        raise StatusError(413, "RequestEntityTooLarge", why)
    found, causes = [], []
    for index, one in enumerate(listed):
        name = text(one, "target", "name")
        namespace = text(one, "metadata", "namespace") or "default"
        if not name:
            causes.append(required(f"items[{index}].target.name"))
        found.append(BulkItem(Route(PODS, namespace, name, "resourcebinding"), one))
    if causes:
        raise invalid(BULK_RESOURCE_BINDINGS, "", causes)
    return tuple(found)


def bulk_answer(answers: list[Object]) -> Object:
    """Return the answer to a request with many: a Status for each, in their order."""
    return {
        "kind": BULK_RESOURCE_BINDINGS.kind,
        "apiVersion": BULK_RESOURCE_BINDINGS.api_version,
        "metadata": {},
        "results": [*answers],
    }


def binding_answer(revision: int) -> Object:
    """Return the answer to an order: a Status with the revision that the pod has now."""
    return success(code=201) | {"metadata": {"resourceVersion": str(revision)}}


def evicted(route: Route, body: Object, validation: Validation = Validation.WARN) -> DeleteOptions:
    """Read how a pod is to be evicted (POST `pods/NAME/eviction`): there are no disruption budgets.

    Raises:
        StatusError: 400 or 422.
    """
    given = _read(route, body, "Eviction", validation)
    return delete_options(mapping(given, "deleteOptions"))
