"""The checks of how devices are given to containers."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import Final

from simulator.conformance.bench import Bench, healthy_in
from simulator.conformance.ledger import Ledger
from simulator.core.allocate_response import AllocateResponse, decode
from simulator.core.calls import (
    AllocateCall,
    AllocateReply,
    CallFailed,
    PreferredAllocationCall,
    PreferredAllocationReply,
    PreStartContainerCall,
)
from simulator.core.devices import DeviceId
from simulator.core.endpoints import PluginOptions
from simulator.core.plurals import counted
from simulator.reports.text import named, printable
from simulator.rig.outcomes import KubeletPanickedError, NotInTimeError, PodRefusedError
from simulator.rig.tap import Exchange

_VARIABLE_MAX: Final = 128 * 1024
"""Longest `NAME=value` that a program can be started with, in bytes (R67)."""
_CDI_NAME: Final = re.compile(r"[a-z0-9][a-z0-9.-]*/[A-Za-z0-9][A-Za-z0-9_.-]*=[^\s=]+")


@dataclass(frozen=True, slots=True)
class Given:
    """What came of one pod.

    Attributes:
        exchanges: The calls that were made for it.
        problem: Why it did not start; empty if it did.
    """

    exchanges: tuple[Exchange, ...]
    problem: str

    def of(
        self, kind: type[AllocateCall | PreferredAllocationCall | PreStartContainerCall]
    ) -> list[Exchange]:
        """Return the calls of one kind."""
        return [each for each in self.exchanges if isinstance(each.call, kind)]


def give(bench: Bench, ledger: Ledger) -> None:
    """Create pods that want devices, and judge the calls that are made for them."""
    if not bench.resource or not healthy_in(bench.present()):
        return
    one = _pod(bench, 1)
    pods = [one]
    if len(healthy_in(bench.present())) > 2 and not one.problem:  # noqa: PLR2004 - one to keep, one more, one left over
        pods.append(_pod(bench, 2, init=1))
    if ledger.applies("preferred-allocation"):
        _judge_preferred(bench, ledger, pods)
    if ledger.applies("allocate-one"):
        ledger.judge("allocate-one", _fault(one), "the container has its device")
    if ledger.applies("response-usable"):
        _judge_response(ledger, one)
    if ledger.applies("pre-start"):
        _judge_pre_start(ledger, one)
    if ledger.applies("allocate-again"):
        pods += [_pod(bench, 1, init=1), _pod(bench, 1)]
        fault = next(filter(None, map(_fault, pods)), "")
        ledger.judge("allocate-again", fault, _repetitions(pods))
    if ledger.applies("allocate-all"):
        _judge_all(bench, ledger)
    if ledger.has_failed("allocate-one"):
        bench.start_afresh()


def give_again(bench: Bench) -> str:
    """Create a pod after a restart; returns what went wrong."""
    return _fault(_pod(bench, 1))


def _pod(bench: Bench, count: int, *, init: int = 0) -> Given:
    """Create a pod, and delete it again; a plugin that does not answer is started afresh."""
    before = len(bench.kubelet.calls)
    name = f"conform-{before}-{count}-{init}"
    problem = ""
    is_stuck = False
    try:
        bench.kubelet.allocate(
            bench.resource, count, pod=name, init=init, timeout=bench.deadlines.answer
        )
    except PodRefusedError as refusal:
        problem = f"{refusal.reason}: {refusal.message}"
    except KubeletPanickedError as panic:
        problem, is_stuck = str(panic), True
    except NotInTimeError:
        problem, is_stuck = f"it did not start within {bench.deadlines.answer:g}s", True
    given = Given(tuple(replace(each) for each in bench.kubelet.calls[before:]), problem)
    bench.kubelet.delete(name, force=is_stuck)
    if is_stuck:
        # The kubelet waits, and every other pod with it, until the plugin's end fails the call.
        bench.start_afresh()
    return given


def _fault(given: Given) -> str:
    """Return what is wrong with the Allocate calls of a pod."""
    calls = given.of(AllocateCall)
    for each in calls:
        if each.reply is None:
            return f"Allocate was not answered within {each.seconds:.1f}s"
        if isinstance(each.reply, CallFailed):
            return printable(each.reply.message)
        if isinstance(each.reply, AllocateReply) and each.reply.response is None:
            return "Allocate was answered without a container response"
    pre_start = [each for each in given.of(PreStartContainerCall) if not _is_answered(each)]
    if given.problem and not pre_start:
        return printable(given.problem)
    return ""


def _judge_preferred(bench: Bench, ledger: Ledger, pods: list[Given]) -> None:
    present = bench.present()
    options = None if present is None else present.options
    if isinstance(options, PluginOptions) and not options.preferred_allocation:
        ledger.not_applicable("preferred-allocation", "it does not want to be asked")
        return
    calls = [each for given in pods for each in given.of(PreferredAllocationCall)]
    fault = next(filter(None, map(_preference_fault, calls)), "")
    ledger.judge("preferred-allocation", fault, f"{counted(len(calls), 'answer')}")


def _preference_fault(exchange: Exchange) -> str:
    call, reply = exchange.call, exchange.reply
    if reply is None:
        return f"GetPreferredAllocation was not answered within {exchange.seconds:.1f}s"
    if isinstance(reply, CallFailed):
        return printable(reply.message)
    if not isinstance(call, PreferredAllocationCall) or not isinstance(
        reply, PreferredAllocationReply
    ):
        return ""
    return _choice_fault(call, reply.devices) if reply.devices else ""


def _choice_fault(call: PreferredAllocationCall, chosen: tuple[DeviceId, ...]) -> str:
    """Return what is wrong with a preference that is not empty."""
    stray = [printable(id_) for id_ in chosen if id_ not in call.available]
    if stray:
        return f"{named(stray)}: preferred, but not available"
    missing = [printable(id_) for id_ in call.must_include if id_ not in chosen]
    if missing:
        return f"{named(missing)}: to be included, but not preferred"
    count = len(set(chosen))
    if count != call.size or count != len(chosen):
        return f"it prefers {counted(count, 'device')} where {call.size} are asked for"
    return ""


def _judge_response(ledger: Ledger, given: Given) -> None:
    faults: list[str] = []
    for each in given.of(AllocateCall):
        if isinstance(each.reply, AllocateReply) and each.reply.response is not None:
            faults += _unusable(decode(each.reply.response))
    ledger.judge("response-usable", printable("; ".join(faults[:5])), "a container starts with it")


def _unusable(response: AllocateResponse) -> list[str]:
    """Return what keeps a container from starting with an answer."""
    faults = []
    for name, value in response.envs.items():
        if not name or "=" in name or "\0" in name + value:
            faults.append(f"environment variable {name!r} cannot be set")
        elif len(f"{name}={value}".encode()) >= _VARIABLE_MAX:
            faults.append(f"environment variable {name} is longer than {_VARIABLE_MAX} bytes")
    paths = [
        ("mount", path)
        for mount in response.mounts
        for path in (mount.container_path, mount.host_path)
    ]
    paths += [
        ("device", path)
        for device in response.devices
        for path in (device.container_path, device.host_path)
    ]
    faults += [f"{kind} path {path!r} is not absolute" for kind, path in paths if path[:1] != "/"]
    faults += [
        f"permissions {device.permissions!r} of {device.host_path} are not of r, w and m"
        for device in response.devices
        if not device.permissions or not set(device.permissions) <= set("rwm")
    ]
    faults += [
        f"CDI device {name!r} is not of the form vendor/class=name"
        for name in response.cdi_devices
        if not _CDI_NAME.fullmatch(name)
    ]
    return faults


def _judge_all(bench: Bench, ledger: Ledger) -> None:
    before = bench.present()
    lists = 0 if before is None else len(before.lists)
    count = len(healthy_in(before))
    every = _pod(bench, count)
    fault = _fault(every)
    after = bench.present()
    if fault and not every.of(AllocateCall) and after is not None and len(after.lists) != lists:
        ledger.not_applicable("allocate-all", "the healthy devices change all the time")
    else:
        ledger.judge("allocate-all", fault, f"a container has {counted(count, 'device')}")


def _judge_pre_start(ledger: Ledger, given: Given) -> None:
    calls = given.of(PreStartContainerCall)
    if not calls:
        ledger.not_applicable("pre-start", "it does not want to be called")
        return
    call = calls[0]
    if call.reply is None:
        fault = f"PreStartContainer was not answered within {call.seconds:.1f}s"
    else:
        fault = printable(call.reply.message) if isinstance(call.reply, CallFailed) else ""
    ledger.judge("pre-start", fault, "it was called before the start")


def _is_answered(exchange: Exchange) -> bool:
    return exchange.reply is not None and not isinstance(exchange.reply, CallFailed)


def _repetitions(pods: list[Given]) -> str:
    times = Counter(
        id_
        for given in pods
        for each in given.of(AllocateCall)
        if isinstance(each.call, AllocateCall)
        for id_ in each.call.devices
    )
    again = sum(1 for each in times.values() if each > 1)
    return f"{counted(again, 'device')} allocated again"
