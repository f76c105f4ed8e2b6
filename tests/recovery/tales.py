"""A story of the core's own tests as a scenario file, which the product's explorer can cut.

The core's tests cut a story at a call; where the calls of a simulated node fall is another matter,
so the explorer looks for a cut of its own. When it finds none, the story is kept as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from scenarios.exploring.editing import ScenarioDocument, spec_of
from scenarios.exploring.explorable import explorable, history
from scenarios.exploring.explorer import Explorer
from scenarios.loading.matrix import Narrowing
from simulator.assembly.worlds import simulated
from simulator.engine.cluster import Keeping
from tests.failing import written_failure
from tests.recovery.exploring import Story
from tests.telling import Teller

CUTS_OF_THE_CORE = ("without a cut", "kubelet crash", "write error", "commit error")
"""Cuts that no strategy may mind; a power cut and an unreadable file are the checkpoint's own."""
KNOWN = "failed write"
"""S3.15: the kubelet's memory is ahead of its file for a while."""

_PATH = Path("story.yaml")


def scenario_of(story: Story, persistence: str) -> ScenarioDocument:
    """Return a story without a cut."""
    teller = Teller()
    tell: Callable[[Teller], None] = story.play  # type: ignore[assignment]  # as a node
    tell(teller)
    return teller.scenario(
        persistence, policy=story.policy.value, readmission=story.readmission.value
    )


def kept(
    story: Story, persistence: str, name: str, reason: str, keeping: Keeping = Keeping()
) -> str:
    """Write the shortest history that shows what is wrong, and return the test's message."""
    document = scenario_of(story, persistence)
    explored = explorable(document, _PATH)
    [combination] = explored.loaded.combinations(Narrowing())
    exploration = Explorer(explored.loaded, simulated, keeping).explore(combination)
    for finding in exploration.findings:
        if finding.cause in CUTS_OF_THE_CORE and finding.invariant != KNOWN:
            shortest = history(explored, combination, finding, start=simulated, keeping=keeping)
            if shortest is not None:
                return written_failure(shortest, name, reason)
    spec_of(document)["description"] = reason
    return written_failure(document, name, f"{reason}, which no simulated node has shown")
