"""The check of how a plugin tells that a device broke, and that it is whole again (R24)."""

from __future__ import annotations

from collections.abc import Callable

from simulator.conformance.bench import Bench
from simulator.conformance.ledger import Ledger
from simulator.core.devices import HEALTHY, Device, DeviceId
from simulator.rig.tap import Registration


def change_health(
    bench: Bench,
    ledger: Ledger,
    break_device: Callable[[], None] | None,
    mend_device: Callable[[], None] | None,
) -> None:
    """Let a device break and be whole again, and judge what is listed meanwhile."""
    if not ledger.applies("health-change"):
        return
    before = bench.present()
    if break_device is None or mend_device is None or before is None:
        _judge_by_itself(bench, ledger)
        return
    within = f"within {bench.deadlines.answer:g}s"
    listed = {device.id for device in before.devices}
    was_ill = _ill(before)
    break_device()
    if not bench.until(lambda: bool(_ill(bench.present()) - was_ill), bench.deadlines.answer):
        gone = listed - {device.id for device in _devices(bench.present())}
        fault = f"no device is listed as unhealthy {within}"
        if gone:
            fault = f"{', '.join(sorted(gone))}: not listed any more instead of unhealthy"
        ledger.failed("health-change", fault)
        mend_device()
        return
    broken = sorted(_ill(bench.present()) - was_ill)
    mend_device()
    mended = bench.until(lambda: not _ill(bench.present()) - was_ill, bench.deadlines.answer)
    fault = "" if mended else f"{', '.join(broken)}: not listed as healthy again {within}"
    ledger.judge("health-change", fault, f"{', '.join(broken)} was unhealthy for a while")


def _judge_by_itself(bench: Bench, ledger: Ledger) -> None:
    """Judge by changes that came by themselves, if there were any."""
    seen: dict[DeviceId, set[str]] = {}
    for registration in bench.registrations():
        for devices in registration.lists:
            for device in devices:
                seen.setdefault(device.id, set()).add(device.health)
    changed = [id_ for id_, words in seen.items() if len(words) > 1]
    if changed:
        ledger.passed("health-change", f"{changed[0]} was healthy and unhealthy, always listed")
    else:
        ledger.not_applicable("health-change", "no command is given that breaks a device")


def _devices(registration: Registration | None) -> tuple[Device, ...]:
    return () if registration is None else registration.devices


def _ill(registration: Registration | None) -> set[DeviceId]:
    return {each.id for each in _devices(registration) if each.health != HEALTHY}
