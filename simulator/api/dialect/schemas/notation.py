"""The types of objects, read from a short notation.

`Container: env:[]EnvVar~name image:string name:string!` is a type with three fields: `[]` is a list
and `{}` a map with such values; `!` a field that must be there. What merges under a strategic merge
patch says `~` with the key that tells elements apart, or `~` alone for a set of plain values; `^`
says that a patch may name the keys that are to be kept (`retainKeys`). Scalars are `string`, `int`,
`bool`, `quantity`, `time`, `microTime`, `intOrString` and `any`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import Final

from simulator.api.dialect.schemas import containers, objects, own, pods, volumes

SCALARS: Final = frozenset(
    {"string", "int", "bool", "quantity", "time", "microTime", "intOrString", "any"}
)
_TYPE: Final = re.compile(r"^(\w+): (.*(?:\n  .*)*)$", re.MULTILINE)
_FIELD: Final = re.compile(
    r"(?P<name>\w+):(?P<shape>(?:\[\]|\{\})*)(?P<type>\w+)"
    r"(?P<merged>~(?P<key>\w*)(?P<retain>\^?))?(?P<required>!?)"
)


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a type.

    Attributes:
        shape: `[]` for a list, `{}` for a map, `{}[]` for a map of lists, empty for one value.
        type: A scalar, or the name of a type.
        merges: Whether a strategic merge patch merges the list with what is there.
        key: What tells the elements of such a list apart; empty for a set of plain values.
        retains: Whether a patch may say which keys of an element are kept.
        is_text, is_plain_list, is_one_object, is_objects: Whether the value is one string, a list
            of strings or of whole numbers, one object of a named type, a list of such objects.
    """

    name: str
    shape: str
    type: str
    required: bool = False
    merges: bool = False
    key: str = ""
    retains: bool = False
    is_text: bool = field(init=False)
    is_plain_list: bool = field(init=False)
    is_one_object: bool = field(init=False)
    is_objects: bool = field(init=False)

    def __post_init__(self) -> None:
        """Note what is asked for every field of every body."""
        object.__setattr__(self, "is_text", not self.shape and self.type == "string")
        is_plain_list = self.shape == "[]" and self.type in {"string", "int"}
        object.__setattr__(self, "is_plain_list", is_plain_list)
        object.__setattr__(self, "is_one_object", not self.shape and self.is_object)
        object.__setattr__(self, "is_objects", self.shape == "[]" and self.is_object)

    @property
    def is_object(self) -> bool:
        """Tell whether the value, or each of its values, is of a named type."""
        return self.type not in SCALARS


Type = Mapping[str, Field]
"""Fields by name: a plain dictionary, into which every field of every body is looked up; a
`MappingProxyType` around it takes three times as long."""


@cache
def _texts() -> Mapping[str, str]:
    """Return the notation of each type's fields."""
    found: dict[str, str] = {}
    for text in (containers.TYPES, objects.TYPES, own.TYPES, pods.TYPES, volumes.TYPES):
        found.update(_TYPE.findall(text))
    for name, added in _TYPE.findall(own.ADDED):
        found[name] += f" {added}"
    return MappingProxyType(dict(sorted(found.items())))


@cache
def type_named(name: str) -> Type:
    """Return a type; its fields are read when it is asked for first."""
    fields = {}
    for word in _texts()[name].split():
        found = _FIELD.fullmatch(word)
        if found is None:
            message = f"{name}: {word} is no field"
            raise ValueError(message)
        fields[found["name"]] = Field(
            found["name"],
            found["shape"],
            found["type"],
            required=bool(found["required"]),
            merges=found["merged"] is not None,
            key=found["key"] or "",
            retains=bool(found["retain"]),
        )
    return dict(sorted(fields.items()))


def type_names() -> tuple[str, ...]:
    """Return the names of all types."""
    return tuple(_texts())
