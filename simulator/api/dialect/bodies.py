"""What a request carries, from bytes to documents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from simulator.api.dialect.documents import (
    Json,
    Object,
    mapping,
    text,
    texts,
)
from simulator.api.dialect.json_texts import read_json, read_yaml
from simulator.api.dialect.patches import Patch, PatchType, patch_types
from simulator.api.dialect.protobuf_bodies import read_protobuf
from simulator.api.dialect.queries import Validation, flag, number
from simulator.api.dialect.routes import Route
from simulator.api.dialect.schemas.checking import MistypedError, decoded
from simulator.api.dialect.statuses import (
    StatusError,
    bad_request,
    invalid_value,
    too_large,
    unsupported,
    unsupported_media_type,
)

BODY_MAX: Final = 3 * 1024 * 1024
"""Most bytes of a body, as in Kubernetes."""
_JSON: Final = "application/json"
_YAML: Final = "application/yaml"
_PROTOBUF: Final = "application/vnd.kubernetes.protobuf"
_READ: Final = (_JSON, _YAML, _PROTOBUF)
_POLICIES: Final = ("Background", "Foreground", "Orphan")


@dataclass(frozen=True, slots=True)
class DeleteOptions:
    """How an object is to be deleted (metav1.DeleteOptions).

    Attributes:
        grace_seconds: None for what the object has itself.
        uid, resource_version: Of the object that is meant; empty for any.
    """

    grace_seconds: int | None = None
    uid: str = ""
    resource_version: str = ""
    propagation: str = "Background"
    dry_run: bool = False


def read_object(
    route: Route, content_type: str, data: bytes, validation: Validation = Validation.WARN
) -> Object:
    """Read the body of a create or update.

    Args:
        route: What it is for; its kind is filled in where the body names none.
        content_type: The header; none means JSON (api-facts 3).
        data: The body.
        validation: Whether a key that stands twice is an error.

    Raises:
        StatusError: 400, 413 or 415.
    """
    media = content_type
    if media not in _READ:
        media = content_type.partition(";")[0].strip().lower() or _JSON
    wanted, version = _expected(route)
    if media not in _READ:
        raise unsupported_media_type(_READ)
    if media == _PROTOBUF:
        _check_size(data)
        body: Json = read_protobuf(data)
        if body is None:
            raise unsupported_media_type((_JSON, _YAML))
    else:
        body = _document(data, media, wanted, strict=validation is Validation.STRICT)
    if not isinstance(body, dict):
        raise bad_request(_unrecognized(wanted, "the body is no object"))
    kind, api_version = body.get("kind") or wanted, body.get("apiVersion") or version
    if kind != wanted or api_version != version:
        raise bad_request(_other_kind(str(kind), str(api_version), wanted, version))
    return {**body, "kind": wanted, "apiVersion": version}


def _expected(route: Route) -> tuple[str, str]:
    """Return the kind and apiVersion of the body that a route takes."""
    found = route.kind.subresource(route.subresource) if route.subresource else None
    if found is None:
        return route.kind.kind, route.kind.api_version
    return found.kind, f"{found.group}/{found.version}" if found.group else found.version


def _other_kind(kind: str, api_version: str, wanted: str, version: str) -> str:
    if kind == wanted:
        return (
            f"the API version in the data ({api_version}) does not match the expected API version "
            f"({version})"
        )
    short = version.rpartition("/")[2]
    return (
        f'{kind[:60]} in version "{short}" cannot be handled as a {wanted}: converting '
        f"({api_version[:60]}.{kind[:60]}) to ({version}.{wanted}): unknown conversion"
    )


def _unrecognized(wanted: str, why: str) -> str:
    start = f"the object provided is unrecognized (must be of type {wanted})"
    return f"{start}: couldn't get version/kind; json parse error: {why}"


def _check_size(data: bytes) -> None:
    if len(data) > BODY_MAX:
        raise too_large(BODY_MAX)


def _document(data: bytes, media: str, wanted: str, *, strict: bool) -> Json:
    _check_size(data)
    twice: list[str] = []
    try:
        found = read_yaml(data) if media == _YAML else read_json(data, twice if strict else None)
    except ValueError as cause:
        why = " ".join(str(cause).split())[:200]
        raise bad_request(_unrecognized(wanted, why)) from cause
    if twice:
        faults = ", ".join(f'duplicate field "{name}"' for name in twice)
        raise bad_request(
            f'{wanted} in version "v1" cannot be handled as a {wanted}: strict decoding error: '
            f"{faults}"
        )
    return found


def read_patch(route: Route, content_type: str, data: bytes) -> Patch:
    """Read a patch.

    Raises:
        StatusError: 400, 413, or 415 with the types that the kind takes.
    """
    media = content_type.partition(";")[0].strip().lower()
    types = patch_types(route.kind)
    kind = next((one for one in types if one.value == media), None)
    if kind is None:
        raise unsupported_media_type([one.value for one in types])
    read_as = _YAML if kind is PatchType.APPLY else _JSON
    try:
        content = _document(data, read_as, route.kind.kind, strict=False)
    except StatusError as cause:
        if cause.reason != "BadRequest":
            raise
        why = cause.message.rpartition("error: ")[2]
        form = "YAML" if kind is PatchType.APPLY else "patch"
        raise bad_request(f"error decoding {form}: {why}") from cause
    if kind is PatchType.APPLY:
        _check_applied(route, content)
    return Patch(kind, content)


def _check_applied(route: Route, content: Json) -> None:
    kind = route.kind
    if not isinstance(content, dict):
        raise bad_request("error decoding YAML: the applied configuration is no object")
    if content.get("kind") != kind.kind or content.get("apiVersion") != kind.api_version:
        raise bad_request(
            f"invalid object type: {content.get('apiVersion')}, Kind={content.get('kind')}; "
            f"expected {kind.api_version}, Kind={kind.kind}"
        )


def read_delete_options(content_type: str, data: bytes, pairs: Mapping[str, str]) -> DeleteOptions:
    """Read how an object is to be deleted, from the body or, without one, from the query.

    Raises:
        StatusError: 400, 413, 415 or 422.
    """
    body: Object = {}
    if data:
        media = content_type.partition(";")[0].strip().lower() or _JSON
        if media not in _READ:
            raise unsupported_media_type(_READ)
        found = (
            read_protobuf(data)
            if media == _PROTOBUF
            else _document(data, media, "DeleteOptions", strict=False)
        )
        body = found if isinstance(found, dict) else {}
    if not body:
        grace = number(pairs, "gracePeriodSeconds")
        if grace is not None:
            body["gracePeriodSeconds"] = grace
        if policy := pairs.get("propagationPolicy"):
            body["propagationPolicy"] = policy
    if flag(pairs, "dryRun"):
        body["dryRun"] = [pairs["dryRun"]]
    return delete_options(body)


def delete_options(body: Object) -> DeleteOptions:
    """Return options from their document.

    Raises:
        StatusError: 400 or 422.
    """
    try:
        options = decoded(body, "DeleteOptions").object
    except MistypedError as cause:
        raise bad_request(str(cause)) from cause
    policy = text(options, "propagationPolicy") or "Background"
    causes = []
    if policy not in _POLICIES:
        causes.append(unsupported("propagationPolicy", policy, _POLICIES))
    dry_run = texts(options, "dryRun")
    if any(one != "All" for one in dry_run):
        causes.append(invalid_value("dryRun", list(dry_run), "must be All"))
    if causes:
        first = causes[0]
        message = f'DeleteOptions.meta.k8s.io "" is invalid: {first.field}: {first.message}'
        raise StatusError(422, "Invalid", message)
    grace = options.get("gracePeriodSeconds")
    preconditions = mapping(options, "preconditions")
    return DeleteOptions(
        grace_seconds=grace if isinstance(grace, int) else None,
        uid=text(preconditions, "uid"),
        resource_version=text(preconditions, "resourceVersion"),
        propagation=policy,
        dry_run=bool(dry_run),
    )
