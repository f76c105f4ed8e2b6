"""JSON text to plain values, accepting exactly what Go's `encoding/json` accepts.

The C scanner of Python's `json` does the work. Where it differs from Go (constants such as NaN,
numbers of thousands of digits, unpaired surrogates, deep nesting) and for every error,
`go_scanner` reads the text instead: it is slower, and words the error as Go does.
"""

from __future__ import annotations

import json
import re
from typing import Final

from simulator.core.checkpoint.go_scanner import scan
from simulator.core.checkpoint.go_strings import decoded
from simulator.core.checkpoint.json_values import JsonNumber, JsonValue

_SURROGATE_ESCAPE: Final = re.compile(rb"\\u[dD][89a-fA-F]")


def _reject_constant(text: str) -> JsonValue:
    raise ValueError(text)


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=tuple,
    parse_int=JsonNumber,
    parse_float=JsonNumber,
    parse_constant=_reject_constant,
)


def loads(content: bytes) -> JsonValue:
    """Read one JSON text; bytes that are not UTF-8 become U+FFFD.

    Raises:
        CheckpointSyntaxError: The text is not JSON; the message is Go's.

    Kubelet: json.Unmarshal, which checks the whole text before it looks at types.
    """
    if _SURROGATE_ESCAPE.search(content) is not None:
        return scan(content)
    try:
        value: JsonValue = _DECODER.decode(decoded(content))
    except (ValueError, RecursionError):
        return scan(content)
    return value
