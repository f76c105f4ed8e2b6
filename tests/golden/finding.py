"""Finding recordings below a path, by what they hold."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Final

from tests.golden.described import Described, load_object
from tests.golden.profiles import is_below_v1, version_of

_EXPECT_SUFFIX: Final = ".expect.json"
_TRACE_SUFFIX: Final = ".jsonl"
_READ_PREFIX: Final = "READ-"
_V1_KEY: Final = "device_ids_in_file_order"


class Kind(Enum):
    """Kinds of recordings."""

    CHECKPOINT = "checkpoint"
    CORRUPT = "corrupt"
    READ_LIST = "read list"
    TRACE = "trace"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class Recording:
    """One recording.

    Attributes:
        path: The trace, the list, or the description (`.expect.json`).
        described: The description, or the items of the list; empty for a trace.
        problem: Why an unreadable file cannot be one of the others.
    """

    kind: Kind
    path: Path
    described: tuple[Described, ...] = ()
    problem: str = ""

    @property
    def file(self) -> Path | None:
        """The described file; None for a case without one."""
        name = str(self.described[0].get("file", "-"))
        if not name:
            return None
        return self.path.with_name(self.path.name.removesuffix(_EXPECT_SUFFIX) + ".json")

    @property
    def is_v1(self) -> bool:
        """Whether a kubelet up to 1.19 wrote the described file."""
        entries = self.described[0].get("entries_in_file_order")
        described = entries if isinstance(entries, list) else []
        return is_below_v1(self.path) or any(_V1_KEY in entry for entry in described)

    @property
    def version(self) -> str:
        """The recorded version: that of a trace's header, else that of the folder."""
        if self.kind is Kind.TRACE:
            with self.path.open(encoding="utf-8") as lines:
                header = json.loads(lines.readline())
            if "kubernetes" in header:
                return str(header["kubernetes"]).removeprefix("v")
        return version_of(self.path)


def find(paths: Iterable[Path]) -> Iterator[Recording]:
    """Yield all recordings below the paths, each once, in the order of their names."""
    seen: set[Path] = set()
    for path in paths:
        for file in sorted([path] if path.is_file() else _files(path)):
            resolved = file.resolve()
            if resolved not in seen and file.is_file():
                seen.add(resolved)
                yield from _recordings(file)


def _files(folder: Path) -> Iterator[Path]:
    """Yield the files below a folder, also where links lead; each folder once."""
    seen: set[Path] = set()
    for name, below, files in os.walk(folder, followlinks=True):
        here = Path(name)
        if here.resolve() in seen:
            below.clear()
            continue
        seen.add(here.resolve())
        below.sort()
        yield from (here / each for each in files)


def _recordings(file: Path) -> Iterator[Recording]:
    try:
        yield from _by_content(file)
    except (TypeError, ValueError) as error:
        yield Recording(Kind.UNREADABLE, file, problem=f"not a recording: {error}")


def _by_content(file: Path) -> Iterator[Recording]:
    if file.suffix == _TRACE_SUFFIX:
        yield Recording(Kind.TRACE, file)
    elif file.name.endswith(_EXPECT_SUFFIX):
        expect = load_object(file)
        kind = Kind.CORRUPT if "accepted" in expect else Kind.CHECKPOINT
        yield Recording(kind, file, (expect,))
    elif file.name.startswith(_READ_PREFIX) and file.suffix == ".json":
        items: list[Described] = json.loads(file.read_text(encoding="utf-8"))
        yield Recording(Kind.READ_LIST, file, tuple(items))
