"""Orders to a pod: to a node, to devices, and away.

`ResourceBinding` is what the design of 2018 had in mind (persistence-designs 1.1, details 28): the
devices that a kubelet chose are copied into the pod's spec. The same content again is done already;
other content is refused, since devices are never taken away or exchanged; a binding that means a
pod of another UID is refused. Each container that is named must name each of its resources once, as
many devices as its limit; containers that are not named stay as they are, so a binding may come in
parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from simulator.api.dialect.bodies import DeleteOptions, delete_options
from simulator.api.dialect.compute_devices import COMPUTE_DEVICES, device_faults
from simulator.api.dialect.documents import (
    Json,
    Object,
    containers_of,
    items,
    mapping,
    text,
    texts,
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
    wanted = _wanted(route, pod, given)
    result = _with_devices(route, pod, wanted)
    if result == pod:
        return Written(pod, changed=False)
    if faults := list(device_faults(result)):
        raise invalid(PODS, route.name, faults)
    if holder is not None:
        _check_holders(route, pod, wanted, holder)
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


def _wanted(route: Route, pod: Object, given: Object) -> dict[str, list[Json]]:
    """Return the devices by container, in one order so that the same content is equal."""
    there = {text(one, "name") for one in containers_of(pod)}
    wanted: dict[str, list[Json]] = {}
    causes = []
    for index, container in enumerate(items(given, "containers")):
        field = f"containers[{index}].containerName"
        name = text(container, "containerName")
        if name not in there:
            why = f"pod {route.name} has no such container"
            causes.append(invalid_value(field, name, why))
        elif name in wanted:
            causes.append(duplicate(field, name))
        else:
            devices = sorted(
                items(container, COMPUTE_DEVICES), key=lambda one: text(one, "resourceName")
            )
            wanted[name] = [
                {
                    "resourceName": text(one, "resourceName"),
                    "deviceIDs": [*sorted(texts(one, "deviceIDs"))],
                }
                for one in devices
            ]
    if not wanted and not causes:
        causes.append(required("containers"))
    if causes:
        raise invalid(_RESOURCE_BINDING, route.name, causes)
    return wanted


def _with_devices(route: Route, pod: Object, wanted: dict[str, list[Json]]) -> Object:
    spec = dict(mapping(pod, "spec"))
    for field in ("initContainers", "containers"):
        if field in spec:
            spec[field] = [_filled(route, one, wanted) for one in items(spec, field)]
    return {**pod, "metadata": dict(mapping(pod, "metadata")), "spec": spec}


def _filled(route: Route, container: Object, wanted: dict[str, list[Json]]) -> Object:
    """Return a container with its devices; what it has already must be wanted again."""
    name = text(container, "name")
    if name not in wanted:
        return container
    present = {
        text(one, "resourceName"): texts(one, "deviceIDs")
        for one in items(container, COMPUTE_DEVICES)
    }
    added = []
    for one in wanted[name]:
        device = one if isinstance(one, dict) else {}
        resource, ids = text(device, "resourceName"), texts(device, "deviceIDs")
        if resource not in present:
            added.append(device)
        elif sorted(present[resource]) != ids:
            there = ", ".join(sorted(present[resource]))
            why = (
                f'container "{name}" has {resource} {there}; '
                "devices are never taken away or exchanged"
            )
            raise conflict(PODS, route.name, why, subresource="resourcebinding")
    if not added:
        return container
    return {**container, COMPUTE_DEVICES: [*items(container, COMPUTE_DEVICES), *added]}


def _check_holders(
    route: Route, pod: Object, wanted: dict[str, list[Json]], holder: Holder
) -> None:
    """Refuse devices of another pod on the node; off unless the server is told to."""
    node = text(pod, "spec", "nodeName")
    for resource, each in _devices(wanted):
        other = holder(node, resource, each)
        if other is not None and other != f"{route.namespace}/{route.name}":
            why = f'{resource} "{each}" on node "{node}" is held by pod {other}'
            raise conflict(PODS, route.name, why, subresource="resourcebinding")


def _devices(wanted: dict[str, list[Json]]) -> Iterator[tuple[str, str]]:
    for listed in wanted.values():
        for one in listed:
            device = one if isinstance(one, dict) else {}
            for each in texts(device, "deviceIDs"):
                yield text(device, "resourceName"), each


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
