"""Random stories with a random cut: what holds in the told ones holds in any."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios.exploring.explorable import explorable
from scenarios.loading.loaded import load_scenarios
from simulator.core.behavior import Behavior, Readmission, Reservations
from simulator.core.endpoints import PluginOptions
from simulator.core.instants import Duration
from simulator.core.machine import TopologyPolicy
from simulator.core.persistence.bind_resource import BindResourcePersistence
from simulator.core.persistence.binding_object import BindingObjectPersistence
from simulator.core.persistence.checkpoint import CheckpointPersistence
from simulator.core.persistence.checkpoint_api import CheckpointApiPersistence
from simulator.core.persistence.database import DatabasePersistence
from simulator.core.pods import Container, ContainerKind
from simulator.engine.cluster import Keeping
from store.memory.store import MemoryStore
from tests.core.driving import GPU, NIC, container, device, pod
from tests.recovery.api import InTheApi
from tests.recovery.broken import AnnouncesBeforeTheWrite
from tests.recovery.exploring import Setup, Story, run_once
from tests.recovery.node import Node
from tests.recovery.outside import CheckpointDisk, Cut, Database, Fate
from tests.recovery.tales import kept, scenario_of


@dataclass(frozen=True)
class Create:
    """Create a pod; its uid is the number of its step, since no uid ever comes back."""

    containers: tuple[Container, ...]

    def __call__(self, node: Node, number: int) -> None:
        node.create(pod(f"p{number}", *self.containers))


@dataclass(frozen=True)
class End:
    """End the pod of an earlier step, if there is one."""

    ago: int

    def __call__(self, node: Node, number: int) -> None:
        node.end(f"p{number - self.ago}")


@dataclass(frozen=True)
class Report:
    """Report the GPUs with other health."""

    healths: tuple[str, ...]

    def __call__(self, node: Node, number: int) -> None:
        del number
        listed = [
            device(f"g{index}", health, nodes=[index % 2])
            for index, health in enumerate(self.healths)
        ]
        node.report(GPU, *listed)


@dataclass(frozen=True)
class Restart:
    """Restart the kubelet, or the whole node."""

    whole_node: bool

    def __call__(self, node: Node, number: int) -> None:
        del number
        if self.whole_node:
            node.reboot()
        else:
            node.restart()


@dataclass(frozen=True)
class Plugin:
    """What a plugin wants to be asked, and whether it comes back after the pods."""

    options: PluginOptions
    is_late: bool


@dataclass(frozen=True)
class Tale:
    """A random story."""

    gpus: Plugin
    nics: Plugin
    steps: tuple[Create | End | Report | Restart, ...]

    def __call__(self, node: Node) -> None:
        gpus = [device(f"g{index}", nodes=[index % 2]) for index in range(4)]
        nics = [device("n0"), device("n1")]
        node.plug(GPU, *gpus, options=self.gpus.options, is_late=self.gpus.is_late)
        node.plug(NIC, *nics, options=self.nics.options, is_late=self.nics.is_late)
        for number, step in enumerate(self.steps):
            step(node, number)


COUNTS = st.integers(min_value=0, max_value=3)
CONTAINERS = st.lists(
    st.tuples(COUNTS, COUNTS, st.sampled_from(list(ContainerKind))), min_size=1, max_size=3
).map(
    lambda shapes: tuple(
        container(f"c{index}", {GPU: gpus, NIC: nics}, kind)
        for index, (gpus, nics, kind) in enumerate(shapes)
    )
)
HEALTHS = st.lists(
    st.sampled_from(["Healthy", "Healthy", "Unhealthy"]), min_size=4, max_size=4
).map(tuple)
CREATIONS = st.builds(Create, CONTAINERS)
STEPS = st.one_of(
    CREATIONS,
    CREATIONS,
    st.builds(End, st.integers(min_value=1, max_value=4)),
    st.builds(Report, HEALTHS),
    st.builds(Restart, st.booleans()),
)
PLUGINS = st.builds(Plugin, st.builds(PluginOptions, st.booleans(), st.booleans()), st.booleans())
TALES = st.builds(Tale, PLUGINS, PLUGINS, st.lists(STEPS, max_size=10).map(tuple))
STORIES = st.builds(
    Story, TALES, st.sampled_from(list(TopologyPolicy)), st.sampled_from(list(Readmission))
)
CUTS = st.builds(Cut, st.integers(min_value=2, max_value=60), st.sampled_from(list(Fate)))


SETUPS = {
    "checkpoint": Setup(
        CheckpointDisk, lambda: CheckpointPersistence(Behavior()), Reservations.UPSTREAM
    ),
    "database": Setup(
        lambda: Database(MemoryStore()), DatabasePersistence, Reservations.TRANSACTIONAL
    ),
    "checkpoint+api": Setup(
        InTheApi,
        lambda: CheckpointApiPersistence(Behavior(), flush_period=Duration(0)),
        Reservations.UPSTREAM,
    ),
    "bind-resource": Setup(InTheApi, BindResourcePersistence, Reservations.UPSTREAM),
    "binding-object": Setup(InTheApi, BindingObjectPersistence, Reservations.UPSTREAM),
}
ON_NODE = ("checkpoint", "database")
IN_API = tuple(name for name in SETUPS if name not in ON_NODE)


def check_stories(persistence: str, reservations: Reservations) -> None:
    """Cut random stories; of one that breaks a promise the shortest history is kept."""
    setup = replace(SETUPS[persistence], reservations=reservations)
    broken: list[tuple[Story, str]] = []

    @given(story=STORIES, cut=CUTS)
    def keeps_its_promises(story: Story, cut: Cut) -> None:
        findings = run_once(story, setup, cut)
        broken.extend((story, f"{cut}: {finding}") for finding in findings[:1])
        assert findings == []

    try:
        keeps_its_promises()
    except AssertionError:
        # The last one is the simplest that hypothesis has found.
        story, finding = broken[-1]
        pytest.fail(kept(story, persistence, f"random story {persistence}", finding))


@pytest.mark.parametrize("reservations", list(Reservations))
@pytest.mark.parametrize("persistence", ON_NODE)
def test_no_cut_of_a_random_story_costs_a_promise(
    persistence: str, reservations: Reservations
) -> None:
    check_stories(persistence, reservations)


@pytest.mark.parametrize("persistence", IN_API)
def test_no_cut_of_a_random_story_costs_a_promise_of_what_is_in_the_api(persistence: str) -> None:
    """Requests too are cut, and replies lost."""
    check_stories(persistence, Reservations.UPSTREAM)


@pytest.mark.soak
@pytest.mark.parametrize("reservations", list(Reservations))
@pytest.mark.parametrize("persistence", SETUPS)
def test_no_cut_of_many_random_stories_costs_a_promise(
    persistence: str, reservations: Reservations
) -> None:
    check_stories(persistence, reservations)


@given(story=STORIES, persistence=st.sampled_from(sorted(SETUPS)))
def test_every_random_story_is_a_scenario(story: Story, persistence: str) -> None:
    explored = explorable(scenario_of(story, persistence), Path("story.yaml"))

    assert explored.loaded.scenario.spec.persistence[0].name == persistence


def test_the_shortest_history_of_a_broken_promise_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kubelet that announces before it writes: one admission and a crash are enough."""
    monkeypatch.setenv("REBIND_FAILURES", str(tmp_path))
    one = Create((container("main", {GPU: 1}),))
    plugin = Plugin(PluginOptions(), is_late=False)
    story = Story(Tale(plugin, plugin, (one, one, Restart(whole_node=False), End(1))))
    setup = Setup(
        CheckpointDisk, lambda: AnnouncesBeforeTheWrite(Behavior()), Reservations.UPSTREAM
    )
    [finding, *_] = run_once(story, setup, Cut(6, Fate.DIES_BEFORE))

    keeping = Keeping(strategy=AnnouncesBeforeTheWrite)
    message = kept(story, "checkpoint", "broken promise", finding, keeping)

    [path] = tmp_path.iterdir()
    assert message == f"{finding}; the history is in {path}, see `rebind replay {path}`"
    [loaded] = load_scenarios(path, {})
    assert [step.action_key for step in loaded.scenario.spec.steps] == ["startPlugin", "createPod"]


def test_a_story_that_no_simulated_node_shows_is_kept_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REBIND_FAILURES", str(tmp_path))
    plugin = Plugin(PluginOptions(), is_late=False)
    story = Story(Tale(plugin, plugin, (Restart(whole_node=True),)))

    message = kept(story, "checkpoint", "core alone", "something is wrong")

    [path] = tmp_path.iterdir()
    [loaded] = load_scenarios(path, {})
    assert "something is wrong, which no simulated node has shown" in message
    assert [step.action_key for step in loaded.scenario.spec.steps] == [
        "startPlugin",
        "startPlugin",
        "rebootNode",
    ]
