"""`metadata`: what the server sets, what a client may, and what never changes.

Kubernetes: rest.BeforeCreate, rest.BeforeUpdate (apiserver) and ValidateObjectMeta (apimachinery).
`managedFields` are not kept; who owns which field is not recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from simulator.api.dialect import names
from simulator.api.dialect.documents import (
    Json,
    Object,
    items,
    mapping,
    part,
    text,
    texts,
    timestamp,
)
from simulator.api.dialect.kinds import DEVICE_BINDINGS, NAMESPACES, PODS, Kind
from simulator.api.dialect.routes import Route
from simulator.api.dialect.statuses import (
    Cause,
    bad_request,
    conflict,
    duplicate,
    forbidden_field,
    invalid,
    invalid_value,
    required,
)
from simulator.core.instants import Instant
from simulator.core.preconditions import precondition_text

ANNOTATIONS_MAX: Final = 256 * 1024
"""Most bytes of all annotations together."""
_GENERATED_MAX: Final = 58
"""So much of `generateName` stays before the five letters that are added."""
_CHECKED: Final = frozenset({"labels", "annotations", "finalizers", "ownerReferences"})
_WITH_GENERATION: Final = frozenset({PODS, DEVICE_BINDINGS})
_SERVER_OWNED: Final = (
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "generation",
    "generateName",
)
_NOT_SENT: Final = frozenset(
    {"resourceVersion", "managedFields", "selfLink", *_SERVER_OWNED} - {"generateName"}
)
"""What an object that is created may say of itself, and does not keep."""


class Fresh(NamedTuple):
    """What a write takes from outside: the time and chance.

    Attributes:
        now: Of the write, since the epoch.
        uid: Of an object that is created.
        suffix: Five letters or digits for `generateName`.
    """

    now: Instant
    uid: str = ""
    suffix: str = ""


def new_metadata(route: Route, body: Object, fresh: Fresh) -> Object:
    """Return the metadata of a new object, not yet checked.

    Raises:
        StatusError: 400, it contradicts the path, or has a resourceVersion.
    """
    given = {**mapping(body, "metadata")}
    if not _NOT_SENT.isdisjoint(given):
        if text(given, "resourceVersion") not in {"", "0"}:
            raise bad_request("resourceVersion should not be set on objects to be created")
        given = {key: value for key, value in given.items() if key not in _NOT_SENT}
    check_place(route, given)
    prefix = text(given, "generateName")
    if prefix and not text(given, "name"):
        given["name"] = f"{prefix[:_GENERATED_MAX]}{fresh.suffix}"
    if route.kind.namespaced:
        given["namespace"] = route.namespace
    given["uid"] = fresh.uid
    given["creationTimestamp"] = timestamp(fresh.now)
    if route.kind in _WITH_GENERATION:
        given["generation"] = 1
    return given


def check_place(route: Route, metadata: Object) -> None:
    """Check that an object is where its path says.

    Raises:
        StatusError: 400, it is not.
    """
    namespace = text(metadata, "namespace")
    if namespace and namespace != route.namespace:
        raise bad_request(
            "the namespace of the provided object does not match the namespace sent on the request"
        )
    name = text(metadata, "name")
    if route.name and name and name != route.name:
        raise bad_request(
            f"the name of the object ({name}) does not match the name on the URL ({route.name})"
        )


def next_metadata(route: Route, current: Object, body: Object, *, needs_revision: bool) -> Object:
    """Return the metadata that an update leaves: the server's part stays as it is.

    Args:
        route: The object's.
        current: The object as it is stored.
        body: As it is to be.
        needs_revision: Whether an update must say which revision it is based on.

    Raises:
        StatusError: 400; 409, it is based on another revision or means another object.
    """
    now, given = mapping(current, "metadata"), mapping(body, "metadata")
    check_place(route, given)
    check_identity(route, current, text(given, "uid"))
    revision = text(given, "resourceVersion")
    if revision not in {"", "0", text(now, "resourceVersion")}:
        raise conflict(route.kind, route.name)
    if not revision and needs_revision:
        fault = invalid_value("metadata.resourceVersion", 0, "must be specified for an update")
        raise invalid(route.kind, route.name, [fault])
    result = dict(given)
    for key in ("resourceVersion", "namespace", "name", *_SERVER_OWNED):
        result.pop(key, None)
        if key in now:
            result[key] = now[key]
    for key in ("managedFields", "selfLink"):
        result.pop(key, None)
    return {key: result[key] for key in sorted(result)}


def check_identity(route: Route, current: Object, uid: str, revision: str = "") -> None:
    """Check that the stored object is the one that is meant.

    Args:
        route: The object's.
        current: The object as it is stored.
        uid: Of the one that is meant; empty for any.
        revision: Of the one that is meant; empty for any.

    Raises:
        StatusError: 409; a cause names the field `uid` when it is another object.
    """
    now = mapping(current, "metadata")
    for field, word, wanted in (
        ("uid", "UID", uid),
        ("resourceVersion", "ResourceVersion", revision),
    ):
        found = text(now, field)
        if wanted and wanted != found:
            why = precondition_text(word, required=wanted, found=found)
            error = conflict(route.kind, route.name, f"Precondition failed: {why}")
            error.details["causes"] = [
                {"reason": "FieldValueInvalid", "message": why, "field": f"metadata.{field}"}
            ]
            raise error


def metadata_faults(kind: Kind, metadata: Object) -> Iterator[Cause]:
    """Iterate over what is wrong about an object's metadata."""
    name = text(metadata, "name")
    rule: Callable[[str], tuple[str, ...]] = (
        names.label_faults if kind is NAMESPACES else names.subdomain_faults
    )
    if not name:
        yield required("metadata.name", "name or generateName is required")
    else:
        for fault in rule(name):
            yield invalid_value("metadata.name", name, fault)
    if kind.namespaced:
        namespace = text(metadata, "namespace")
        for fault in names.label_faults(namespace):
            yield invalid_value("metadata.namespace", namespace, fault)
    if not metadata.keys().isdisjoint(_CHECKED):
        yield from _label_faults(mapping(metadata, "labels"))
        yield from _annotation_faults(mapping(metadata, "annotations"))
        for finalizer in texts(metadata, "finalizers"):
            for fault in names.qualified_faults(finalizer):
                yield invalid_value("metadata.finalizers", finalizer, fault)
        yield from _owner_faults(items(metadata, "ownerReferences"))


