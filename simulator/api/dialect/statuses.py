"""Refusals as `Status` objects, with the texts of Kubernetes (apimachinery/pkg/api/errors)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from simulator.api.dialect.documents import Json, Object
from simulator.api.dialect.kinds import Kind
from simulator.core.preconditions import (
    MODIFIED,
    already_exists_text,
    conflict_text,
    not_found_text,
)
from simulator.errors import ApiError


class StatusError(ApiError):
    """A request is refused.

    Attributes:
        code: The HTTP status.
        reason: Kubernetes' word for it, such as `NotFound`.
        details: `name`, `group`, `kind` (the plural), `uid`, `causes`, `retryAfterSeconds`.
        headers: Further headers of the answer.
    """

    def __init__(
        self,
        code: int,
        reason: str,
        message: str,
        details: Object | None = None,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message
        self.details: Object = details or {}
        self.headers = dict(headers or {})

    def status(self) -> Object:
        """Return the answer's body."""
        status: Object = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
            "reason": self.reason,
            "code": self.code,
        }
        if self.details:
            status["details"] = dict(self.details)
        return status


class PathNotFoundError(ApiError):
    """404 page not found."""


@dataclass(frozen=True, slots=True)
class Cause:
    """One fault of an object.

    Attributes:
        field: Where, such as `spec.containers[0].name`.
        reason: `FieldValueRequired`, `FieldValueInvalid`, ….
        message: What stands behind `field: ` in the message.
    """

    field: str
    reason: str
    message: str


def required(field: str, why: str = "") -> Cause:
    """Return the fault of a field that is missing."""
    return Cause(field, "FieldValueRequired", "Required value" + (f": {why}" if why else ""))


def invalid_value(field: str, value: Json, why: str) -> Cause:
    """Return the fault of a field with a value that may not be."""
    return Cause(field, "FieldValueInvalid", f"Invalid value: {shown(value)}: {why}")


def duplicate(field: str, value: Json) -> Cause:
    """Return the fault of a second element with the same key."""
    return Cause(field, "FieldValueDuplicate", f"Duplicate value: {shown(value)}")


def unsupported(field: str, value: Json, allowed: Sequence[str]) -> Cause:
    """Return the fault of a value that is none of those there are."""
    values = ", ".join(f'"{one}"' for one in sorted(allowed))
    message = f"Unsupported value: {shown(value)}: supported values: {values}"
    return Cause(field, "FieldValueNotSupported", message)


def forbidden_field(field: str, why: str) -> Cause:
    """Return the fault of a field that may not be set, or not changed."""
    return Cause(field, "FieldValueForbidden", f"Forbidden: {why}")


def shown(value: Json) -> str:
    """Return a value as it is quoted in a message."""
    return json.dumps(value, ensure_ascii=False)


def _details(kind: Kind | None, name: str) -> Object:
    if kind is None:
        return {"name": name} if name else {}
    details: Object = {"name": name} if name else {}
    if kind.group:
        details["group"] = kind.group
    return details | {"kind": kind.plural}


def not_found(kind: Kind, name: str) -> StatusError:
    """Return 404: there is no such object."""
    message = not_found_text(kind.resource, name)
    return StatusError(404, "NotFound", message, _details(kind, name))


def already_exists(kind: Kind, name: str) -> StatusError:
    """Return 409: there is such an object already."""
    message = already_exists_text(kind.resource, name)
    return StatusError(409, "AlreadyExists", message, _details(kind, name))


def conflict(kind: Kind, name: str, why: str = MODIFIED, *, subresource: str = "") -> StatusError:
    """Return 409: the object is not what the request takes it for."""
    resource = f"{kind.resource}/{subresource}" if subresource else kind.resource
    message = conflict_text(resource, name, why)
    return StatusError(409, "Conflict", message, _details(kind, name))


def expired(message: str) -> StatusError:
    """Return 410: a revision is no longer kept."""
    return StatusError(410, "Expired", message)


def too_old(asked: int, oldest: int) -> StatusError:
    """Return 410 of a watch or list from a revision before the oldest one kept."""
    return expired(f"too old resource version: {asked} ({oldest})")


