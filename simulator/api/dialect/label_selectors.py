"""Label selectors: `tier=gpu,area in (a, b),!old,generation>3` (apimachinery/pkg/labels)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from simulator.api.dialect import names

IN: Final = "in"
NOT_IN: Final = "notin"
EXISTS: Final = "exists"
ABSENT: Final = "!"
GREATER: Final = ">"
LESS: Final = "<"
_TOKEN: Final = re.compile(r"\s*(==|!=|=|!|>|<|\(|\)|,|[^\s=!<>(),]+)", re.ASCII)
_SIGNS: Final = frozenset({"==", "!=", "=", "!", ">", "<", "(", ")", ","})
_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,18}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Requirement:
    """One requirement of a selector.

    Attributes:
        operator: `in` and `notin` (which `=` and `!=` are too), `exists`, `!`, `>`, `<`.
        values: What a label is compared with.
    """

    key: str
    operator: str
    values: tuple[str, ...] = ()

    def matches(self, labels: Mapping[str, object]) -> bool:
        """Tell whether labels meet the requirement; one that is not there is in no set."""
        if self.operator in {EXISTS, ABSENT}:
            return (self.key in labels) is (self.operator == EXISTS)
        found = labels.get(self.key)
        if self.operator in {IN, NOT_IN}:
            return (found in self.values) is (self.operator == IN)
        if not isinstance(found, str) or _NUMBER.fullmatch(found) is None:
            return False
        wanted = int(self.values[0])
        return int(found) > wanted if self.operator == GREATER else int(found) < wanted


@dataclass(frozen=True, slots=True)
class LabelSelector:
    """Requirements that must all be met; none selects everything."""

    requirements: tuple[Requirement, ...] = ()

    def matches(self, labels: Mapping[str, object]) -> bool:
        """Tell whether labels meet all requirements."""
        return all(one.matches(labels) for one in self.requirements)


def parse_labels(text: str) -> LabelSelector:
    """Read a selector.

    Raises:
        ValueError: A part of it is no requirement; the message is Kubernetes'.
    """
    tokens = _tokens(text)
    if not tokens:
        return LabelSelector()
    found = []
    while True:
        requirement, tokens = _requirement(tokens)
        found.append(requirement)
        if not tokens:
            return LabelSelector(tuple(found))
        if tokens[0] != ",":
            raise _unexpected(tokens[0], "',' or 'end of string'")
        tokens = tokens[1:]
        if not tokens:
            raise _unexpected("", "identifier after ','")


def _tokens(text: str) -> list[str]:
    found, at = [], 0
    end = len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        if match is None:
            raise _unexpected(text[at : at + 20], "a selector")
        found.append(match[1])
        at = match.end()
    return found


def _unexpected(found: str, expected: str) -> ValueError:
    return ValueError(f"unable to parse requirement: found '{found[:80]}', expected: {expected}")


def _requirement(tokens: list[str]) -> tuple[Requirement, list[str]]:
    negated = tokens[0] == "!"
    rest = tokens[1:] if negated else tokens
    key = rest[0] if rest else ""
    if not key or key in _SIGNS:
        raise _unexpected(key, "!, identifier, or 'end of string'")
    for fault in names.qualified_faults(key):
        message = f'unable to parse requirement: <nil>: Invalid value: "{key[:80]}": {fault}'
        raise ValueError(message)
    rest = rest[1:]
    if negated or not rest or rest[0] == ",":
        return Requirement(key, ABSENT if negated else EXISTS), rest
    operator, rest = rest[0], rest[1:]
    if operator in {"=", "==", "!="}:
        value, rest = _value(rest)
        return _checked(Requirement(key, NOT_IN if operator == "!=" else IN, (value,))), rest
    if operator in {GREATER, LESS}:
        value, rest = _value(rest)
        if _NUMBER.fullmatch(value) is None:
            message = (
                f'unable to parse requirement: values[0][{key}]: Invalid value: "{value[:80]}": '
                "for 'Gt', 'Lt' operators, the value must be an integer"
            )
            raise ValueError(message)
        return Requirement(key, operator, (value,)), rest
    if operator in {IN, NOT_IN}:
        values, rest = _values(rest)
        return _checked(Requirement(key, operator, values)), rest
    raise _unexpected(operator, "in, notin, =, ==, !=, gt, lt")


def _checked(requirement: Requirement) -> Requirement:
    for index, value in enumerate(requirement.values):
        for fault in names.label_value_faults(value):
            message = (
                f"unable to parse requirement: values[{index}][{requirement.key}]: Invalid value: "
                f'"{value[:80]}": {fault}'
            )
            raise ValueError(message)
    return requirement


def _value(tokens: list[str]) -> tuple[str, list[str]]:
    if not tokens or tokens[0] == ",":
        return "", tokens
    if tokens[0] in _SIGNS:
        raise _unexpected(tokens[0], "identifier")
    return tokens[0], tokens[1:]


def _values(tokens: list[str]) -> tuple[tuple[str, ...], list[str]]:
    if not tokens or tokens[0] != "(":
        raise _unexpected(tokens[0] if tokens else "", "'('")
    values: list[str] = []
    at, wants_value = 1, True
    while at < len(tokens):
        word = tokens[at]
        at += 1
        if word == ")":
            if wants_value:
                values.append("")
            return tuple(sorted(set(values))), tokens[at:]
        if word == ",":
            if wants_value:
                values.append("")
            wants_value = True
        elif word in _SIGNS or not wants_value:
            raise _unexpected(word, "',', or ')'")
        else:
            values.append(word)
            wants_value = False
    raise _unexpected("", "',', ')' or identifier")
