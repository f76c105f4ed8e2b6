"""Short runs that show how a kubelet's clients of the API server hold requests back (S12.1)."""

from __future__ import annotations

from dataclasses import replace

from simulator.core.behavior import Behavior
from simulator.core.records import PodPhaseChanged
from simulator.engine.actions import CreatePods, StartPlugin
from simulator.engine.spec import PodSpec
from tests.engine.runs import NODE, Run, a_spec, container, pod


def _begun(behavior: Behavior, *pods: PodSpec) -> Run:
    run = Run(replace(a_spec(*pods), behaviors=lambda _: behavior))
    run.do(StartPlugin("gpu"))
    run.begin(CreatePods(tuple(each.name for each in pods), NODE))
    return run


def statuses_of_thirty_pods_at_once(behavior: Behavior) -> object:
    """S12.1, S12.4: two statuses of each pod are 120 requests, more than any burst."""
    run = _begun(behavior, *(pod(f"p{number}", container(count=0)) for number in range(30)))
    run.wait(30)
    changed = run.simulation.records
    return [each.at for each in changed if isinstance(each.record, PodPhaseChanged)]


def events_of_pods_refused_at_once(behavior: Behavior) -> object:
    """S12.1, S12.2: the events of 120 pods for 4 devices, however slowly their statuses come."""
    run = _begun(behavior, *(pod(f"p{number}") for number in range(120)))
    posted = []
    for _ in range(4):
        run.wait(0.5)
        posted.append(run.simulation.nodes[NODE].api_calls["POST events"])
    return posted
