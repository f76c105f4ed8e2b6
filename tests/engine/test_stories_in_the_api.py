"""Random stories of a node whose persistence writes to the API, against a naive model.

Pods come, go and come back under the same name (W7); kubelets die; the API server is away, slow or
silent, or does what it is asked and nobody hears of it (W6). Then all is well again for a while,
and it is asked what must be so: whatever was promised was kept all the time, nothing waits for
ever, nothing runs that nobody wants, and the API says what the pods have that are there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.core.devices import HEALTHY, UNHEALTHY, Device, DeviceId, device_ids
from simulator.core.instants import MILLISECOND, Duration
from simulator.core.persistence.choosing import OptionValue
from simulator.core.persistence.spec_devices import bindings_in_spec
from simulator.core.pods import ContainerKind
from simulator.core.records import InvariantViolated, KubeletStarted
from simulator.engine.actions import (
    Action,
    ApiOutage,
    CrashKubelet,
    CreatePod,
    DeletePod,
    FinishPod,
    RebootNode,
    ReportDevices,
    RestartKubelet,
    StartPlugin,
    StopPlugin,
    UpgradeKubelet,
    When,
)
from simulator.engine.faults import Fault, FaultKind, Op
from simulator.engine.spec import ApiSpec, ClientLimit
from tests.engine.runs import NODE, Run, a_spec, container, pod, seconds, with_plugin

Options = tuple[tuple[str, OptionValue], ...]
PODS = (
    pod("one"),
    pod("two", container("x"), container("y")),
    pod("init", container("setup", 2, ContainerKind.INIT), container("main")),
    pod("side", container("proxy", 1, ContainerKind.SIDECAR), container("main")),
    pod("none", container("main", 0)),
)
NAMES = tuple(each.name for each in PODS)
VERSIONS = ("1.26.5", "1.27.6", "1.31.4", "1.36.2")
SETTLED = 150
"""Seconds that it takes at most until nothing goes on: the longest outage, a grace period of 30 s,
two ticks of the status manager, and the sync back-off."""

KEEPINGS: dict[str, tuple[str, Options]] = {
    "checkpoint+api": ("checkpoint+api", ()),
    "checkpoint+api at once, bulk": (
        "checkpoint+api",
        (("bulkBind", True), ("flushPeriod", Duration(0))),
    ),
    "bind-resource": ("bind-resource", ()),
    "bind-resource per container, echo": (
        "bind-resource",
        (("perContainer", True), ("waitForEcho", True)),
    ),
    "bind-resource bulk": ("bind-resource", (("bulkBind", True),)),
    "pod-status": ("pod-status", ()),
    "binding-object": ("binding-object", ()),
    "binding-object asynchronous": ("binding-object", (("synchronous", False),)),
}


@dataclass(frozen=True)
class Story:
    """What happens to a node.

    Attributes:
        steps: What is done, each with the seconds that pass after it.
        faults: What becomes of which request.
        api: How long requests take, and how many there may be.
        reregisters: After how many seconds the plugin registers again.
        seed: Of how long each request takes.
    """

    steps: tuple[tuple[Action, float], ...]
    faults: tuple[Fault, ...]
    api: ApiSpec
    reregisters: float
    seed: int


def listed(health: str) -> tuple[Device, ...]:
    return tuple(
        Device(DeviceId(f"g{number}"), health if number == 0 else HEALTHY) for number in range(5)
    )


DOWNTIMES = st.sampled_from([0, 0.1, 3]).map(seconds)
ACTIONS = st.one_of(
    st.builds(CreatePod, st.sampled_from(NAMES)),
    st.builds(CreatePod, st.sampled_from(NAMES)),
    st.builds(CreatePod, st.sampled_from(NAMES)),
    st.builds(DeletePod, st.sampled_from(NAMES), st.booleans()),
    st.builds(DeletePod, st.sampled_from(NAMES), st.just(value=True)),
    st.builds(FinishPod, st.sampled_from(NAMES)),
    st.builds(RestartKubelet, st.just(NODE), DOWNTIMES),
    st.builds(CrashKubelet, st.just(NODE), DOWNTIMES),
    st.builds(
        UpgradeKubelet, st.just(NODE), st.sampled_from(VERSIONS), st.just(Duration(MILLISECOND))
    ),
    st.builds(RebootNode, st.just(NODE), DOWNTIMES),
    st.builds(ApiOutage, st.just(NODE), st.sampled_from([0.05, 2, 20]).map(seconds)),
    st.just(StopPlugin("gpu")),
    st.just(StartPlugin("gpu")),
    st.builds(ReportDevices, st.just("gpu"), st.sampled_from([HEALTHY, UNHEALTHY]).map(listed)),
)
STEPS = st.lists(
    st.tuples(ACTIONS, st.sampled_from([0.001, 0.006, 0.02, 0.21, 1.1, 6])), max_size=14
)
FAULTS = st.lists(
    st.one_of(
        st.builds(
            Fault,
            st.just(FaultKind.ERROR),
            st.sampled_from([Op.BIND_DEVICES, Op.DEVICE_BINDING, Op.STATUS_PATCH]),
            nth=st.integers(min_value=1, max_value=6),
            when=st.sampled_from(When),
        ),
        st.builds(
            Fault,
            st.sampled_from([FaultKind.HANG, FaultKind.CRASH]),
            st.sampled_from([Op.BIND_DEVICES, Op.DEVICE_BINDING]),
            nth=st.integers(min_value=1, max_value=6),
            when=st.sampled_from(When),
            duration=st.sampled_from([0.1, 4]).map(seconds),
        ),
    ),
    max_size=3,
)
APIS = st.builds(
    ApiSpec,
    p50=st.just(Duration(5 * MILLISECOND)),
    p99=st.sampled_from([5 * MILLISECOND, 3000 * MILLISECOND]).map(Duration),
    client=st.sampled_from([None, ClientLimit(2, 3)]),
)
STORIES = st.builds(
    Story,
    STEPS.map(tuple),
    FAULTS.map(tuple),
    APIS,
    st.sampled_from([0.02, 0.5]),
    st.integers(min_value=0, max_value=99),
)


def told(story: Story, keeping: str) -> Run:
    """Play a story, then let all be well."""
    persistence, options = KEEPINGS[keeping]
    spec = with_plugin(
        a_spec(*PODS, persistence=persistence),
        devices=listed(HEALTHY),
        reregister_after=seconds(story.reregisters),
        starts_after_boot=seconds(story.reregisters),
    )
    spec = replace(spec, persistence_options=options, api=story.api, seed=story.seed)
    run = Run(spec, faults=story.faults)
    run.do(StartPlugin("gpu"))
    run.wait(11)
    for action, pause in story.steps:
        if is_possible(run, action):
            run.begin(action)
        run.wait(pause)
    run.wait(25)
    if not run.simulation.plugin("gpu").registered:
        run.begin(StartPlugin("gpu"))
        run.wait(5)
    run.begin(ReportDevices("gpu", listed(HEALTHY)))
    run.wait(SETTLED)
    return run


def is_possible(run: Run, action: Action) -> bool:
    """Tell whether it can happen: a name is had by one pod at a time, and what runs may end."""
    if not isinstance(action, CreatePod | DeletePod | FinishPod):
        return True
    found = run.simulation.api.pod_named(action.name)
    if found is None or found.deleted:
        return isinstance(action, CreatePod)
    ends = isinstance(action, FinishPod) and found.status.phase == "Running"
    return ends or isinstance(action, DeletePod)


def broken(run: Run, *, but: frozenset[str] = frozenset()) -> list[str]:
    """Return the promises that were broken, not by the kubelet's own decisions (S5.10, S6.5)."""
    return [
        f"{each.invariant}: {each.detail}"
        for each in run.records(InvariantViolated)
        if not each.by_kubelet and each.invariant not in but
    ]


