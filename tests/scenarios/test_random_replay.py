"""Random but valid scenarios: a replay ends with a result or a declared error."""

from __future__ import annotations

import random

import pytest

from scenarios.matrix import Narrowing
from scenarios.replay import replay
from simulator.assembly import simulated
from simulator.errors import ScenarioError
from simulator.reports.results import ScenarioResult, Verdict
from tests.scenarios.writing import parse

PODS = ("a", "b", "c")
STEPS = (
    "createPod: {{name: {pod}}}",
    "createPod: {{name: {pod}, node: node-a}}",
    "deletePod: {{name: {pod}}}",
    "deletePod: {{name: {pod}, force: true}}",
    "finishPod: {{name: {pod}}}",
    "restartContainer: {{pod: {pod}, container: main}}",
    "startPlugin: {{name: gpu}}",
    "stopPlugin: {{name: gpu}}",
    "crashPlugin: {{name: gpu, restartAfter: {span}}}",
    "hangPlugin: {{name: gpu, duration: {span}}}",
    "reportDevices: {{name: gpu, devices: {{count: {count}}}}}",
    "breakStream: {{name: gpu}}",
    "restartKubelet: {{downtime: {span}}}",
    "crashKubelet: {{downtime: {span}}}",
    "upgradeKubelet: {{version: {version}}}",
    "rebootNode: {{downtime: {span}}}",
    "recreateNode: {{downtime: {span}}}",
    "powerCut: {{downtime: {span}, loss: {loss}}}",
    "powerCut: {{downtime: {span}, when: {{op: fsync, phase: before}}}}",
    "checkpointFile: {{action: {damage}}}",
    "databaseFile: {{action: {damage}}}",
    "diskFull: {{duration: {span}}}",
    "slowDisk: {{addedFsync: 5ms, duration: {span}}}",
    "apiOutage: {{duration: {span}}}",
    "advance: {{duration: {span}}}",
)
VERSIONS = ("1.19.16", "1.20.0", "1.24.0", "1.27.2", "1.31.4", "1.36.2")


def scenario(seed: int) -> str:
    """Return a scenario of random steps."""
    chance = random.Random(seed)  # noqa: S311 - no secret

    def step(index: int) -> str:
        action = chance.choice(STEPS).format(
            pod=chance.choice(PODS),
            span=f"{chance.randint(0, 20_000)}ms",
            count=chance.randint(0, 4),
            version=chance.choice(VERSIONS),
            loss=chance.choice(("all", "none", "random")),
            damage=chance.choice(("delete", "truncate", "corrupt")),
        )
        when = chance.choice(("", "", f"at: {chance.randint(0, 60)}s, "))
        return f"  - {{name: s{index}, {when}{action}}}\n"

    def pod(name: str) -> str:
        sidecar = chance.choice(("", ", restartPolicy: Always"))
        limits = f"resources: {{limits: {{example.com/gpu: {chance.randint(0, 3)}}}}}"
        init = f"initContainers: [{{name: init, {limits}{sidecar}}}], "
        return (
            "{{apiVersion: v1, kind: Pod, metadata: {{name: {}}}, spec: {{{}containers: "
            "[{{name: main, {}}}]}}}}".format(name, chance.choice(("", init)), limits)
        )

    return f"""\
apiVersion: rebind.internal/v1alpha1
kind: Scenario
metadata: {{name: random}}
spec:
  kubeletVersions: ["{chance.choice(VERSIONS)}"]
  persistence: [checkpoint, database]
  readmission: {chance.choice(("upstream", "pinned", "reassign", "wait"))}
  choice: {chance.choice(("sorted", "random"))}
  durability: {chance.choice(("full", "normal", "off"))}
  seed: {seed}
  nodes:
  - name: node-a
    numaNodes: 2
    topologyManagerPolicy: {chance.choice(("none", "best-effort", "restricted"))}
  plugins:
  - name: gpu
    resourceName: example.com/gpu
    devices: {{count: 4, numa: spread}}
    preStartRequired: {chance.choice(("true", "false"))}
    preferredAllocation: {chance.choice(("true", "false"))}
    reregisterAfter: {chance.choice(("50ms", "1s", "10s", "null"))}
    startsAfterBoot: {chance.choice(("50ms", "1s", "null"))}
  pods:
  - manifest: {{apiVersion: v1, kind: List, items: [{", ".join(map(pod, PODS))}]}}
    controller: {chance.choice(("none", "replicaSet", "job"))}
  steps:
  - {{name: up, startPlugin: {{name: gpu}}}}
  - {{name: create, createPod: {{name: a}}}}
{"".join(step(index) for index in range(chance.randint(2, 12)))}\
  expect:
  - {{always: true, record: {{type: KubeletStarted}}}}
"""


def outcome(seed: int) -> ScenarioResult | None:
    """Return a random scenario's result, or None when a step could not be done."""
    try:
        return replay(parse(scenario(seed)), Narrowing(), simulated)
    except ScenarioError as error:
        assert "cannot be done" in error.reason  # noqa: PT017 - the error is one of the outcomes
        return None


def completed(seeds: range) -> int:
    results = [result for seed in seeds if (result := outcome(seed)) is not None]
    held = [cell.verdict for result in results for row in result.rows for cell in row.cells]
    assert set(held) == {Verdict.HELD}
    return len(results)


def test_random_steps_lead_to_a_result_or_a_declared_error() -> None:
    assert completed(range(30)) > 5


@pytest.mark.soak
def test_many_random_steps_lead_to_a_result_or_a_declared_error() -> None:
    assert completed(range(1_000, 2_000)) > 200
