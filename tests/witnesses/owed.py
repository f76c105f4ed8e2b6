"""Switches that only the wire, the API or a limiter can show, and which issue will (details 6)."""

from __future__ import annotations

from typing import Final

OWED: Final[dict[str, str]] = {}
