"""What a recorded choice says of the choosing itself: how far it went, and out of which groups.

A naive model of steps G to L (S3.17 to S3.20), fed with what the device manager knew and did.
"""

from __future__ import annotations

from collections.abc import Sequence

from simulator.core.devices import DeviceId
from tests.golden.trace_reading import Json

NOTHING_CHOSEN: Json = {
    "path": "",
    "chosen": None,
    "tiers": None,
    "tier_names": None,
    "free_choice": False,
}


def described(
    known: Json, preferred: Sequence[DeviceId] | None, chosen: Sequence[DeviceId] | None
) -> Json:
    """Describe a choice as recordings do.

    Args:
        known: What the device manager knew before, in the words of the recording.
        preferred: The ids that the plugin preferred; None when it was not asked.
        chosen: The ids that Allocate was sent with; None when it was not.
    """
    if chosen is None:
        return NOTHING_CHOSEN
    path, tiers = _tiers(known, preferred)
    return {
        "path": path,
        "chosen": sorted(chosen),
        "tiers": list(tiers.values()),
        "tier_names": list(tiers),
        "free_choice": _is_free(list(tiers.values()), known["requested"]),
    }


def _tiers(
    known: Json, preferred: Sequence[DeviceId] | None
) -> tuple[str, dict[str, list[DeviceId]]]:
    tiers = {"reusable": known["reusable"]}
    missing = known["requested"] - len(known["reusable"])
    if missing <= 0:
        return "reuse", tiers
    if missing < len(known["aligned"]):
        if preferred is not None:
            tiers["preferred&aligned"] = _both(preferred, known["aligned"])
        return "aligned_subset", {**tiers, "aligned": known["aligned"]}
    tiers["aligned"] = known["aligned"]
    if missing > len(known["aligned"]):
        if preferred is not None:
            tiers["preferred&available"] = _both(preferred, known["available"])
        tiers |= {"unaligned": known["unaligned"], "no_affinity": known["no_affinity"]}
    return "aligned_all", tiers


def _both(preferred: Sequence[DeviceId], group: Sequence[DeviceId]) -> list[DeviceId]:
    return sorted({*preferred} & {*group})


def _is_free(tiers: Sequence[Sequence[DeviceId]], requested: int) -> bool:
    """Tell whether one tier was taken in part."""
    taken: set[DeviceId] = set()
    for tier in tiers:
        left = {*tier} - taken
        if len(left) > requested - len(taken):
            return len(taken) < requested
        taken |= left
    return False
