"""The file of a run: one JSON document of kind `BenchmarkResult`.

What measures writes the whole document anew after each row, through a rename, so that a file that
is there is always whole, and holds what was measured until the end of the run came.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final, NoReturn

from pydantic import TypeAdapter, ValidationError

from benchmarks.results.fields import Json
from benchmarks.results.rows import Result
from simulator.config import API_VERSION
from simulator.errors import InputError

KIND: Final = "BenchmarkResult"
SIZE_MAX: Final = 64 << 20
"""Bytes of the largest file that is read."""

_RESULT: Final = TypeAdapter(Result)
_HOW: Final = "give a file that this version of `rebind bench run` wrote"
_SHOWN_MAX: Final = 40


class ResultFileError(InputError):
    """A file is not the result of a benchmark that this version reads."""


def result_document(result: Result) -> dict[str, Json]:
    """Return a result as its document."""
    body: Json = _RESULT.dump_python(result, mode="json", by_alias=True)
    return {"apiVersion": API_VERSION, "kind": KIND, "result": body}


def result_text(result: Result) -> str:
    """Return what stands in the file of a result: the same bytes for the same result."""
    return json.dumps(result_document(result), indent=1, ensure_ascii=False) + "\n"


def read_result(content: bytes, path: str) -> Result:
    """Read the file of a result.

    Args:
        content: All of it.
        path: Where it came from, for the message of an error.

    Raises:
        ResultFileError: It is damaged, something else, or of another version.
    """
    if len(content) > SIZE_MAX:
        _refuse(f"{len(content)} bytes, more than {SIZE_MAX >> 20} MiB", path)
    document = _parsed(content, path)
    if not isinstance(document, dict) or "kind" not in document:
        _refuse("not the result of a benchmark", path)
    if document["kind"] != KIND:
        _refuse(f"of kind {_short(document['kind'])}, not {KIND}", path)
    version = document.get("apiVersion")
    if version != API_VERSION:
        _refuse(f"of apiVersion {_short(version)}, and {API_VERSION} is what is read", path)
    try:
        return _RESULT.validate_json(json.dumps(document.get("result")))
    except ValidationError as error:
        _refuse(_first_fault(error), path, cause=error)


def _refuse(
    reason: str, path: str, *, line: int = 0, column: int = 0, cause: Exception | None = None
) -> NoReturn:
    message = f"{reason}; {_HOW}"
    raise ResultFileError(message, path=path, line=line, column=column) from cause


def _short(value: object) -> str:
    return json.dumps(value)[:_SHOWN_MAX]


def _parsed(content: bytes, path: str) -> object:
    try:
        parsed: object = json.loads(content.decode(), parse_constant=_refuse_constant)
    except UnicodeDecodeError as error:
        _refuse(f"damaged: not UTF-8 at byte {error.start}", path, cause=error)
    except json.JSONDecodeError as error:
        reason = f"damaged, or no JSON: {error.msg}"
        _refuse(reason, path, line=error.lineno, column=error.colno, cause=error)
    except (RecursionError, ValueError) as error:
        _refuse(f"damaged: {error}", path, cause=error)
    return parsed


def _refuse_constant(name: str) -> float:
    message = f"{name} is no number"
    raise ValueError(message)


def _first_fault(error: ValidationError) -> str:
    """Return the first fault of a document with its place, and how many there are."""
    first, *others = error.errors(include_url=False, include_context=False, include_input=False)
    more = f", and {len(others)} more" if others else ""
    reason = first["msg"].removeprefix("Value error, ")
    return f"damaged, or of another version: {_place(first['loc'])}: {reason}{more}"


def _place(keys: Sequence[int | str]) -> str:
    parts = [f"[{key}]" if isinstance(key, int) else f".{key}" for key in keys]
    return f"result{''.join(parts)}"
