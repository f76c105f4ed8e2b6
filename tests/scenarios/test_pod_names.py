"""Pods that a scenario names without writing each of them: replicas, replacements, static pods."""

from __future__ import annotations

import pytest

from simulator.core.instants import SECOND
from simulator.engine import actions
from simulator.errors import InputError
from tests.scenarios.writing import SCENARIO, parse

POD = SCENARIO[SCENARIO.index("  - manifest:") : SCENARIO.index("  steps:")]
DEPLOYMENT = """\
  - replaceAfter: 7s
    manifest:
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: trainer}
      spec:
        replicas: REPLICAS
        template:
          spec:
            containers:
            - {name: main, resources: {limits: {example.com/gpu: 1}}}
"""


def deployed(replicas: int) -> str:
    return SCENARIO.replace(POD, DEPLOYMENT.replace("REPLICAS", str(replicas)))


def reason(text: str) -> str:
    with pytest.raises(InputError) as caught:
        parse(text)
    return caught.value.reason


def test_a_template_is_created_with_all_its_replicas_in_order() -> None:
    rows = deployed(3).replace("pod: trainer,", "pod: trainer-2,")
    loaded = parse(rows)

    assert loaded.actions[1] == actions.CreatePods(
        ("trainer-0", "trainer-1", "trainer-2"), loaded.nodes[0].name
    )
    assert {pod.replace_after for pod in loaded.pods} == {7 * SECOND}


def test_a_row_cannot_speak_of_all_replicas_at_once() -> None:
    assert 'there is no pod "trainer"' in reason(deployed(3))


@pytest.mark.parametrize("name", ["trainer-1", "trainer-17"])
def test_rows_and_steps_may_name_replacements(name: str) -> None:
    text = deployed(1).replace("pod: trainer,", f"pod: {name},")
    steps = text.replace(
        "  expect:\n",
        f"  - {{name: crash, at: 9m, restartContainer: {{pod: {name}, container: main}}}}\n"
        f"  - {{name: end, at: 10m, deletePod: {{name: {name}}}}}\n"
        "  expect:\n",
    )

    assert parse(steps).actions[-1] == actions.DeletePod(name)


@pytest.mark.parametrize("name", ["trainer-0", "trainer-01", "other-1", "trainer-x"])
def test_other_names_are_no_replacements(name: str) -> None:
    text = deployed(1).replace("pod: trainer,", f"pod: {name},")

    assert f'there is no pod "{name}"' in reason(text)


def test_a_pod_without_a_controller_has_no_replacements() -> None:
    text = SCENARIO.replace("pod: trainer,", "pod: trainer-1,")

    assert 'there is no pod "trainer-1"' in reason(text)


def test_a_replacement_cannot_be_created_by_a_step() -> None:
    text = deployed(1).replace("createPod: {name: trainer,", "createPod: {name: trainer-1,")

    assert 'there is no pod "trainer-1"' in reason(text)


def test_a_static_pod_stands_on_the_only_node() -> None:
    [pod] = parse(SCENARIO.replace(POD, f"  - static: true\n{POD.replace('- ', '  ', 1)}")).pods

    assert pod.static
    assert pod.node == "node-a"


def test_a_static_pod_has_no_controller() -> None:
    text = deployed(1).replace("replaceAfter: 7s", "static: true")

    assert 'the pod "trainer" has a controller, which makes no static pods' in reason(text)


def test_of_several_nodes_a_static_pod_names_one() -> None:
    static = SCENARIO.replace(POD, f"  - static: true\n{POD.replace('- ', '  ', 1)}")
    text = static.replace("numaNodes: 2}", "numaNodes: 2}\n  - {name: node-b}").replace(
        "{name: gpu, resource", "{name: gpu, node: node-a, resource"
    )

    assert 'the key "node" is missing; nodes are node-a, node-b' in reason(text)