def undecided(run: Run) -> list[str]:
    """Return the pods of which nothing becomes."""
    return [
        f"{each.name} is {each.phase}: {each.waiting}"
        for each in run.simulation.pods()
        if each.phase not in {"Running", "Succeeded", "Failed"}
    ]


def unwanted(run: Run) -> list[str]:
    """Return the containers that run although there is no pod for them any more."""
    node = run.simulation.nodes[NODE]
    there = {each.uid for each in run.simulation.api.pods() if not each.status.is_terminal}
    return [
        f"{each.pod}/{each.container}" for each in node.runtime.running() if each.pod not in there
    ]


Held = dict[tuple[str, str, str], tuple[str, ...]]


def given_to(run: Run) -> Held:
    """Return what the running containers have, by pod, container and resource."""
    return {
        (process.pod, process.container, resource): ids
        for process in run.simulation.nodes[NODE].runtime.running()
        for resource, ids in process.devices
    }


def in_specs(run: Run) -> Held:
    return {
        (each.pod, each.container, each.resource): device_ids(each.devices)
        for api in run.simulation.api.pods()
        for each in bindings_in_spec(api.pod)
    }


def in_objects(run: Run) -> Held:
    return {
        (each.pod, each.container, each.resource): device_ids(each.devices)
        for found in run.simulation.api.devices.objects()
        for each in found.bindings
    }


