"""Which objects a list or watch is about: label and field selectors, read once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from simulator.api.dialect.documents import Json, Object, mapping
from simulator.api.dialect.kinds import (
    DEVICE_BINDINGS,
    EVENTS,
    NAMESPACES,
    NODES,
    PODS,
    Kind,
)
from simulator.api.dialect.label_selectors import LabelSelector, parse_labels
from simulator.api.dialect.statuses import bad_request

_NAME: Final = "metadata.name"
_NAMESPACE: Final = "metadata.namespace"
_NODE: Final = "spec.nodeName"
_INVOLVED: Final = (
    "apiVersion",
    "fieldPath",
    "kind",
    "name",
    "namespace",
    "resourceVersion",
    "uid",
)
_FIELDS: Final[Mapping[Kind, tuple[str, ...]]] = {
    PODS: (
        _NODE,
        "spec.hostNetwork",
        "spec.restartPolicy",
        "spec.schedulerName",
        "spec.serviceAccountName",
        "status.nominatedNodeName",
        "status.phase",
        "status.podIP",
    ),
    NODES: ("spec.unschedulable",),
    NAMESPACES: ("status.phase",),
    EVENTS: (
        *(f"involvedObject.{key}" for key in _INVOLVED),
        "reason",
        "reportingComponent",
        "source",
        "type",
    ),
    DEVICE_BINDINGS: (_NODE, "spec.podUID"),
}
"""What kinds can be selected by, beside name and namespace."""
_FALSE_WHEN_ABSENT: Final = frozenset({"spec.hostNetwork", "spec.unschedulable"})
_SIGN: Final = re.compile(r"!=|==|=")
_ESCAPED: Final = re.compile(r"\\(.)", re.DOTALL)
_KEPT: Final = 1024
_KEPT_LENGTH: Final = 4096
"""Characters of the longest selectors that are kept."""


@dataclass(frozen=True, slots=True)
class FieldTerm:
    """One requirement of a field selector.

    Attributes:
        wanted: Whether the field must have the value, or must not.
    """

    name: str
    value: str
    wanted: bool

    def matches(self, found: Object) -> bool:
        """Tell whether an object meets the requirement; a field that is not there is empty."""
        return (_shown(found, self.name) == self.value) is self.wanted


@dataclass(frozen=True, slots=True)
class Selection:
    """What objects must be like.

    Attributes:
        name, namespace, node: What they must be exactly, for an index; empty when that is open.
    """

    labels: LabelSelector = field(default_factory=LabelSelector)
    fields: tuple[FieldTerm, ...] = ()
    name: str = ""
    namespace: str = ""
    node: str = ""

    @property
    def is_all(self) -> bool:
        """Whether every object is selected."""
        return not self.labels.requirements and not self.fields

    @property
    def is_exact(self) -> bool:
        """Whether name, namespace and node say all of it, so that no document need be seen."""
        said = sum(bool(each) for each in (self.name, self.namespace, self.node))
        return not self.labels.requirements and len(self.fields) == said

    def matches(self, found: Object) -> bool:
        """Tell whether an object is selected."""
        for term in self.fields:
            if not term.matches(found):
                return False
        return self.labels.matches(mapping(found, "metadata", "labels"))


def read_selection(kind: Kind, labels: str, fields: str) -> Selection:
    """Read the selectors of a request.

    Args:
        kind: What is selected: each kind has its fields.
        labels: `labelSelector`; empty for all.
        fields: `fieldSelector`; empty for all.

    Raises:
        StatusError: 400, a selector cannot be read, or the kind cannot be selected by a field.
    """
    if len(labels) + len(fields) <= _KEPT_LENGTH:
        return _kept(kind, labels, fields)
    return _read(kind, labels, fields)


def _read(kind: Kind, labels: str, fields: str) -> Selection:
    try:
        wanted = parse_labels(labels)
    except ValueError as cause:
        raise bad_request(str(cause)) from cause
    terms = tuple(_terms(kind, fields))
    exact = {term.name: term.value for term in terms if term.wanted}
    return Selection(
        wanted, terms, exact.get(_NAME, ""), exact.get(_NAMESPACE, ""), exact.get(_NODE, "")
    )


_kept = lru_cache(maxsize=_KEPT)(_read)


def _terms(kind: Kind, text: str) -> list[FieldTerm]:
    known = {_NAME, *_FIELDS.get(kind, ())}
    if kind.namespaced:
        known.add(_NAMESPACE)
    terms = []
    for each in _split(text):
        sign = _SIGN.search(each)
        if sign is None:
            raise bad_request(f"invalid selector: '{text[:80]}'; can't understand '{each[:80]}'")
        name, value = each[: sign.start()].strip(), each[sign.end() :]
        if name not in known:
            raise bad_request(f"field label not supported: {name[:80]}")
        terms.append(FieldTerm(name, _ESCAPED.sub(r"\1", value), sign[0] != "!="))
    return terms


def _split(text: str) -> list[str]:
    """Split at commas that are not escaped."""
    return [each for each in re.findall(r"(?:\\.|[^,\\])+", text, re.DOTALL) if each.strip()]


def _shown(found: Object, name: str) -> str:
    """Return a field's value as selectors compare it."""
    if name == "source":
        return _text(found, ("source", "component")) or _text(found, ("reportingComponent",))
    value = _text(found, tuple(name.split(".")))
    return "false" if not value and name in _FALSE_WHEN_ABSENT else value


def _text(found: Object, path: tuple[str, ...]) -> str:
    value: Json = mapping(found, *path[:-1]).get(path[-1])
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else ""
