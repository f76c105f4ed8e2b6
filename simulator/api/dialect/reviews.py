"""Questions about the caller: `kubectl auth can-i` and `kubectl auth whoami`."""

from __future__ import annotations

from typing import Final

from simulator.api.dialect.authorization import Identity, may
from simulator.api.dialect.documents import Json, Object, mapping, text, timestamp
from simulator.api.dialect.kinds import (
    EVERYTHING,
    KINDS,
    SELF_SUBJECT_ACCESS_REVIEWS,
    SELF_SUBJECT_REVIEWS,
    SELF_SUBJECT_RULES_REVIEWS,
    Kind,
)
from simulator.api.dialect.metadata import Fresh
from simulator.api.dialect.routes import Route

_OPEN_PATHS: Final = ("/api", "/apis", "/healthz", "/livez", "/openapi", "/readyz", "/version")


def reviewed(kind: Kind, identity: Identity, body: Object, fresh: Fresh) -> Object:
    """Answer a question.

    Args:
        kind: One of the kinds of questions.
        identity: Who asks.
        body: What.
        fresh: The time.
    """
    answer: Object = {
        "kind": kind.kind,
        "apiVersion": kind.api_version,
        "metadata": {"creationTimestamp": timestamp(fresh.now)},
    }
    if "spec" in body:
        answer["spec"] = body["spec"]
    return answer | {"status": _STATUSES[kind](identity, mapping(body, "spec"))}


def _access(identity: Identity, spec: Object) -> Object:
    path = mapping(spec, "nonResourceAttributes")
    if path:
        is_open = text(path, "path").startswith(_OPEN_PATHS)
        allowed = identity.is_master or (text(path, "verb") in {"get", "*"} and is_open)
        return {"allowed": allowed}
    asked = mapping(spec, "resourceAttributes")
    plural, _, below = text(asked, "resource").partition("/")
    group, verb = text(asked, "group"), text(asked, "verb")
    if identity.is_master:
        return {"allowed": True}
    subresource = text(asked, "subresource") or below
    found = [one for one in KINDS if one.plural == plural and one.group == group]
    verbs = EVERYTHING if verb == "*" else (verb,)
    allowed = bool(found) and all(
        may(identity, one, Route(kind, text(asked, "namespace"), text(asked, "name"), subresource))
        for kind in found
        for one in verbs
    )
    return {"allowed": allowed}


def _rules(identity: Identity, spec: Object) -> Object:
    del spec
    if identity.is_master:
        every: Json = ["*"]
        resources: list[Json] = [{"verbs": every, "apiGroups": every, "resources": every}]
        paths: list[Json] = [{"verbs": every, "nonResourceURLs": every}]
    else:
        resources = [rule for kind in KINDS for rule in _rules_of(identity, kind)]
        paths = [{"verbs": ["get"], "nonResourceURLs": [*_OPEN_PATHS]}]
    return {"resourceRules": resources, "nonResourceRules": paths, "incomplete": False}


def _rules_of(identity: Identity, kind: Kind) -> list[Json]:
    rules: list[Json] = []
    parts = [("", kind.verbs), *((one.name, one.verbs) for one in kind.subresources)]
    for name, verbs in parts:
        route = Route(kind, subresource=name)
        allowed: list[Json] = [verb for verb in verbs if may(identity, verb, route)]
        if allowed:
            resource = f"{kind.plural}/{name}" if name else kind.plural
            rules.append({"verbs": allowed, "apiGroups": [kind.group], "resources": [resource]})
    return rules


def _who(identity: Identity, spec: Object) -> Object:
    del spec
    return {"userInfo": {"username": identity.name, "groups": [*identity.groups]}}


_STATUSES: Final = {
    SELF_SUBJECT_ACCESS_REVIEWS: _access,
    SELF_SUBJECT_RULES_REVIEWS: _rules,
    SELF_SUBJECT_REVIEWS: _who,
}
