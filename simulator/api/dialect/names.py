"""Names, labels and annotations, with Kubernetes' own texts (apimachinery/pkg/util/validation)."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Final

_LABEL_RE: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN_RE: Final = rf"{_LABEL_RE}(\.{_LABEL_RE})*"
_QUALIFIED_RE: Final = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_VALUE_RE: Final = f"({_QUALIFIED_RE})?"
_LABEL: Final = re.compile(_LABEL_RE, re.ASCII)
_SUBDOMAIN: Final = re.compile(_SUBDOMAIN_RE, re.ASCII)
_QUALIFIED: Final = re.compile(_QUALIFIED_RE, re.ASCII)
_VALUE: Final = re.compile(_VALUE_RE, re.ASCII)
LABEL_MAX: Final = 63
SUBDOMAIN_MAX: Final = 253

_LABEL_FAULT: Final = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used "
    f"for validation is '{_LABEL_RE}')"
)
_SUBDOMAIN_FAULT: Final = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    f"for validation is '{_SUBDOMAIN_RE}')"
)
_QUALIFIED_FAULT: Final = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end "
    "with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    f"validation is '{_QUALIFIED_RE}')"
)
_VALUE_FAULT: Final = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or "
    f"'12345', regex used for validation is '{_VALUE_RE}')"
)
_KEPT: Final = 4096
_LONG: Final = 512
"""From so many characters on a text is looked at anew each time: who keeps thousands keeps only
short ones."""

_Check = Callable[[str], tuple[str, ...]]


def _short_kept(check: _Check) -> _Check:
    """Keep what is said of short texts."""
    kept = lru_cache(maxsize=_KEPT)(check)

    @wraps(check)
    def checked(text: str) -> tuple[str, ...]:
        return kept(text) if len(text) < _LONG else check(text)

    return checked


def _more_than(limit: int) -> str:
    return f"must be no more than {limit} characters"


@_short_kept
def label_faults(name: str) -> tuple[str, ...]:
    """Return what keeps a name from being an RFC 1123 label."""
    faults = () if len(name) <= LABEL_MAX else (_more_than(LABEL_MAX),)
    return faults if _LABEL.fullmatch(name) else (*faults, _LABEL_FAULT)


def subdomain_faults(name: str) -> tuple[str, ...]:
    """Return what keeps a name from being an RFC 1123 subdomain."""
    faults = () if len(name) <= SUBDOMAIN_MAX else (_more_than(SUBDOMAIN_MAX),)
    return faults if _SUBDOMAIN.fullmatch(name) else (*faults, _SUBDOMAIN_FAULT)


node_faults: Final = _short_kept(subdomain_faults)
"""The same of a node's name, which many objects have in common; their own names differ."""


@_short_kept
def qualified_faults(name: str) -> tuple[str, ...]:
    """Return what keeps a text from being a qualified name, such as a label's key."""
    prefix, slash, rest = name.rpartition("/")
    if "/" in prefix:
        why = " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        return (f"a qualified name {_QUALIFIED_FAULT.removeprefix('name part ')}{why}",)
    faults: list[str] = []
    if slash and not prefix:
        faults.append("prefix part must be non-empty")
    elif slash:
        faults += [f"prefix part {fault}" for fault in subdomain_faults(prefix)]
    if not rest:
        faults.append("name part must be non-empty")
    elif len(rest) > LABEL_MAX:
        faults.append(f"name part {_more_than(LABEL_MAX)}")
    return tuple(faults) if _QUALIFIED.fullmatch(rest) else (*faults, _QUALIFIED_FAULT)


@_short_kept
def label_value_faults(value: str) -> tuple[str, ...]:
    """Return what keeps a text from being a label's value."""
    faults = () if len(value) <= LABEL_MAX else (_more_than(LABEL_MAX),)
    return faults if _VALUE.fullmatch(value) else (*faults, _VALUE_FAULT)
