"""Switches that only the wire, the API or a limiter can show, and which issue will (details 6)."""

from __future__ import annotations

from typing import Final

API: Final = "issue 5, API-backed state and the benchmark"

OWED: Final = {
    "api_qps": API,
    "api_burst": API,
    "event_qps": API,
    "event_burst": API,
}
