"""What a deletion makes of an object: gone, or marked and waiting.

A pod on a node is marked with a deletion timestamp, its grace period ahead, and goes away when it
is deleted again with grace 0, as its kubelet does once its containers have ended. A pod on no node,
one whose containers have ended, and every other object goes away at once, unless finalizers keep
it. A namespace goes away when nothing is left in it: its objects are deleted with it, in the same
request, so `kubectl delete namespace` waits only for pods that a kubelet still has to end.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from simulator.api.dialect.bodies import DeleteOptions
from simulator.api.dialect.documents import (
    Object,
    instant_of,
    mapping,
    part,
    text,
    texts,
    timestamp,
    whole,
)
from simulator.api.dialect.kind_rules import FINALIZER
from simulator.api.dialect.kinds import NAMESPACES, PODS
from simulator.api.dialect.metadata import Fresh, check_identity
from simulator.api.dialect.pods import GRACE_SECONDS
from simulator.api.dialect.routes import Route
from simulator.api.dialect.statuses import forbidden, not_found, success
from simulator.api.dialect.writing import Written, is_finished
from simulator.core.instants import SECOND, Instant

OWN_NAMESPACES: Final = ("default", "kube-node-lease", "kube-public", "kube-system")
"""Those that are there from the start."""
_KEPT_NAMESPACES: Final = ("default", "kube-public", "kube-system")
_ENDED: Final = ("Succeeded", "Failed")


def deleted(route: Route, current: Object, options: DeleteOptions, fresh: Fresh) -> Written:
    """Delete an object.

    Args:
        route: The object.
        current: As it is stored.
        options: How.
        fresh: The time.

    Returns:
        The object that goes away (`removed`), or the one that is marked and stays.

    Raises:
        StatusError: 403, it is a namespace that must be; 409, another object is meant.
    """
    check_identity(route, current, options.uid, options.resource_version)
    if route.kind is NAMESPACES and route.name in _KEPT_NAMESPACES:
        raise forbidden(route.kind, route.name, "this namespace may not be deleted")
    grace = _grace(route, current, options)
    metadata = mapping(current, "metadata")
    result: Object = {**current, "metadata": dict(metadata)}
    marked = text(metadata, "deletionTimestamp")
    left = whole(metadata, "deletionGracePeriodSeconds")
    if not marked or (left is not None and grace < left):
        _mark(route, result, grace, fresh.now)
    if is_finished(route, result):
        return Written(result, removed=True)
    return Written(result, changed=result != current)


def _grace(route: Route, current: Object, options: DeleteOptions) -> int:
    """Return how many seconds an object has (pod strategy: CheckGracefulDelete)."""
    if route.kind is not PODS:
        return 0
    spec = mapping(current, "spec")
    if not text(spec, "nodeName") or text(current, "status", "phase") in _ENDED:
        return 0
    seconds = options.grace_seconds
    if seconds is None:
        seconds = whole(spec, "terminationGracePeriodSeconds")
        seconds = GRACE_SECONDS if seconds is None else seconds
    return 1 if seconds < 0 else seconds


def _mark(route: Route, found: Object, grace: int, now: Instant) -> None:
    metadata = part(found, "metadata")
    asked = _asked(metadata, now)
    metadata["deletionTimestamp"] = timestamp(Instant(asked + grace * SECOND))
    metadata["deletionGracePeriodSeconds"] = grace
    generation = metadata.get("generation")
    if isinstance(generation, int):
        metadata["generation"] = generation + 1
    if route.kind is NAMESPACES:
        found["status"] = {**mapping(found, "status"), "phase": "Terminating"}


def _asked(metadata: Object, now: Instant) -> Instant:
    """Return when the deletion was asked for first; a shorter grace period counts from then."""
    before = instant_of(text(metadata, "deletionTimestamp"))
    grace = whole(metadata, "deletionGracePeriodSeconds")
    return now if before is None or grace is None else Instant(before - grace * SECOND)


def deletion_answer(route: Route, written: Written) -> Object:
    """Return the answer: what stays and every pod is shown, of the rest only what it was."""
    metadata = mapping(written.object, "metadata")
    if route.kind is PODS or not written.removed:
        return written.object
    return success(route.kind, text(metadata, "name"), uid=text(metadata, "uid"))


@dataclass(frozen=True, slots=True)
class NamespaceEmptied:
    """What the deletion of a namespace does.

    Attributes:
        objects: What becomes of each object in it, in their order.
        namespace: The namespace once that is done: `removed` when nothing is left in it.
    """

    objects: tuple[tuple[Route, Written], ...]
    namespace: Written


def namespace_emptied(
    namespace: Object, contents: Iterable[tuple[Route, Object]], fresh: Fresh
) -> NamespaceEmptied:
    """Delete what is in a namespace that is being deleted.

    To be called when it is deleted, and again whenever an object has gone from it.

    Args:
        namespace: As it is stored, marked.
        contents: The objects in it.
        fresh: The time.
    """
    objects = tuple(
        (route, deleted(route, found, DeleteOptions(), fresh)) for route, found in contents
    )
    if not all(written.removed for _, written in objects):
        return NamespaceEmptied(objects, Written(namespace, changed=False))
    spec = dict(mapping(namespace, "spec"))
    spec["finalizers"] = [one for one in texts(spec, "finalizers") if one != FINALIZER]
    result = {**namespace, "spec": spec}
    route = Route(NAMESPACES, name=text(namespace, "metadata", "name"))
    return NamespaceEmptied(objects, Written(result, removed=is_finished(route, result)))


def check_namespace(route: Route, namespace: Object | None) -> None:
    """Check that something can be created in a namespace.

    Args:
        route: Where.
        namespace: The namespace as it is stored; None when there is none.

    Raises:
        StatusError: 404, there is no such namespace; 403, it is being deleted.
    """
    name = route.namespace
    if namespace is None:
        raise not_found(NAMESPACES, name)
    if text(namespace, "metadata", "deletionTimestamp"):
        why = f"unable to create new content in namespace {name} because it is being terminated"
        error = forbidden(route.kind, route.name, why)
        error.details["causes"] = [
            {
                "reason": "NamespaceTerminating",
                "message": f"namespace {name} is being terminated",
                "field": "metadata.namespace",
            }
        ]
        raise error