def _label_faults(labels: Object) -> Iterator[Cause]:
    for key, value in labels.items():
        for fault in names.qualified_faults(key):
            yield invalid_value("metadata.labels", key, fault)
        for fault in names.label_value_faults(value if isinstance(value, str) else ""):
            yield invalid_value("metadata.labels", value, fault)


def _annotation_faults(annotations: Object) -> Iterator[Cause]:
    size = 0
    for key, value in annotations.items():
        for fault in names.qualified_faults(key.lower()):
            yield invalid_value("metadata.annotations", key, fault)
        size += len(key.encode()) + len(value.encode() if isinstance(value, str) else b"")
    if size > ANNOTATIONS_MAX:
        why = f"Too long: may not be more than {ANNOTATIONS_MAX} bytes"
        yield Cause("metadata.annotations", "FieldValueTooLong", why)


def _owner_faults(owners: list[Object]) -> Iterator[Cause]:
    controllers = 0
    for index, owner in enumerate(owners):
        for key in ("apiVersion", "kind", "name", "uid"):
            if not text(owner, key):
                yield required(f"metadata.ownerReferences[{index}].{key}", "must not be empty")
        controllers += owner.get("controller") is True
    if controllers > 1:
        why = "Only one reference can have Controller set to true"
        yield invalid_value("metadata.ownerReferences", "", why)


def finalizer_faults(current: Object, metadata: Object) -> Iterator[Cause]:
    """Iterate over what is wrong about the finalizers of an object that is updated."""
    before, after = texts(current, "metadata", "finalizers"), texts(metadata, "finalizers")
    known, seen = set(before), set[str]()
    added = [one for one in after if one not in known]
    if added and text(current, "metadata", "deletionTimestamp"):
        listed = ", ".join(f'"{one}"' for one in added)
        why = (
            "no new finalizers can be added if the object is being deleted, found new finalizers "
            f"[]string{{{listed}}}"
        )
        yield forbidden_field("metadata.finalizers", why)
    for index, one in enumerate(after):
        if one in seen:
            yield duplicate(f"metadata.finalizers[{index}]", one)
        seen.add(one)


def raise_generation(kind: Kind, current: Object, after: Object) -> None:
    """Count a change of what is wanted, of the kinds that have a generation."""
    if kind not in _WITH_GENERATION:
        return
    ignored = {"metadata", "status"}
    before = {key: value for key, value in current.items() if key not in ignored}
    wanted: dict[str, Json] = {key: value for key, value in after.items() if key not in ignored}
    if before != wanted:
        generation = mapping(current, "metadata").get("generation")
        part(after, "metadata")["generation"] = generation + 1 if isinstance(generation, int) else 1
