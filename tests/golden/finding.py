"""Finding recordings below a path, by what they hold."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Final

from tests.golden.described import Described
from tests.golden.profiles import version_of

_EXPECT_SUFFIX: Final = ".expect.json"
_TRACE_SUFFIX: Final = ".jsonl"
_READ_PREFIX: Final = "READ-"
_V1_FOLDER: Final = "v1"


class Kind(Enum):
    """Kinds of recordings."""

    CHECKPOINT = "checkpoint"
    CORRUPT = "corrupt"
    READ_LIST = "read list"
    TRACE = "trace"


@dataclass(frozen=True, slots=True)
class Recording:
    """One recording.

    Attributes:
        path: The trace, the list, or the description (`.expect.json`).
        described: The description, or the items of the list; empty for a trace.
    """

    kind: Kind
    path: Path
    described: tuple[Described, ...] = ()

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
        return _V1_FOLDER in self.path.resolve().parts

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
        for file in sorted([path] if path.is_file() else path.rglob("*")):
            resolved = file.resolve()
            if resolved in seen or not file.is_file():
                continue
            seen.add(resolved)
            yield from _recordings(file)


def _recordings(file: Path) -> Iterator[Recording]:
    if file.suffix == _TRACE_SUFFIX:
        yield Recording(Kind.TRACE, file)
    elif file.name.endswith(_EXPECT_SUFFIX):
        expect: Described = json.loads(file.read_text(encoding="utf-8"))
        kind = Kind.CORRUPT if "accepted" in expect else Kind.CHECKPOINT
        yield Recording(kind, file, (expect,))
    elif file.name.startswith(_READ_PREFIX) and file.suffix == ".json":
        yield Recording(Kind.READ_LIST, file, tuple(json.loads(file.read_text(encoding="utf-8"))))
