"""Which files are offered as which resource: patterns, and what they find."""

from __future__ import annotations

import glob
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from simulator.core.resources import is_extended_resource_name
from simulator.errors import ConfigError

_DEV: Final = "/dev/"
_ID_MAX: Final = 56
"""Characters of the longest id before the number of a share."""


@dataclass(frozen=True, slots=True)
class FilePattern:
    """Files that become devices of a resource.

    Attributes:
        pattern: An absolute path, or one with `*`, `?` or `[…]`.
    """

    pattern: str
    resource: str

    @property
    def is_literal(self) -> bool:
        """Whether it can mean one path only, which is a device even while it is missing."""
        return not glob.has_magic(self.pattern)

    def paths(self) -> list[str]:
        """Return the paths that are there, sorted."""
        if self.is_literal:
            return [self.pattern] if _is_there(self.pattern) else []
        found = glob.glob(self.pattern)  # noqa: PTH207 - Path.glob takes no absolute pattern
        return sorted(path for path in found if _is_there(path))


def _is_there(path: str) -> bool:
    """Tell whether there is a file; what cannot be looked at is none."""
    try:
        Path(path).stat()
    except (OSError, ValueError):
        return False
    return True


def read_pattern(text: str) -> FilePattern:
    """Read `PATH=RESOURCE`, such as `/dev/ttyUSB*=example.com/serial`.

    Raises:
        ConfigError: It has another form, the path is not absolute, or the name is no extended
            resource's (S1.15).
    """
    pattern, equals, resource = text.rpartition("=")
    if not equals or not pattern:
        reason = f"{text!r} is not PATH=RESOURCE, such as /dev/ttyUSB*=example.com/serial"
        raise ConfigError(reason)
    if not pattern.startswith("/"):
        reason = f"the path {pattern!r} is not absolute; write it from / on"
        raise ConfigError(reason)
    if not is_extended_resource_name(resource):
        reason = (
            f"{resource!r} is not an extended resource name; write one such as example.com/serial"
        )
        raise ConfigError(reason)
    return FilePattern(pattern, resource)


def device_id_of(path: str) -> str:
    """Return the id of a file's device: `ttyUSB0` for `/dev/ttyUSB0`, else the whole path.

    What is longer than ids should be (S1.5) keeps its end, behind a number made of all of it.
    """
    name = path.removeprefix(_DEV)
    id_ = path if not name or name.startswith("/") else name
    if len(id_) <= _ID_MAX:
        return id_
    return f"{zlib.crc32(path.encode()):08x}-{id_[-_ID_MAX + 9 :]}"


def by_resource(patterns: Sequence[FilePattern]) -> dict[str, tuple[FilePattern, ...]]:
    """Return the patterns of each resource, in the order of their first mention."""
    resources = dict.fromkeys(pattern.resource for pattern in patterns)
    return {
        resource: tuple(pattern for pattern in patterns if pattern.resource == resource)
        for resource in resources
    }
