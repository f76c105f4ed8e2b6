"""Random stories with a random cut: what holds in the told ones holds in any."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.core.behavior import Behavior, Readmission, Reservations
from simulator.core.endpoints import PluginOptions
from simulator.core.machine import TopologyPolicy
from simulator.core.persistence.checkpoint import CheckpointPersistence
from simulator.core.persistence.database import DatabasePersistence
from simulator.core.pods import Container, ContainerKind
from store.memory_store import MemoryStore
from tests.core.driving import GPU, NIC, container, device, pod
from tests.recovery.exploring import Setup, Story, run_once
from tests.recovery.node import Node
from tests.recovery.outside import CheckpointDisk, Cut, Database, Fate


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
}


@pytest.mark.parametrize("reservations", list(Reservations))
@pytest.mark.parametrize("persistence", SETUPS)
@given(story=STORIES, cut=CUTS)
def test_no_cut_of_a_random_story_costs_a_promise(
    persistence: str, reservations: Reservations, story: Story, cut: Cut
) -> None:
    setup = replace(SETUPS[persistence], reservations=reservations)

    assert run_once(story, setup, cut) == []


@pytest.mark.soak
@pytest.mark.parametrize("reservations", list(Reservations))
@pytest.mark.parametrize("persistence", SETUPS)
@given(story=STORIES, cut=CUTS)
def test_no_cut_of_many_random_stories_costs_a_promise(
    persistence: str, reservations: Reservations, story: Story, cut: Cut
) -> None:
    setup = replace(SETUPS[persistence], reservations=reservations)

    assert run_once(story, setup, cut) == []
