"""The profiles that come with Rebind: `benchmarks/profiles/library/NAME.yaml`, one in each file."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from scenarios.files.library import Library
from simulator.errors import ProfileError

_LIBRARY: Final = Library(
    Path(__file__).parent / "library", "preset", "rebind bench list", ProfileError
)


def preset_names() -> tuple[str, ...]:
    """Return the names of the presets, sorted."""
    return _LIBRARY.names()


def find_profile(name: str) -> Path:
    """Return the file that `PRESET|FILE` on the command line means.

    Raises:
        ProfileError: There is no such preset.
    """
    return _LIBRARY.find(name)
