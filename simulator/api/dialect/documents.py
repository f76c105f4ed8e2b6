"""JSON documents and how they are looked into: what is missing or mistyped reads as empty."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final, TypeAlias

from simulator.core.instants import SECOND, Instant

Json: TypeAlias = "str | int | float | bool | list[Json] | dict[str, Json] | None"
Object: TypeAlias = "dict[str, Json]"
_SECONDS_KEPT: Final = 64


def value(parent: Object, *path: str) -> Json:
    """Return what stands at a path; None when nothing does."""
    found: Json = parent
    for key in path:
        if not isinstance(found, dict):
            return None
        found = found.get(key)
    return found


DEPTH_MAX: Final = 128
"""Most objects and lists that stand in each other; what is deeper is refused."""


def is_too_deep(document: Json) -> bool:
    """Tell whether a document is nested so deeply that walking over it could fail."""
    level: list[Json] = [document]
    for _ in range(DEPTH_MAX + 1):
        below: list[Json] = []
        for each in level:
            if isinstance(each, dict):
                below += each.values()
            elif isinstance(each, list):
                below += each
        if not below:
            return False
        level = below
    return True


def mapping(parent: Object, *path: str) -> Object:
    """Return the object at a path; an empty one that is not part of `parent` when there is none."""
    found = parent.get(path[0]) if len(path) == 1 else value(parent, *path)
    return found if isinstance(found, dict) else {}


def text(parent: Object, key: str, *path: str) -> str:
    """Return the string at a path, or an empty one."""
    # As `value`, without a call of it: every request asks for twenty of these, as below.
    found = parent.get(key)
    for below in path:
        if not isinstance(found, dict):
            return ""
        found = found.get(below)
    return found if isinstance(found, str) else ""


def whole(parent: Object, *path: str) -> int | None:
    """Return the whole number at a path, or None."""
    found = value(parent, *path)
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def items(parent: Object, key: str, *path: str) -> list[Object]:
    """Return the objects in the list at a path."""
    found = value(parent, key, *path) if path else parent.get(key)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def texts(parent: Object, key: str, *path: str) -> list[str]:
    """Return the strings in the list at a path."""
    found = value(parent, key, *path) if path else parent.get(key)
    return [one for one in found if isinstance(one, str)] if isinstance(found, list) else []


def part(parent: Object, key: str) -> Object:
    """Return the object at a key of `parent`, made there when there is none."""
    found = parent.get(key)
    if not isinstance(found, dict):
        found = parent[key] = {}
    return found


CONTAINER_FIELDS: Final = ("initContainers", "containers")
"""The containers of a pod's spec, in the order of admission (S3.1)."""


def containers_of(pod: Object) -> Iterator[Object]:
    """Iterate over a pod's containers in the order of admission: init containers first (S3.1)."""
    spec = mapping(pod, "spec")
    for field in CONTAINER_FIELDS:
        yield from items(spec, field)


def timestamp(at: Instant) -> str:
    """Return an instant in RFC 3339, to the second, as metav1.Time is written."""
    return _second(at // SECOND)


@lru_cache(maxsize=_SECONDS_KEPT)
def _second(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def micro_timestamp(at: Instant) -> str:
    """Return an instant in RFC 3339, to the microsecond, as metav1.MicroTime is written."""
    return f"{timestamp(at)[:-1]}.{at % SECOND // 1_000:06d}Z"


def instant_of(value: str) -> Instant | None:
    """Read a metav1.Time or MicroTime; None when it is neither."""
    try:
        read = datetime.fromisoformat(value)
    except ValueError:
        return None
    if read.tzinfo is None:
        return None
    return Instant(round(read.timestamp() * 1_000_000) * 1_000)
