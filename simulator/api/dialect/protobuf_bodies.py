"""Bodies in protobuf, as new kubectl sends a few small ones and falls back to nothing else.

From 1.32 on `kubectl create namespace`, `auth can-i`, `auth whoami` and `drain` send protobuf
(api-facts 2). An envelope, a magic number and a `runtime.Unknown`, holds the kind and the
message. The field numbers are those of the `generated.proto` files of Kubernetes' API.
"""

from __future__ import annotations

from typing import Final

from simulator.api.dialect.documents import Json, Object
from simulator.api.dialect.statuses import bad_request
from simulator.core.protobuf_wire import BYTES, VARINT, fields
from simulator.errors import MalformedReplyError

MAGIC: Final = b"k8s\x00"
_DEPTH_MAX: Final = 8

_META: Final = {
    1: ("name", ""),
    2: ("generateName", ""),
    3: ("namespace", ""),
    5: ("uid", ""),
    6: ("resourceVersion", ""),
    11: ("labels", "map"),
    12: ("annotations", "map"),
}
_MESSAGES: Final[dict[str, dict[int, tuple[str, str]]]] = {
    "ObjectMeta": _META,
    "Namespace": {1: ("metadata", "ObjectMeta")},
    "SelfSubjectAccessReview": {1: ("metadata", "ObjectMeta"), 2: ("spec", "AccessSpec")},
    "AccessSpec": {
        1: ("resourceAttributes", "ResourceAttributes"),
        2: ("nonResourceAttributes", "NonResourceAttributes"),
    },
    "ResourceAttributes": {
        1: ("namespace", ""),
        2: ("verb", ""),
        3: ("group", ""),
        4: ("version", ""),
        5: ("resource", ""),
        6: ("subresource", ""),
        7: ("name", ""),
    },
    "NonResourceAttributes": {1: ("path", ""), 2: ("verb", "")},
    "SelfSubjectRulesReview": {1: ("metadata", "ObjectMeta"), 2: ("spec", "RulesSpec")},
    "RulesSpec": {1: ("namespace", "")},
    "SelfSubjectReview": {1: ("metadata", "ObjectMeta")},
    "Eviction": {1: ("metadata", "ObjectMeta"), 2: ("deleteOptions", "DeleteOptions")},
    "DeleteOptions": {
        1: ("gracePeriodSeconds", "int"),
        2: ("preconditions", "Preconditions"),
        4: ("propagationPolicy", ""),
        5: ("dryRun", "texts"),
    },
    "Preconditions": {1: ("uid", ""), 2: ("resourceVersion", "")},
}
_ENVELOPE: Final = {1: BYTES, 2: BYTES}
_TEXTS: Final = {1: BYTES, 2: BYTES}


def read_protobuf(data: bytes) -> Object | None:
    """Read a body; None when its kind is not one of those that are read.

    Raises:
        StatusError: 400, it is no such envelope or message.
    """
    if not data.startswith(MAGIC):
        raise bad_request("provided data does not appear to be a protobuf message, expected prefix")
    try:
        parts = _parts(data, len(MAGIC), len(data))
        api_version, kind = _strings(parts.get(1, b""))
        if kind not in _MESSAGES:
            return None
        body = _message(parts.get(2, b""), kind, 0)
    except (MalformedReplyError, UnicodeDecodeError) as cause:
        raise bad_request(f"the protobuf message cannot be read: {cause}") from cause
    return {"apiVersion": api_version, "kind": kind, **body}


def _parts(data: bytes, at: int, end: int) -> dict[int, bytes]:
    found = fields(data, at, end, _ENVELOPE, lenient=True)
    return {number: data[start:stop] for number, start, stop in found}


def _strings(data: bytes) -> tuple[str, str]:
    found = {
        number: data[start:stop].decode()
        for number, start, stop in fields(data, 0, len(data), _TEXTS, lenient=True)
    }
    return found.get(1, ""), found.get(2, "")


def _message(data: bytes, name: str, depth: int) -> Object:
    if depth > _DEPTH_MAX:
        raise bad_request("the protobuf message is nested too deeply")
    known = _MESSAGES[name]
    wires = {number: VARINT if kind == "int" else BYTES for number, (_, kind) in known.items()}
    body: Object = {}
    for number, start, stop in fields(data, 0, len(data), wires, lenient=True):
        key, kind = known[number]
        if kind == "int":
            body[key] = start if start < 1 << 63 else start - (1 << 64)
        elif kind == "map":
            entries = body.setdefault(key, {})
            label, value = _strings(data[start:stop])
            if isinstance(entries, dict):
                entries[label] = value
        elif kind == "texts":
            listed = body.setdefault(key, [])
            if isinstance(listed, list):
                listed.append(data[start:stop].decode())
        else:
            value_of: Json = (
                _message(data[start:stop], kind, depth + 1) if kind else data[start:stop].decode()
            )
            if value_of != "":
                body[key] = value_of
    return body
