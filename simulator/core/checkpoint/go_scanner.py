"""A JSON scanner with the rules and the error texts of Go's `encoding/json`, without recursion."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final, NoReturn

from simulator.core.checkpoint.go_strings import decoded, without_lone_surrogates
from simulator.core.checkpoint.json_values import NESTING_MAX, JsonNumber, JsonValue
from simulator.errors import CheckpointSyntaxError

_TOKEN: Final = re.compile(rb"[^ \t\r\n]")
_STRING_SPECIAL: Final = re.compile(rb'["\\\x00-\x1f]')
_NOT_HEX: Final = re.compile(rb"[^0-9a-fA-F]")
_UNICODE_ESCAPE_LENGTH: Final = 6
_NUMBER: Final = re.compile(rb"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_ESCAPE: Final = re.compile(
    r"\\(?:u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|(.))"
)
_SHORT_ESCAPES: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_LITERALS: Final[dict[bytes, tuple[bytes, bool | None]]] = {
    b"t": (b"true", True),
    b"f": (b"false", False),
    b"n": (b"null", None),
}
_SHOWN: Final = {
    "'": "\\'",
    "\\": "\\\\",
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
}


def scan(content: bytes) -> JsonValue:
    """Read one JSON text.

    Raises:
        CheckpointSyntaxError: The text is not JSON; the message is Go's.
    """
    return _Scanner(content).document()


@dataclass(slots=True)
class _Open:
    """An array or object whose end has not come yet."""

    is_object: bool
    keys: list[str] = field(default_factory=list)
    values: list[JsonValue] = field(default_factory=list)

    def closed(self) -> JsonValue:
        if self.is_object:
            return tuple(zip(self.keys, self.values, strict=True))
        return self.values


class _Scanner:
    """A text and the place up to which it was read."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.at = 0
        self.open: list[_Open] = []

    def document(self) -> JsonValue:
        """Read the only value, and see that nothing follows it."""
        while True:
            start = self._next()
            if start in b"{[":
                if not self._opened_and_closed(start):
                    continue
                value = self.open.pop().closed()
            else:
                value = self._scalar(start)
            while self.open:
                parent = self.open[-1]
                parent.values.append(value)
                if not self._ends(parent):
                    break
                value = self.open.pop().closed()
            else:
                self._expect_end()
                return value

    def _next(self) -> bytes:
        """Skip white space and return the byte that follows."""
        found = _TOKEN.search(self.content, self.at)
        if found is None:
            return self._byte(len(self.content))
        self.at = found.start()
        return found[0]

    def _byte(self, at: int) -> bytes:
        if at >= len(self.content):
            message = "unexpected end of JSON input"
            raise CheckpointSyntaxError(message, offset=len(self.content))
        return self.content[at : at + 1]

    def _fail(self, at: int, context: str) -> NoReturn:
        shown = chr(self._byte(at)[0])
        if shown in _SHOWN:
            shown = _SHOWN[shown]
        elif not shown.isprintable():
            shown = f"\\x{ord(shown):02x}" if shown < "\x80" else f"\\u{ord(shown):04x}"
        reason = f"invalid character '{shown}' {context}"
        raise CheckpointSyntaxError(reason, offset=at)

    def _expect_end(self) -> None:
        found = _TOKEN.search(self.content, self.at)
        if found is not None:
            self._fail(found.start(), "after top-level value")

    def _opened_and_closed(self, start: bytes) -> bool:
        """Open an array or object; True when it ends at once, else its first value comes next."""
        if len(self.open) >= NESTING_MAX:
            self._fail(self.at, "exceeded max depth")
        opened = _Open(is_object=start == b"{")
        self.open.append(opened)
        self.at += 1
        if self._next() == (b"}" if opened.is_object else b"]"):
            self.at += 1
            return True
        if opened.is_object:
            self._key(opened)
        return False

    def _ends(self, parent: _Open) -> bool:
        """Read what follows a value: True for the end of its parent, False for a comma."""
        separator = self._next()
        if separator == b",":
            self.at += 1
            if parent.is_object:
                self._next()
                self._key(parent)
            return False
        if separator != (b"}" if parent.is_object else b"]"):
            context = "after object key:value pair" if parent.is_object else "after array element"
            self._fail(self.at, context)
        self.at += 1
        return True

    def _key(self, parent: _Open) -> None:
        if self._byte(self.at) != b'"':
            self._fail(self.at, "looking for beginning of object key string")
        parent.keys.append(self._string())
        if self._next() != b":":
            self._fail(self.at, "after object key")
        self.at += 1

    def _scalar(self, start: bytes) -> JsonValue:
        if start == b'"':
            return self._string()
        if start in b"-0123456789":
            return self._number()
        if start not in _LITERALS:
            self._fail(self.at, "looking for beginning of value")
        literal, value = _LITERALS[start]
        for offset in range(1, len(literal)):
            if self._byte(self.at + offset)[0] != literal[offset]:
                expected = chr(literal[offset])
                context = f"in literal {literal.decode()} (expecting '{expected}')"
                self._fail(self.at + offset, context)
        self.at += len(literal)
        return value

    def _number(self) -> JsonNumber:
        match = _NUMBER.match(self.content, self.at)
        if match is None:
            self._fail(self.at + 1, "in numeric literal")
        number = match[0]
        end = match.end()
        following = self.content[end : end + 1]
        has_exponent = b"e" in number or b"E" in number
        if following == b"." and b"." not in number and not has_exponent:
            self._fail(end + 1, "after decimal point in numeric literal")
        if following in (b"e", b"E") and not has_exponent:
            signed = self._byte(end + 1) in b"+-"
            self._fail(end + 2 if signed else end + 1, "in exponent of numeric literal")
        self.at = end
        return JsonNumber(number.decode())

    def _string(self) -> str:
        start = at = self.at + 1
        while True:
            special = _STRING_SPECIAL.search(self.content, at)
            at = len(self.content) if special is None else special.start()
            mark = self._byte(at)
            if mark == b'"':
                break
            if mark != b"\\":
                self._fail(at, "in string literal")
            at = self._escape_end(at)
        self.at = at + 1
        return without_lone_surrogates(_ESCAPE.sub(_unescaped, decoded(self.content[start:at])))

    def _escape_end(self, at: int) -> int:
        code = self._byte(at + 1)
        if code in b'"\\/bfnrt':
            return at + 2
        if code != b"u":
            self._fail(at + 1, "in string escape code")
        end = at + _UNICODE_ESCAPE_LENGTH
        wrong = _NOT_HEX.search(self.content, at + 2, end)
        if wrong is not None:
            self._fail(wrong.start(), "in \\u hexadecimal character escape")
        self._byte(end - 1)
        return end


def _unescaped(match: re.Match[str]) -> str:
    high, low, unit, short = match.groups()
    if high is not None:
        return chr(0x10000 + ((int(high, 16) - 0xD800) << 10) + (int(low, 16) - 0xDC00))
    if unit is not None:
        return chr(int(unit, 16))
    return _SHORT_ESCAPES.get(short, short)
