"""The table of faults: what a mode does, where it was seen, and which checks of `conform` it fails.

A mode that fails no check does what the API allows, or what only others on the node feel.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from plugins.faulty.answering import ANSWERING
from plugins.faulty.listing import LISTING
from plugins.faulty.mode import Mode
from plugins.faulty.registering import REGISTERING

MODES: Final[Mapping[str, Mode]] = MappingProxyType(
    {mode.name: mode for mode in (*REGISTERING, *LISTING, *ANSWERING)}
)
"""Every mode by its name."""
