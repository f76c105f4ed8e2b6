"""Random but valid scenarios: a replay ends with a result or a declared error."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest
from typing_extensions import override

from scenarios.exploring.editing import ScenarioDocument
from scenarios.exploring.shrink import shrink
from scenarios.files.documents import read_documents
from scenarios.loading.loaded import parse_scenarios
from scenarios.loading.matrix import Narrowing
from scenarios.running.replay import StartRun, replay
from scenarios.schema.writing import scenario_text
from simulator.assembly.worlds import simulated
from simulator.core.calls import StoreDecision
from simulator.core.persistence.checkpoint import CheckpointPersistence
from simulator.core.persistence.protocol import ManagerView
from simulator.core.pods import PodUid
from simulator.core.refusals import Refusal
from simulator.engine.cluster import Keeping
from simulator.errors import ScenarioError
from simulator.reports.results import Verdict
from tests.failing import written_failure
from tests.scenarios.writing import parse

DEFECTS = (AssertionError, AttributeError, IndexError, KeyError, TypeError, ValueError)
"""What a defect of the program ends with."""
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


class FailsAtARelease(CheckpointPersistence):
    """Has a defect where devices are released."""

    @override
    def on_released(
        self, view: ManagerView, pods: Sequence[PodUid]
    ) -> StoreDecision[Refusal | None]:
        name = "released"
        raise KeyError(name)


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


def failure(text: str, start: StartRun = simulated) -> str | None:
    """Return what is wrong with the replay of a scenario; "" when a step could not be done."""
    try:
        result = replay(parse(text), Narrowing(), start)
    except ScenarioError as error:
        return "" if "cannot be done" in error.reason else str(error)
    except DEFECTS as defect:
        return f"{type(defect).__name__}: {defect}"
    verdicts = {cell.verdict for row in result.rows for cell in row.cells}
    return None if verdicts <= {Verdict.HELD} else f"{sorted(each.name for each in verdicts)}"


def completed(seeds: range, start: StartRun = simulated) -> int:
    """Return how many scenarios came to their end; of one that fails the shortest form is kept."""
    count = 0
    for seed in seeds:
        wrong = failure(scenario(seed), start)
        if wrong:
            pytest.fail(kept(seed, wrong, start))
        count += wrong is None
    return count


def kept(seed: int, wrong: str, start: StartRun) -> str:
    [document] = read_documents(scenario(seed).encode(), "random.yaml", {})
    plain = document.plain()
    assert isinstance(plain, dict)
    kind = wrong.partition(":")[0]

    def fails(found: ScenarioDocument) -> bool:
        again = failure(scenario_text([found]), start)
        return bool(again) and str(again).partition(":")[0] == kind

    return written_failure(shrink(plain, fails), f"random replay {seed}", wrong)


def test_the_shortest_history_of_a_defect_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kubelet that loses its head when it releases devices, and only then."""
    monkeypatch.setenv("REBIND_FAILURES", str(tmp_path))
    keeping = Keeping(strategy=FailsAtARelease)

    with pytest.raises(pytest.fail.Exception) as caught:
        completed(range(30), partial(simulated, keeping=keeping))

    [path] = tmp_path.iterdir()
    assert f"see `rebind replay {path}`" in str(caught.value)
    assert "KeyError: 'released'" in str(caught.value)
    [found] = read_documents(path.read_bytes(), str(path), {})
    [loaded] = parse_scenarios(path.read_bytes(), path, {})
    assert len(loaded.scenario.spec.steps) <= 5
    assert failure(scenario_text([found.plain()]), partial(simulated, keeping=keeping))
    assert failure(scenario_text([found.plain()])) is None


def test_random_steps_lead_to_a_result_or_a_declared_error() -> None:
    assert completed(range(30)) > 5


@pytest.mark.soak
def test_many_random_steps_lead_to_a_result_or_a_declared_error() -> None:
    assert completed(range(1_000, 2_000)) > 200