def bad_request(message: str) -> StatusError:
    """Return 400: the request cannot be understood."""
    return StatusError(400, "BadRequest", message)


def invalid(kind: Kind, name: str, causes: Sequence[Cause]) -> StatusError:
    """Return 422: the object has faults."""
    texts = [f"{cause.field}: {cause.message}" for cause in causes]
    listed = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    qualified = f"{kind.kind}.{kind.group}" if kind.group else kind.kind
    details: Object = {"name": name} if name else {}
    if kind.group:
        details["group"] = kind.group
    details["kind"] = kind.kind
    details["causes"] = [
        {"reason": cause.reason, "message": cause.message, "field": cause.field} for cause in causes
    ]
    message = f'{qualified} "{name}" is invalid: {listed}'
    return StatusError(422, "Invalid", message, details)


def invalid_patch(patch: str, why: str) -> StatusError:
    """Return 422: what a patch makes of the object is no such object."""
    message = f"Invalid value: {shown(patch)}: {why}"
    causes: Json = [{"reason": "FieldValueInvalid", "message": message, "field": "patch"}]
    return StatusError(422, "Invalid", f' "" is invalid: patch: {message}', {"causes": causes})


def unsupported_media_type(accepted: Sequence[str]) -> StatusError:
    """Return 415: the body has another type than those that are read."""
    listed = ", ".join(accepted)
    message = (
        f"the body of the request was in an unknown format - accepted media types include: {listed}"
    )
    return StatusError(415, "UnsupportedMediaType", message)


def not_acceptable(accepted: Sequence[str]) -> StatusError:
    """Return 406: no type that the client takes is written."""
    message = f"only the following media types are accepted: {', '.join(accepted)}"
    return StatusError(406, "NotAcceptable", message)


def method_not_allowed(allowed: Sequence[str] = ()) -> StatusError:
    """Return 405: the path knows other methods.

    Args:
        allowed: The methods for the `Allow` header.
    """
    message = "the server does not allow this method on the requested resource"
    headers = {"Allow": ", ".join(allowed)} if allowed else None
    return StatusError(405, "MethodNotAllowed", message, headers=headers)


def not_served(kind: Kind, name: str, what: str, why: str) -> StatusError:
    """Return 405 of something that Kubernetes does with an object, and this server does not.

    A code from 500 on would be taken for a fault that passes: `kubectl logs -f` of 1.36 asks again
    every second for ever (api-facts 2).
    """
    message = f'{kind.resource} "{name}": {what} is not served here: {why}'
    return StatusError(405, "MethodNotAllowed", message, _details(kind, name))


def unauthorized() -> StatusError:
    """Return 401: who asks is not known."""
    headers = {"WWW-Authenticate": "Bearer"}
    return StatusError(401, "Unauthorized", "Unauthorized", headers=headers)


def forbidden(kind: Kind, name: str, why: str) -> StatusError:
    """Return 403 of a request for a resource."""
    named = f'{kind.resource} "{name}"' if name else kind.resource
    return StatusError(403, "Forbidden", f"{named} is forbidden: {why}", _details(kind, name))


def too_large(limit: int) -> StatusError:
    """Return 413: the body has more bytes than are read."""
    message = f"Request entity too large: limit is {limit}"
    return StatusError(413, "RequestEntityTooLarge", message)


def internal_error(why: str) -> StatusError:
    """Return 500: something in the server is not as it must be."""
    return StatusError(500, "InternalError", f"Internal error occurred: {why}")


def unavailable(why: str, *, retry_seconds: int = 1) -> StatusError:
    """Return 503: the request may be repeated later."""
    details: Object = {"retryAfterSeconds": retry_seconds}
    headers = {"Retry-After": str(retry_seconds)}
    return StatusError(503, "ServiceUnavailable", why, details, headers=headers)


def success(kind: Kind | None = None, name: str = "", *, uid: str = "", code: int = 0) -> Object:
    """Return the `Status` of something done, for answers that show no object."""
    status: Object = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
    }
    details = _details(kind, name)
    if uid:
        details["uid"] = uid
    if details:
        status["details"] = details
    if code:
        status["code"] = code
    return status
