"""Kubelet version strings, as releases and distributions write them, and their order."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from typing_extensions import override

from simulator.errors import ConfigError

_VERSION: Final = re.compile(
    r"v?(?P<major>0|[1-9]\d{0,2})\.(?P<minor>0|[1-9]\d{0,2})"
    r"(?:\.(?P<patch>0|[1-9]\d{0,3})(?:[-+][0-9A-Za-z.+~_-]+)?)?",
    re.ASCII,
)
_SHOWN_MAX: Final = 40
NEWEST_PATCH: Final = 10_000
"""The patch that a minor version without one stands for: later than every back-port."""


@dataclass(frozen=True, slots=True, order=True)
class KubeletVersion:
    """A release; `1.24` alone stands for the newest patch of that minor version.

    What follows the patch (`-rc.1`, `+k3s1`, `-gke.100`) names a build of that release, which
    behaves like it.
    """

    minor: int
    patch: int = NEWEST_PATCH

    def is_at_least(self, since: KubeletVersion, backports: tuple[KubeletVersion, ...]) -> bool:
        """Tell whether a change of release `since`, ported back to `backports`, is in this one."""
        return self >= since or any(
            self.minor == port.minor and self.patch >= port.patch for port in backports
        )

    @override
    def __str__(self) -> str:
        """Return the version without a `v`."""
        return f"1.{self.minor}" if self.patch == NEWEST_PATCH else f"1.{self.minor}.{self.patch}"


def parse_version(text: str) -> KubeletVersion:
    """Read a version such as `1.27.2`, `v1.31.3+k3s1`, `1.36.0-rc.1` or `1.24`.

    Raises:
        ConfigError: It is none, or not one of Kubernetes 1.
    """
    match = _VERSION.fullmatch(text)
    if match is None or match["major"] != "1":
        shown = text if len(text) <= _SHOWN_MAX else f"{text[:_SHOWN_MAX]}…"
        message = (
            f"{shown!r} is not a kubelet version; write one such as 1.36.2, v1.31.3+k3s1 or 1.24"
        )
        raise ConfigError(message)
    patch = match["patch"]
    return KubeletVersion(int(match["minor"]), NEWEST_PATCH if patch is None else int(patch))
