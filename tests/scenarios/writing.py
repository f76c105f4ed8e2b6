"""A small valid scenario as text, and edits of it."""

from __future__ import annotations

from pathlib import Path

from scenarios.loading.loaded import LoadedScenario, parse_scenarios

SCENARIO = """\
apiVersion: rebind.internal/v1alpha1
kind: Scenario
metadata: {name: example}
spec:
  kubeletVersions: ["1.24.0", "1.36.2"]
  persistence: [checkpoint, database]
  nodes:
  - {name: node-a, numaNodes: 2}
  plugins:
  - {name: gpu, resourceName: example.com/gpu, devices: {count: 4, numa: spread}}
  pods:
  - manifest:
      apiVersion: v1
      kind: Pod
      metadata: {name: trainer}
      spec:
        containers:
        - name: main
          resources: {limits: {example.com/gpu: 2}}
  steps:
  - {name: plugin-up, at: 0s, startPlugin: {name: gpu}}
  - {name: admit, at: 1s, createPod: {name: trainer, node: node-a}}
  - {name: reboot, at: 5s, rebootNode: {name: node-a, downtime: 1m30s}}
  expect:
  - {after: admit, within: 1s, pod: trainer, phase: Running}
  - {always: true, invariants: all}
"""


def edited(old: str, new: str) -> str:
    """Return the scenario with the one place of `old` replaced."""
    assert SCENARIO.count(old) == 1, old
    return SCENARIO.replace(old, new)


def parse(text: str, **settings: str) -> LoadedScenario:
    """Read one scenario from text."""
    [loaded] = parse_scenarios(text.encode(), Path("example.yaml"), settings)
    return loaded
