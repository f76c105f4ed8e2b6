r"""Strings between Go and Python: UTF-8 with replacement, JSON quoting, base64, raw bytes.

Go keeps any bytes in a string. Its JSON writer puts U+FFFD in place of each byte that is not UTF-8,
its JSON reader does the same and replaces unpaired surrogate escapes too. Before Go 1.22 (kubelets
before 1.30) backspace and form feed were written as `\u0008` and `\u000c`, and the replacement as
the six characters `\ufffd` (1.20.2/DIFFERENCES 24).
"""

from __future__ import annotations

import codecs
import re
from binascii import a2b_base64
from typing import Final

_REPLACEMENT: Final = "\ufffd"
_NEEDS_ESCAPE: Final = re.compile('[\x00-\x1f"\\\\<>&\u2028\u2029\udc80-\udcff]')
_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_LINE_ENDS: Final = dict.fromkeys(map(ord, "\r\n"))
_BASE64_GROUP: Final = 4


def _escapes(*, legacy: bool) -> dict[int, str]:
    table = {code: f"\\u{code:04x}" for code in (*range(0x20), *map(ord, "<>&\u2028\u2029"))}
    table |= {ord('"'): '\\"', ord("\\"): "\\\\", 0x0A: "\\n", 0x0D: "\\r", 0x09: "\\t"}
    if not legacy:
        table |= {0x08: "\\b", 0x0C: "\\f"}
    replacement = "\\ufffd" if legacy else _REPLACEMENT
    return table | dict.fromkeys(range(0xDC80, 0xDD00), replacement)


_ESCAPES: Final = {legacy: _escapes(legacy=legacy) for legacy in (False, True)}


def _replace_each_byte(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return _REPLACEMENT * (error.end - error.start), error.end


codecs.register_error("rebind.go", _replace_each_byte)


def decoded(content: bytes) -> str:
    """Decode UTF-8 as Go does: one U+FFFD for each byte that does not fit."""
    return content.decode("utf-8", "rebind.go")


def without_lone_surrogates(text: str) -> str:
    r"""Replace what an unpaired `\ud800` escape left, as Go's JSON reader does."""
    return _LONE_SURROGATE.sub(_REPLACEMENT, text)


def quoted(text: str, *, legacy_escapes: bool) -> str:
    """Write `text` as a JSON string, as Go's `json.Marshal` does with HTML escaping on."""
    if _NEEDS_ESCAPE.search(text) is None:
        return f'"{text}"'
    return f'"{text.translate(_ESCAPES[legacy_escapes])}"'


def raw(text: str) -> bytes:
    """Return the bytes that a Go string holds."""
    return text.encode("utf-8", "surrogateescape")


def from_base64(text: str) -> bytes:
    """Decode what Go's `base64.StdEncoding` decodes: line ends are skipped, padding is required.

    Raises:
        ValueError: Go does not decode it either.
    """
    if "\n" in text or "\r" in text:
        text = text.translate(_LINE_ENDS)
    # Python takes any padding behind a whole group, Go takes none.
    if len(text) % _BASE64_GROUP or text.endswith("==="):
        message = "wrong padding"
        raise ValueError(message)
    return a2b_base64(text, strict_mode=True)
