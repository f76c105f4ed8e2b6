"""No cut costs a promise of a strategy that keeps device bindings in the API (designs 3.4).

Beside the three ways in which any call is cut, the server may carry out a request of which the
kubelet never hears (W6). What a pod was announced to have is what the API, or the file beside it,
says from before its first container on; ids only, for responses are not kept there.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from _pytest.mark.structures import ParameterSet

from simulator.core.api_calls import (
    BindDevices,
    BindManyDevices,
    GetDeviceBinding,
    ListDeviceBindings,
    PutDeviceBinding,
    RemoveDeviceBinding,
)
from simulator.core.behavior import Behavior, Reservations
from simulator.core.instants import SECOND, Duration
from simulator.core.persistence.bind_resource import BindResourcePersistence
from simulator.core.persistence.binding_object import BindingObjectPersistence
from simulator.core.persistence.checkpoint_api import CheckpointApiPersistence
from simulator.core.persistence.pod_status import PodStatusPersistence
from tests.recovery.api import InTheApi
from tests.recovery.exploring import Setup, explore
from tests.recovery.node import Strategy
from tests.recovery.scenarios import STORIES


def flushed(*, bulk: bool = False) -> CheckpointApiPersistence:
    return CheckpointApiPersistence(Behavior(), flush_period=Duration(SECOND), bulk=bulk)


STRATEGIES: dict[str, tuple[Strategy, set[type]]] = {
    "checkpoint+api": (flushed, {BindDevices}),
    "checkpoint+api bulkBind": (lambda: flushed(bulk=True), {BindManyDevices}),
    "bind-resource": (BindResourcePersistence, {BindDevices}),
    "bind-resource perContainer waitForEcho": (
        lambda: BindResourcePersistence(per_container=True, waits_for_echo=True),
        {BindDevices},
    ),
    "pod-status": (lambda: PodStatusPersistence(Behavior()), set()),
    "binding-object": (
        BindingObjectPersistence,
        {PutDeviceBinding, RemoveDeviceBinding, ListDeviceBindings},
    ),
}


def cases() -> Iterator[ParameterSet]:
    """Every strategy in every story; options of a strategy, most often, only when there is time."""
    for name in STRATEGIES:
        for story in STORIES:
            quick = " " not in name or story == "a_restart_before_a_late_plugin"
            marks = () if quick else (pytest.mark.soak,)
            yield pytest.param(name, story, id=f"{name}-{story}", marks=marks)


@pytest.mark.parametrize(("name", "story"), list(cases()))
def test_no_cut_costs_a_promise(name: str, story: str) -> None:
    strategy, asked = STRATEGIES[name]
    found = explore(STORIES[story], Setup(InTheApi, strategy, Reservations.UPSTREAM))

    assert found.findings == []
    assert {type(call) for call in found.calls} >= asked


def test_an_object_that_only_follows_its_pod_is_caught() -> None:
    """W4: a kubelet that dies before the object is written forgets what runs (P5a)."""
    strategy = lambda: BindingObjectPersistence(synchronous=False)  # noqa: E731 - a strategy
    found = explore(STORIES["pods_come_and_go"], Setup(InTheApi, strategy, Reservations.UPSTREAM))

    assert any(": kubelet dies before it: " in one for one in found.findings)
    assert GetDeviceBinding not in {type(call) for call in found.calls}