def in_statuses(run: Run) -> Held:
    return {
        (each.pod, each.container, each.resource): device_ids(each.devices)
        for api in run.simulation.api.pods()
        for each in api.status_devices
    }


def free(run: Run) -> None:
    """Let somebody list pod resources, which frees what pods had that have gone (S6.2c).

    Twice, for a fault that was left over may strike the first time.
    """
    for _ in range(2):
        kubelet = run.simulation.nodes[NODE].kubelet
        assert kubelet is not None
        kubelet.driver.run_store(kubelet.manager.release_inactive(), lambda _: None)
        run.wait(30)


SAID: dict[str, Callable[[Run], Held]] = {
    "checkpoint+api": in_specs,
    "bind-resource": in_specs,
    "pod-status": in_statuses,
    "binding-object": in_objects,
}


def check(story: Story, keeping: str) -> None:
    run = told(story, keeping)
    persistence, options = KEEPINGS[keeping]
    follows = dict(options).get("synchronous") is False
    # W4: what only follows a pod is not there yet when its first container runs, and what a kubelet
    # that dies before it has never told is forgotten.
    late = frozenset({"I1", "I2", "I3"}) if follows else frozenset[str]()

    assert broken(run, but=late) == []
    assert undecided(run) == []
    assert unwanted(run) == []
    said, had = SAID[persistence](run), given_to(run)
    if not follows:
        assert {key: said.get(key) for key in had} == had
    if persistence == "binding-object":
        if len(run.records(KubeletStarted)) > 1:
            # What the last request of a dead kubelet has left, late, goes after the next start.
            run.do(RestartKubelet(NODE))
            run.wait(30)
        free(run)
        there = {each.uid for each in run.simulation.api.pods() if not each.status.is_terminal}
        assert {pod for pod, _, _ in in_objects(run)} <= there


EXAMPLES = 30


@pytest.mark.parametrize("keeping", KEEPINGS)
@settings(max_examples=EXAMPLES)
@given(story=STORIES)
def test_a_story_in_the_api_ends_well(keeping: str, story: Story) -> None:
    check(story, keeping)


@pytest.mark.soak
@pytest.mark.parametrize("keeping", KEEPINGS)
@given(story=STORIES)
def test_many_stories_in_the_api_end_well(keeping: str, story: Story) -> None:
    check(story, keeping)
