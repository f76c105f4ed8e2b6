"""Switches that only the wire, the API or a limiter can show, and which issue will (details 6)."""

from __future__ import annotations

from typing import Final

LIVE_NODE: Final = "issue 4, the live node"
API: Final = "issue 5, API-backed state and the benchmark"

OWED: Final = {
    "registration_health_needs_start": LIVE_NODE,
    "api_qps": API,
    "api_burst": API,
    "event_qps": API,
    "event_burst": API,
}
