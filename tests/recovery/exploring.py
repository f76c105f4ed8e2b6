"""Run a scenario once as it is, and then once for every call and every fate of that call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from simulator.core.api_calls import (
    ApiCall,
    AwaitEcho,
    BindDevices,
    BindManyDevices,
    GetDeviceBinding,
    ListDeviceBindings,
    PutDeviceBinding,
    RemoveDeviceBinding,
)
from simulator.core.behavior import Readmission, Reservations
from simulator.core.calls import (
    AllocateCall,
    Call,
    PreferredAllocationCall,
    PreStartContainerCall,
)
from simulator.core.machine import TopologyPolicy
from simulator.core.resources import ResourceName
from tests.core.driving import pod
from tests.recovery.node import Node, StateForgotten, Strategy
from tests.recovery.outside import STORE_CALLS, Cut, Durable, Fate, Outside

API_CALLS = (
    BindDevices,
    BindManyDevices,
    AwaitEcho,
    PutDeviceBinding,
    GetDeviceBinding,
    RemoveDeviceBinding,
    ListDeviceBindings,
)
ANY_CALL = (
    *STORE_CALLS,
    *API_CALLS,
    AllocateCall,
    PreferredAllocationCall,
    PreStartContainerCall,
)


@dataclass(frozen=True)
class Story:
    """A scenario and the policies under which it is played."""

    play: Callable[[Node], None]
    policy: TopologyPolicy = TopologyPolicy.NONE
    readmission: Readmission = Readmission.UPSTREAM


@dataclass(frozen=True)
class Setup:
    """What a scenario runs on.

    Attributes:
        durable: Makes an empty durable state.
        strategy: Makes the persistence of one kubelet process.
    """

    durable: Callable[[], Durable]
    strategy: Strategy
    reservations: Reservations


@dataclass
class Exploration:
    """What came of all runs.

    Attributes:
        calls: The calls of the run without a cut.
        runs: Number of runs, that one included.
        findings: Broken promises, each with its cut.
        forgotten: Cuts after which the kubelet started empty (S4.12).
    """

    calls: list[Call] = field(default_factory=list)
    runs: int = 0
    findings: list[str] = field(default_factory=list)
    forgotten: list[Cut] = field(default_factory=list)


def explore(story: Story, setup: Setup, kinds: tuple[type[Call], ...] = ANY_CALL) -> Exploration:
    """Cut a scenario at every call of these kinds."""
    outcome = Exploration()
    uncut = Outside(setup.durable())
    _run(story, setup, uncut, outcome, None)
    outcome.calls = uncut.calls
    for number, call in enumerate(uncut.calls, start=1):
        for fate in _fates(call) if isinstance(call, kinds) else ():
            cut = Cut(number, fate)
            _run(story, setup, Outside(setup.durable(), cut), outcome, cut)
    return outcome


def _fates(call: Call) -> list[Fate]:
    return [fate for fate in Fate if fate is not Fate.REPLY_LOST or isinstance(call, ApiCall)]


def _run(
    story: Story, setup: Setup, outside: Outside, outcome: Exploration, cut: Cut | None
) -> None:
    outcome.runs += 1
    try:
        findings = _play(story, setup, outside)
    except StateForgotten:
        assert cut is not None
        outcome.forgotten.append(cut)
        return
    at = "uncut" if cut is None else f"{outside.calls[cut.number - 1]}: {cut.fate.value}"
    outcome.findings += [f"{at}: {finding}" for finding in findings]


def run_once(story: Story, setup: Setup, cut: Cut) -> list[str]:
    """Return the findings of one run; a state that was forgotten by rule makes none."""
    try:
        return _play(story, setup, Outside(setup.durable(), cut))
    except StateForgotten:
        return []


def _play(story: Story, setup: Setup, outside: Outside) -> list[str]:
    node = Node(
        setup.strategy,
        setup.reservations,
        outside,
        policy=story.policy,
        readmission=story.readmission,
    )
    story.play(node)
    if setup.reservations is Reservations.TRANSACTIONAL:
        _probe(node)
    return node.findings


def _probe(node: Node) -> None:
    """Ask for every device that must be free, one by one, so that no topology policy objects.

    Each is asked for twice if need be, since a cut may fall into the first time.
    """
    node.release()
    for resource, count in node.free_devices().items():
        for number in range(count):
            uids = [f"{resource} {number} try {attempt}" for attempt in (1, 2)]
            if not any(_is_given(node, uid, resource) for uid in uids):
                node.findings.append(f"{count} of {resource} should be free, {number} are")
                break


def _is_given(node: Node, uid: str, resource: ResourceName) -> bool:
    node.create(pod(uid, {resource: 1}))
    return node.is_announced(uid)
