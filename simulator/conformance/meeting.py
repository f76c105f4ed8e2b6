"""The checks of how plugin and kubelet meet: registration, options, lists of devices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Final

from simulator.conformance.bench import Bench, healthy_in
from simulator.conformance.ledger import Ledger
from simulator.core.devices import HEALTHY, UNHEALTHY, Device
from simulator.core.plurals import counted
from simulator.reports.text import named, printable
from simulator.rig.tap import Registration

ID_LENGTH_MAX: Final = 63
"""Longest device id that the API allows, in characters (S1.5)."""
_OPTIONS_FAILED: Final = "failed to get device plugin options"


def meet(bench: Bench, ledger: Ledger) -> None:
    """Let the plugin and then its kubelet start, and judge the registration (S1.12)."""
    exited = bench.left_alone()
    bench.rig.start()
    late = ""
    if exited is not None:
        late = f"without a kubelet the plugin exits: {bench.plugin.story()}"
    elif not _is_called(bench):
        late = f"it does not register within {bench.deadlines.answer:g}s when the kubelet comes"
        bench.plugin.kill()
    if late:
        bench.plugin.start()
        if not _is_called(bench):
            what = f" {bench.resource}" if bench.resource else ""
            seen = f"it does not register{what} within {bench.deadlines.answer:g}s"
            others = {each.request.resource_name: None for each in bench.kubelet.tap.registrations}
            if others:
                seen += f", but {named([printable(other) for other in others])}"
            ledger.failed("register", f"{seen}; {bench.plugin.story()}")
            return
    ledger.passed("register", "it calls Register")
    _judge_registration(bench, ledger)
    if ledger.applies("early-start"):
        ledger.judge("early-start", late, "it waited for the kubelet")


def judge_lists(bench: Bench, ledger: Ledger) -> None:
    """Wait for the lists of devices and judge them (S1.17 to S1.21)."""
    within = f"within {bench.deadlines.answer:g}s"
    if ledger.applies("list-size"):
        bench.until(lambda: _has_come(bench.present()), bench.deadlines.answer)
        present = bench.present()
        oversize = "" if present is None else present.oversize
        size = max((len(each) for each in present.lists), default=0) if present else 0
        ledger.judge("list-size", oversize, f"the longest list has {counted(size, 'device')}")
    if ledger.applies("first-list"):
        present = bench.present()
        came = present is not None and present.lists
        ledger.judge("first-list", "" if came else f"no list came {within}", "a list came")
    if ledger.applies("devices-listed"):
        bench.until(lambda: bool(healthy_in(bench.present())), bench.deadlines.answer)
        healthy = healthy_in(bench.present())
        ledger.judge(
            "devices-listed",
            "" if healthy else f"no healthy device was listed {within}",
            f"{counted(len(healthy), 'healthy device')}",
        )
    for name, faults in _FAULTS_IN_LISTS.items():
        if ledger.applies(name):
            lists = [each for found in bench.registrations() for each in found.lists]
            fault = next(filter(None, map(faults, lists)), "")
            ledger.judge(name, fault, f"in {counted(len(lists), 'list')}")


def watch_quietly(bench: Bench, ledger: Ledger) -> None:
    """Watch for a while what happens when nothing is done (S1.22, R21)."""
    if ledger.has_passed("devices-listed"):
        bench.until(
            lambda: bool(ended_streams(bench) or two_instances(bench)), bench.deadlines.quiet
        )
    judge_streams(bench, ledger)


def judge_streams(bench: Bench, ledger: Ledger) -> None:
    """Judge what was seen of streams and endpoints so far."""
    if ledger.applies("one-endpoint"):
        ledger.judge("one-endpoint", _shared_endpoint(bench), "each resource has its own socket")
    if ledger.applies("one-instance"):
        ledger.judge("one-instance", two_instances(bench), "one socket at a time")
    if ledger.applies("stream-kept"):
        ledger.judge("stream-kept", ended_streams(bench), "no stream ended by itself")


def ended_streams(bench: Bench) -> str:
    """Return which stream the plugin ended, without being replaced or disturbed; empty if none."""
    seen = bench.kubelet.tap.registrations
    for index, each in enumerate(seen):
        is_newest = all(
            other.request.resource_name != each.request.resource_name
            or other.kubelet != each.kubelet
            or other.at > (each.ended or 0.0)
            for other in seen[index + 1 :]
        )
        if each.ended_by_plugin and each not in bench.disturbed and is_newest:
            lasted = (each.ended or each.at) - each.at
            return (
                f"it ended the stream of {each.request.resource_name} after {lasted:.1f}s: "
                f"{each.end}"
            )
    return ""


def two_instances(bench: Bench) -> str:
    """Return which resource was registered from two sockets at a time; empty if none."""
    seen = bench.kubelet.tap.registrations
    for index, new in enumerate(seen):
        for old in seen[:index]:
            if (
                old.request.resource_name == new.request.resource_name
                and old.kubelet == new.kubelet
                and old.request.endpoint != new.request.endpoint
                and old.is_accepted
                and (old.ended is None or old.ended > new.at)
                and old not in bench.disturbed
            ):
                return (
                    f"{new.request.resource_name} is registered from {new.request.endpoint} "
                    f"while {old.request.endpoint} is connected"
                )
    return ""


def _is_called(bench: Bench) -> bool:
    return bench.until(lambda: bool(bench.registrations()), bench.deadlines.answer)


def _judge_registration(bench: Bench, ledger: Ledger) -> None:
    """Wait for the answer to Register, and judge what it was about (S1.12)."""

    def is_answered() -> bool:
        return any(each.is_accepted for each in bench.registrations())

    bench.until(is_answered, bench.deadlines.answer)
    answered = [each for each in bench.registrations() if each.answer is not None]
    found = bench.present() or (answered or bench.registrations())[-1]
    about_options = isinstance(found.options, str)
    if found.is_accepted:
        what = f"{found.request.resource_name} at {found.request.endpoint}"
        ledger.passed("register-accepted", printable(what))
        ledger.passed("options", _options_text(found))
        bench.resource = bench.resource or found.request.resource_name
    elif about_options and str(found.options).startswith(_OPTIONS_FAILED):
        ledger.failed("options", printable(str(found.options)))
        ledger.not_applicable("register-accepted", "it is refused for its options")
    elif found.answer is None and found.dialed:
        ledger.failed("options", f"not answered within {bench.deadlines.answer:g}s")
        ledger.not_applicable("register-accepted", "the kubelet waits for its options")
    else:
        ledger.failed("register-accepted", printable(found.answer or "the kubelet cannot dial it"))
        ledger.not_applicable("options", "the kubelet does not ask for them")


def _options_text(found: Registration) -> str:
    options = found.options
    if options is None or isinstance(options, str):
        return "this kubelet takes them from the registration"
    wanted = [
        name
        for name, is_wanted in (
            ("PreStartContainer", options.pre_start_required),
            ("GetPreferredAllocation", options.preferred_allocation),
        )
        if is_wanted
    ]
    return f"it wants {' and '.join(wanted) or 'neither of the optional calls'}"


def _has_come(present: Registration | None) -> bool:
    return present is not None and bool(present.lists or present.oversize)


def _shared_endpoint(bench: Bench) -> str:
    users: dict[tuple[int, str], str] = {}
    for each in bench.kubelet.tap.registrations:
        request = each.request
        first = users.setdefault((each.kubelet, request.endpoint), request.resource_name)
        if first != request.resource_name:
            return f"{request.endpoint} is registered for {first} and {request.resource_name}"
    return ""


def _invalid_ids(devices: tuple[Device, ...]) -> str:
    wrong = [each.id for each in devices if not 1 <= len(each.id) <= ID_LENGTH_MAX]
    lengths = [f"{printable(id_[:20])!r} has {counted(len(id_), 'character')}" for id_ in wrong]
    return named(lengths)


def _repeated_ids(devices: tuple[Device, ...]) -> str:
    seen = Counter(each.id for each in devices)
    return named(
        [f"{printable(id_)} is listed {times} times" for id_, times in seen.items() if times > 1]
    )


def _odd_health(devices: tuple[Device, ...]) -> str:
    odd = [each for each in devices if each.health not in {HEALTHY, UNHEALTHY}]
    return named([f"{printable(each.id)} is {printable(each.health)!r}" for each in odd])


_FAULTS_IN_LISTS: Final[Mapping[str, Callable[[tuple[Device, ...]], str]]] = {
    "ids-valid": _invalid_ids,
    "ids-unique": _repeated_ids,
    "health-words": _odd_health,
}
