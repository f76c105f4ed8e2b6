"""The query of a request: options of lists, watches and writes (metav1.ListOptions and others)."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final

from simulator.api.dialect.kinds import Kind
from simulator.api.dialect.statuses import (
    Cause,
    StatusError,
    bad_request,
    forbidden_field,
    invalid,
    invalid_value,
    required,
    unsupported,
)

EXACT: Final = "Exact"
NOT_OLDER_THAN: Final = "NotOlderThan"
_INCLUDES: Final = ("None", "Metadata", "Object")
_MANAGER_MAX: Final = 128
_INT64_MAX: Final = (1 << 63) - 1
_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,19}", re.ASCII)
_META: Final = "meta.k8s.io"
_TOKEN_VERSION: Final = "meta.k8s.io/v1"  # noqa: S105 - no password: the version of continue tokens


class Validation(Enum):
    """What is done about fields that an object cannot have (`fieldValidation`)."""

    STRICT = "Strict"
    WARN = "Warn"
    IGNORE = "Ignore"


@dataclass(frozen=True, slots=True)
class Continue:
    """Where the next page of a list begins.

    Attributes:
        revision: That of the first page: all pages show the same moment.
        after: The key of the last object that was shown.
    """

    revision: int
    after: str

    def encode(self) -> str:
        """Return the token."""
        content = {"v": _TOKEN_VERSION, "rv": self.revision, "start": self.after}
        raw = json.dumps(content, separators=(",", ":")).encode()
        return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def read_continue(token: str) -> Continue:
    """Read a token that a list gave.

    Raises:
        StatusError: 400, it is none.
    """
    try:
        raw = base64.urlsafe_b64decode(token.encode() + b"=" * (-len(token) % 4))
        content = json.loads(raw)
    except (ValueError, binascii.Error, RecursionError) as cause:
        raise bad_request("continue key is not valid: it is no token of this server") from cause
    found = content if isinstance(content, dict) else {}
    revision, after = found.get("rv"), found.get("start")
    if found.get("v") != _TOKEN_VERSION or not isinstance(after, str):
        raise bad_request("continue key is not valid: unrecognized encoding version")
    if not isinstance(revision, int) or not 0 < revision <= _INT64_MAX:
        raise bad_request("continue key is not valid: incorrect encoded start resourceVersion")
    return Continue(revision, after)


@dataclass(frozen=True, slots=True)
class ListQuery:
    """What a list or watch asks for.

    Attributes:
        limit: Most objects of a page; 0 for all.
        start: Where the page begins; None at the beginning.
        revision: `resourceVersion`; None when it was not given.
        match: `Exact`, `NotOlderThan`, or empty.
        initial_events: `sendInitialEvents`: the state first, then a bookmark that says so.
        timeout_seconds: After which a watch ends; None when it was not given.
        include: What the rows of a Table carry: `None`, `Metadata` or `Object`.
    """

    limit: int = 0
    start: Continue | None = None
    labels: str = ""
    fields: str = ""
    watch: bool = False
    revision: int | None = None
    match: str = ""
    bookmarks: bool = False
    initial_events: bool = False
    timeout_seconds: int | None = None
    include: str = "Metadata"


@dataclass(frozen=True, slots=True)
class WriteQuery:
    """How a write is to be done.

    Attributes:
        dry_run: Answered as if it had been done.
        manager: `fieldManager`.
        force: Of a server-side apply: take over what others applied.
    """

    dry_run: bool = False
    validation: Validation = Validation.WARN
    manager: str = ""
    force: bool = False


def flag(pairs: Mapping[str, str], name: str) -> bool:
    """Read a boolean as Kubernetes does: only `0` and `false` are false when it is there."""
    value = pairs.get(name)
    return value is not None and value.lower() not in {"0", "false"}


def number(pairs: Mapping[str, str], name: str) -> int | None:
    """Read a whole number.

    Raises:
        StatusError: 400, it is none.
    """
    value = pairs.get(name)
    if value is None or not value:
        return None
    if _NUMBER.fullmatch(value) is None or abs(int(value)) > _INT64_MAX:
        raise bad_request(f'{name}: strconv.ParseInt: parsing "{value[:60]}": invalid syntax')
    return int(value)


def read_revision(text: str) -> int:
    """Read a resourceVersion that a client sent back.

    Raises:
        StatusError: 400, it is none of this server.
    """
    if not text.isascii() or not text.isdigit() or len(text) > len(str(_INT64_MAX)):
        why = f'strconv.ParseUint: parsing "{text[:60]}": invalid syntax'
        raise bad_request(f'resourceVersion: Invalid value: "{text[:60]}": {why}')
    return min(int(text), _INT64_MAX)


def read_list_query(pairs: Mapping[str, str]) -> ListQuery:
    """Read the query of a list or watch.

    Raises:
        StatusError: 400 or 422, options that are unknown or do not go together.
    """
    token, asked = pairs.get("continue", ""), pairs.get("resourceVersion", "")
    watch = flag(pairs, "watch")
    match = pairs.get("resourceVersionMatch", "")
    initial = pairs.get("sendInitialEvents")
    causes = _faults(match, asked=asked, token=token, watch=watch, initial=initial)
    if causes:
        raise _invalid_options("ListOptions", causes)
    if token and asked not in {"", "0"}:
        raise bad_request("specifying resource version is not allowed when using continue")
    include = pairs.get("includeObject") or "Metadata"
    if include not in _INCLUDES:
        fault = unsupported("includeObject", include, _INCLUDES)
        raise _invalid_options("TableOptions", [fault])
    return ListQuery(
        limit=max(0, number(pairs, "limit") or 0),
        start=read_continue(token) if token else None,
        labels=pairs.get("labelSelector", ""),
        fields=pairs.get("fieldSelector", ""),
        watch=watch,
        revision=read_revision(asked) if asked else None,
        match=match,
        bookmarks=flag(pairs, "allowWatchBookmarks"),
        initial_events=flag(pairs, "sendInitialEvents"),
        timeout_seconds=number(pairs, "timeoutSeconds"),
        include=include,
    )


def _faults(match: str, *, asked: str, token: str, watch: bool, initial: str | None) -> list[Cause]:
    """Return what is wrong about a match (apimachinery: ValidateListOptions)."""
    name = "resourceVersionMatch"
    needed = f"sendInitialEvents requires setting resourceVersionMatch to {NOT_OLDER_THAN}"
    of_watch = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"
    alone = "resourceVersionMatch is forbidden unless resourceVersion is provided"
    paged = "resourceVersionMatch is forbidden when continue is provided"
    of_zero = 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'
    no_list = "sendInitialEvents is forbidden for list"
    is_known = match in {"", EXACT, NOT_OLDER_THAN}
    rules = (
        (initial is not None and not watch, forbidden_field("sendInitialEvents", no_list)),
        (initial is not None and match != NOT_OLDER_THAN, forbidden_field(name, needed)),
        (watch and match and initial is None, forbidden_field(name, of_watch)),
        (not is_known, unsupported(name, match, (EXACT, NOT_OLDER_THAN))),
        (not watch and match and not asked, forbidden_field(name, alone)),
        (not watch and match and token, forbidden_field(name, paged)),
        (not watch and match == EXACT and asked == "0", forbidden_field(name, of_zero)),
    )
    return [cause for broken, cause in rules if broken][:1]


def read_write_query(pairs: Mapping[str, str], *, applies: bool = False) -> WriteQuery:
    """Read the query of a create, update, patch or delete.

    Args:
        pairs: The query, each name once.
        applies: Whether it is a server-side apply, which alone may `force` and needs a manager.

    Raises:
        StatusError: 422, options that are unknown or do not go together.
    """
    dry_run, manager = pairs.get("dryRun", ""), pairs.get("fieldManager", "")
    causes = []
    if dry_run not in {"", "All"}:
        causes.append(unsupported("dryRun", [dry_run], ("All",)))
    if len(manager) > _MANAGER_MAX or not manager.isprintable():
        why = "should only contain printable characters, at most 128"
        causes.append(invalid_value("fieldManager", manager[:60], why))
    asked = pairs.get("fieldValidation") or Validation.WARN.value
    known = {one.value: one for one in Validation}
    if asked not in known:
        causes.append(unsupported("fieldValidation", asked, tuple(known)))
    force = flag(pairs, "force")
    if applies and not manager:
        causes.append(required("fieldManager", "is required for apply patch"))
    if force and not applies:
        causes.append(forbidden_field("force", "may not be specified for non-apply patch"))
    if causes:
        raise _invalid_options("PatchOptions" if applies or force else "CreateOptions", causes)
    return WriteQuery(bool(dry_run), known[asked], manager, force)


def _invalid_options(kind: str, causes: list[Cause]) -> StatusError:
    return invalid(Kind(_META, "v1", kind, kind.lower()), "", causes)
