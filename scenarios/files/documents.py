"""YAML and JSON text to documents that remember where everything stands.

Decides what a well-formed input file is: UTF-8, at most 1 MiB, no duplicate keys, no tags, bounded
depth, bounded size after aliases are followed. It knows no schema; see `scenarios.schema.scenario`.

Every value is built here from PyYAML's events, never by its constructors, so no input can make an
object, and only true, false, null and decimal numbers are anything but text: `no`, `1.24.0` and
`2024-01-01` stay what they look like.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

import yaml

from scenarios.files.parameters import Hidden, hide_parameters
from simulator.errors import InputError, ScenarioError
from simulator.reports.text import printable

FILE_SIZE_MAX: Final = 1024 * 1024
"""Largest input file, in bytes."""
DEPTH_MAX: Final = 40
"""Deepest nesting of lists and maps."""
NODES_MAX: Final = 100_000
"""Most values in a file, every use of an alias counted in full."""

Scalar = str | int | float | bool | None
Plain = Scalar | list["Plain"] | dict[str, "Plain"]
Path = tuple[str | int, ...]
"""Keys and indices from the root of a document to a value."""

_Loader: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_INTEGER: Final = re.compile(r"[-+]?[0-9]{1,18}", re.ASCII)
_FLOAT: Final = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", re.ASCII)
_LEADING_ZERO: Final = re.compile(r"[-+]?0[0-9]+", re.ASCII)
_NUMBER_MAX: Final = 40
_CONTROL: Final = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What YAML calls not printable."""
_WORDS: Final[dict[str, Scalar]] = {
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
}


@dataclass(frozen=True, slots=True)
class Place:
    """Where a value begins; both count from 1."""

    line: int
    column: int


@dataclass(slots=True)
class ScalarNode:
    """Text, with whether it was written without quotes."""

    place: Place
    text: str
    unquoted: bool
    size: int = 1
    height: int = 0

    def value(self) -> Scalar:
        """Return what the text means."""
        return resolve(self.text) if self.unquoted else self.text


@dataclass(slots=True)
class ListNode:
    """A list; `size` counts the values in it, `height` the levels below it."""

    place: Place
    items: list[Node] = field(default_factory=list)
    size: int = 1
    height: int = 0


@dataclass(slots=True)
class MapNode:
    """A map; keys keep their own places."""

    place: Place
    items: dict[str, Node] = field(default_factory=dict)
    key_places: dict[str, Place] = field(default_factory=dict)
    size: int = 1
    height: int = 0


Node = ScalarNode | ListNode | MapNode


def resolve(text: str) -> Scalar:
    """Return what unquoted `text` means: null, a boolean, a decimal number, or itself."""
    if text in _WORDS:
        return _WORDS[text]
    if len(text) > _NUMBER_MAX:
        return text
    if _LEADING_ZERO.fullmatch(text):
        return text
    if _INTEGER.fullmatch(text):
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else text


@dataclass(frozen=True, slots=True)
class Document:
    """One document of one file.

    Attributes:
        path: The file's name as the user gave it.
        root: Its values with their places.
        error: The kind of error that faults in this document are.
        parameters: Names of the parameters in its file.
    """

    path: str
    root: Node
    error: type[InputError] = ScenarioError
    parameters: frozenset[str] = frozenset()

    def plain(self) -> Plain:
        """Return the document as ordinary values."""
        return plain(self.root)

    def find(self, path: Path) -> Node | None:
        """Return the value at `path`, or None when there is none."""
        node: Node | None = self.root
        for part in path:
            node = _child(node, part) if node is not None else None
        return node

    def node(self, path: Path) -> Node:
        """Return the value at `path`, or the nearest value above it."""
        node = self.root
        for part in path:
            below = _child(node, part)
            if below is None:
                break
            node = below
        return node

    def place(self, path: Path, *, key: bool = False) -> Place:
        """Return where the value at `path` stands, or its key."""
        if key and path:
            parent = self.node(path[:-1])
            if isinstance(parent, MapNode) and path[-1] in parent.key_places:
                return parent.key_places[str(path[-1])]
        return self.node(path).place

    def fault(self, path: Path, reason: str, *, key: bool = False) -> InputError:
        """Return the error that says `reason` about the value, or the key, at `path`."""
        place = self.place(path, key=key)
        return self.error(printable(reason), path=self.path, line=place.line, column=place.column)


