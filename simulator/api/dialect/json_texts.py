"""Texts in JSON and YAML, as strictly as Kubernetes reads them.

What a text costs is bounded: its depth, its length as YAML, and the digits of its numbers.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable
from typing import Final, NoReturn

import yaml
from typing_extensions import override

from simulator.api.dialect.documents import DEPTH_MAX, Json, Object, is_too_deep
from simulator.api.dialect.schemas.checking import STRICT_FAULTS_MAX
from simulator.api.dialect.statuses import too_large

YAML_MAX: Final = 128 * 1024
"""Most bytes of YAML, of which a second reads no more than some hundred thousand."""
_BLANKS: Final = " \t\r\n"
_SURROGATES: Final = range(0xD800, 0xE000)
_BITS_MAX: Final = 1_024
"""Of a whole number in YAML, as many as a float64 reaches: far longer ones cannot be shown."""


class _RefusedError(ValueError):
    """A text that is JSON or YAML for Python and not for Kubernetes."""


class _Loader(yaml.SafeLoader):
    """YAML as JSON has it: times stay texts, and nothing is shared or repeated."""

    @override
    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """Refuse aliases: a few of them make a document of any size."""
        if self.check_event(yaml.events.AliasEvent):
            why = "aliases are not read"
            raise _RefusedError(why)
        return super().compose_node(parent, index)


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith(":timestamp")]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def read_json(data: bytes, twice: list[str] | None = None) -> Json:
    """Read JSON.

    Args:
        data: The text.
        twice: Keys that stand twice in one object are put there, the first few of them; None for
            nobody who wants to know.

    Raises:
        ValueError: It is none, or nested too deeply.
    """
    try:
        found = _parsed(data, twice)
    except RecursionError as cause:
        raise _RefusedError(str(cause)) from cause
    if data.count(b"{") + data.count(b"[") > DEPTH_MAX:
        _check_depth(found)
    return found


def read_yaml(data: bytes) -> Json:
    """Read YAML, or the JSON that most clients send in its place.

    Raises:
        ValueError: It is none, nested too deeply, or holds what JSON cannot.
        StatusError: 413, it is too long to be read as YAML.
    """
    try:
        found = _yaml_or_json(data)
    except (RecursionError, yaml.YAMLError) as cause:
        raise _RefusedError(str(cause)) from cause
    _check_depth(found)
    return found


def _check_depth(found: Json) -> None:
    if is_too_deep(found):
        why = f"exceeded max depth of {DEPTH_MAX}"
        raise _RefusedError(why)


def _parsed(data: bytes, twice: list[str] | None) -> Json:
    decoder = _DECODER if twice is None else _decoder(_noting(twice))
    text = data.decode().rstrip(_BLANKS)
    document: Json
    if text.startswith("{"):  # Which spares two searches for blanks.
        document, end = decoder.raw_decode(text)
        if end != len(text):
            decoder.decode(text)  # Says where what is too much begins.
    else:
        document = decoder.decode(text)
    if b"\\" in data and (b"\\ud" in data or b"\\uD" in data):
        document = _without_surrogates(document)
    return document


def _noting(twice: list[str]) -> Callable[[list[tuple[str, Json]]], Object]:
    """Return what makes objects, and notes the keys that stand twice in one."""

    def pairs(found: list[tuple[str, Json]]) -> Object:
        made = dict(found)
        if len(made) != len(found):
            counts = Counter(key for key, _ in found)
            again = [key for key, count in counts.items() if count > 1]
            twice.extend(again[: STRICT_FAULTS_MAX - len(twice)])
        return made

    return pairs


def _decoder(pairs: Callable[[list[tuple[str, Json]]], Object] | None) -> json.JSONDecoder:
    return json.JSONDecoder(
        parse_constant=_refuse_constant, parse_float=_finite, object_pairs_hook=pairs
    )


def _refuse_constant(name: str) -> NoReturn:
    why = f"invalid character '{name[0]}' looking for beginning of value"
    raise _RefusedError(why)


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        why = f"{digits[:40]} is no number that a float64 holds"
        raise _RefusedError(why)
    return value


_DECODER: Final = _decoder(None)
"""Made once: that takes half as long as it takes to read an object."""


def _without_surrogates(value: Json) -> Json:
    """Replace halves of surrogate pairs, which no UTF-8 text can hold, as Go does."""
    if isinstance(value, str):
        return "".join("\ufffd" if ord(one) in _SURROGATES else one for one in value)
    if isinstance(value, list):
        return [_without_surrogates(each) for each in value]
    if isinstance(value, dict):
        return {
            str(_without_surrogates(key)): _without_surrogates(each) for key, each in value.items()
        }
    return value


def _yaml_or_json(data: bytes) -> Json:
    if data.lstrip()[:1] == b"{":
        try:
            return _parsed(data, None)
        except json.JSONDecodeError:
            pass  # YAML may begin like that too.
    if len(data) > YAML_MAX:
        raise too_large(YAML_MAX)
    try:
        return _plain(yaml.load(data, _Loader))  # noqa: S506 - a SafeLoader
    except (LookupError, AttributeError) as cause:  # E.g. of `!!bool x`, `!!timestamp x`.
        why = "a tag does not go with its value"
        raise _RefusedError(why) from cause


def _plain(value: object) -> Json:
    """Return what YAML holds as JSON has it.

    Raises:
        ValueError: JSON has no such value.
    """
    if isinstance(value, str):
        return str(_without_surrogates(value))
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int) and value.bit_length() <= _BITS_MAX:
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        return {_key(key): _plain(each) for key, each in value.items()}
    why = f"{type(value).__name__} is no JSON"
    raise _RefusedError(why)


def _key(key: object) -> str:
    if isinstance(key, bool):
        return "true" if key else "false"
    if isinstance(key, str | int | float):
        return str(_without_surrogates(str(key)))
    why = f"{type(key).__name__} is no key of JSON"
    raise _RefusedError(why)
