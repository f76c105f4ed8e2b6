"""Kinds of error, since the words of Go's libraries differ between Go versions (golden/README)."""

from __future__ import annotations

from typing import Final

NONE: Final = "none"
SYNTAX: Final = "syntax"
TYPE: Final = "type"
CHECKSUM: Final = "checksum"
ABSENT: Final = "absent"
FILE: Final = "file"

CORRUPT_TEXT: Final = "checkpoint is corrupted"
NOT_FOUND_TEXT: Final = "checkpoint is not found"

_BY_GO_TYPE: Final = {
    "*json.SyntaxError": SYNTAX,
    "*json.UnmarshalTypeError": TYPE,
    "base64.CorruptInputError": TYPE,
    "*errors.CorruptCheckpointError": CHECKSUM,
}
_OWN_TEXTS: Final = {"": NONE, CORRUPT_TEXT: CHECKSUM, NOT_FOUND_TEXT: ABSENT}


def error_kind(text: str, go_type: str = "") -> str:
    """Return the kind of a recorded or produced error.

    Args:
        text: The error's text; empty for none.
        go_type: Its recorded Go type, if any.
    """
    if text in _OWN_TEXTS:
        return _OWN_TEXTS[text]
    if go_type in _BY_GO_TYPE:
        return _BY_GO_TYPE[go_type]
    if text.startswith("json: ") or "illegal base64" in text:
        return TYPE
    if text.startswith(("invalid character", "unexpected end of JSON")) or "max depth" in text:
        return SYNTAX
    return FILE