def _child(node: Node, part: str | int) -> Node | None:
    if isinstance(node, MapNode):
        return node.items.get(str(part))
    if isinstance(node, ListNode) and isinstance(part, int) and 0 <= part < len(node.items):
        return node.items[part]
    return None


def plain(node: Node) -> Plain:
    """Return the value of `node` and everything below it, without places."""
    if isinstance(node, ScalarNode):
        return node.value()
    if isinstance(node, ListNode):
        return [plain(item) for item in node.items]
    return {key: plain(item) for key, item in node.items.items()}


def read_documents(
    content: bytes,
    path: str,
    settings: Mapping[str, str] | None = None,
    *,
    error: type[InputError] = ScenarioError,
    size_max: int = FILE_SIZE_MAX,
) -> list[Document]:
    """Read all documents of a file; empty ones are left out.

    Args:
        content: The file.
        path: Its name in messages.
        settings: Values of parameters; None where there are none, and `${` is plain text, as in
            what a cluster prints.
        error: What to raise: `ScenarioError`, or `ManifestError` for a manifest.
        size_max: Largest file that is read; as many values more may be in a larger one.

    Raises:
        InputError: The text is not YAML or JSON, or passes a limit.
    """
    if len(content) > size_max:
        reason = f"the file has {len(content)} bytes, at most {size_max} are read"
        raise error(reason, path=path)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as cause:
        before = cause.object[: cause.start].decode()
        at = len(content) - len(cause.object) + cause.start
        reason = f"the file is not UTF-8: byte {at} cannot be read"
        raise _error_behind(before, reason, path, error) from cause
    control = _CONTROL.search(text)
    if control is not None:
        reason = f"the character {printable(control[0])} cannot stand in a file; write an escape"
        raise _error_behind(text[: control.start()], reason, path, error)
    try:
        plain_text = _without_tabs_of_json(text)
        hidden = Hidden(plain_text, ()) if settings is None else hide_parameters(plain_text)
    except ValueError as cause:
        raise error(str(cause), path=path) from cause
    builder = _Builder(path, error, hidden, settings or {})
    builder.values_max = NODES_MAX * max(1, size_max // FILE_SIZE_MAX)
    try:
        roots = list(builder.documents())
    except yaml.YAMLError as cause:
        raise _syntax_error(cause, path, error) from cause
    return [
        Document(path, root, error, frozenset(builder.parameters))
        for root in roots
        if not (isinstance(root, ScalarNode) and root.unquoted and not root.text)
    ]


def _error_behind(before: str, reason: str, path: str, error: type[InputError]) -> InputError:
    """Return the error about what follows a part of the text."""
    line, last = before.count("\n"), before.rpartition("\n")[2]
    return error(reason, path=path, line=line + 1, column=len(last) + 1)


def _without_tabs_of_json(text: str) -> str:
    """Return JSON indented with tabs, which YAML refuses, with as many spaces instead."""
    if "\t" not in text or text.lstrip()[:1] not in {"{", "["}:
        return text
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return text
    return text.replace("\t", " ")


def _syntax_error(cause: yaml.YAMLError, path: str, error: type[InputError]) -> InputError:
    mark = getattr(cause, "problem_mark", None) or getattr(cause, "context_mark", None)
    problem = getattr(cause, "problem", None) or getattr(cause, "reason", None) or "unreadable"
    reason = f"this is not YAML or JSON: {problem}"
    if mark is None:
        return error(reason, path=path)
    return error(reason, path=path, line=mark.line + 1, column=mark.column + 1)


def _place(event: yaml.Event) -> Place:
    mark = event.start_mark
    return Place(mark.line + 1, mark.column + 1) if mark is not None else Place(1, 1)


class _Builder:
    """Builds documents from the events of one file, keeping count of depth and size."""

    def __init__(
        self,
        path: str,
        error: type[InputError],
        hidden: Hidden,
        settings: Mapping[str, str],
    ) -> None:
        self._path = path
        self._error = error
        self._hidden = hidden
        self._settings = settings
        self._anchors: dict[str, Node] = {}
        self._size = 0
        self.values_max = NODES_MAX
        self.parameters: set[str] = set()

    def documents(self) -> Iterator[Node]:
        events = iter(yaml.parse(self._hidden.text, Loader=_Loader))
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                self._anchors = {}
                yield self._node(next(events), events, 0)

    def _node(self, event: yaml.Event, events: Iterator[yaml.Event], depth: int) -> Node:
        place = _place(event)
        known = None
        if isinstance(event, yaml.AliasEvent):
            known = self._anchors.get(str(event.anchor))
            if known is None:
                raise self._fault(place, f"*{event.anchor} stands for no value before it")
        if depth + (known.height if known else 0) > DEPTH_MAX:
            raise self._fault(place, f"values are nested deeper than {DEPTH_MAX} levels")
        if known is not None:
            self._count(known.size, place)
            return known
        self._count(1, place)
        tag = getattr(event, "tag", None)
        if tag is not None and tag != "!":
            raise self._fault(place, f"the tag {tag} is not supported; leave it out")
        node = self._collection(event, events, depth, place)
        anchor = getattr(event, "anchor", None)
        if anchor is not None:
            self._anchors[anchor] = node
        return node

    def _collection(
        self, event: yaml.Event, events: Iterator[yaml.Event], depth: int, place: Place
    ) -> Node:
        if isinstance(event, yaml.SequenceStartEvent):
            items = ListNode(place)
            while not isinstance(event := next(events), yaml.SequenceEndEvent):
                item = self._node(event, events, depth + 1)
                items.items.append(item)
                items.size += item.size
                items.height = max(items.height, item.height + 1)
            return items
        if isinstance(event, yaml.MappingStartEvent):
            entries = MapNode(place)
            while not isinstance(event := next(events), yaml.MappingEndEvent):
                self._entry(entries, event, events, depth)
            return entries
        try:
            value = self._hidden.filled(
                getattr(event, "value", ""), self._settings, self.parameters
            )
        except ValueError as cause:
            raise self._fault(place, str(cause)) from cause
        return ScalarNode(place, value, unquoted=not getattr(event, "style", None))

    def _entry(
        self, entries: MapNode, event: yaml.Event, events: Iterator[yaml.Event], depth: int
    ) -> None:
        key = self._node(event, events, depth + 1)
        if not isinstance(key, ScalarNode):
            raise self._fault(key.place, "a key must be text, not a list or a map")
        if key.text == "<<" and key.unquoted:
            raise self._fault(key.place, "merge keys (<<) are not supported; write the keys out")
        if key.text in entries.items:
            first = entries.key_places[key.text].line
            raise self._fault(key.place, f'duplicate key "{key.text}", first given on line {first}')
        value = self._node(next(events), events, depth + 1)
        entries.items[key.text] = value
        entries.key_places[key.text] = key.place
        entries.size += 1 + value.size
        entries.height = max(entries.height, value.height + 1)

    def _count(self, size: int, place: Place) -> None:
        self._size += size
        if self._size > self.values_max:
            raise self._fault(place, f"the file holds more than {self.values_max} values")

    def _fault(self, place: Place, reason: str) -> InputError:
        return self._error(printable(reason), path=self._path, line=place.line, column=place.column)
