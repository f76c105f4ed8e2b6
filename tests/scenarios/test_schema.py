"""Faults of scenario files: path, line, column, the nearest name and what is allowed."""

from __future__ import annotations

import pytest

from scenarios.loading.matrix import Narrowing
from simulator.core.behavior import Readmission
from simulator.core.devices import Device, DeviceId, NumaNode
from simulator.core.instants import SECOND
from simulator.engine import actions
from simulator.errors import ScenarioError
from tests.scenarios.writing import SCENARIO, edited, parse


def error(text: str) -> str:
    with pytest.raises(ScenarioError) as caught:
        parse(text)
    return str(caught.value)


def test_every_combination_of_the_matrix_is_one_run() -> None:
    loaded = parse(SCENARIO)

    labels = [run.label for run in loaded.combinations(Narrowing())]
    assert labels == [
        "1.24.0 checkpoint",
        "1.24.0 database",
        "1.36.2 checkpoint",
        "1.36.2 database",
    ]


def test_the_command_line_puts_its_own_values_in_place_of_the_matrix() -> None:
    narrowing = Narrowing(versions=("1.27.2",), readmissions=(Readmission.WAIT,))

    labels = [run.label for run in parse(SCENARIO).combinations(narrowing)]
    assert labels == ["1.27.2 checkpoint wait", "1.27.2 database wait"]


def test_a_run_has_all_that_the_scenario_says() -> None:
    loaded = parse(SCENARIO)
    run = loaded.combinations(Narrowing())[0]

    spec = loaded.simulation(run)
    assert (spec.kubelet_version, spec.persistence, spec.seed) == ("1.24.0", "checkpoint", 0)
    assert spec.plugins[0].devices == tuple(
        Device(DeviceId(f"gpu-{index}"), topology=(NumaNode(index % 2),)) for index in range(4)
    )
    assert loaded.simulation(run, seed=7).seed == 7


def test_steps_become_the_engines_actions() -> None:
    plugin, pod, reboot = parse(SCENARIO).actions

    assert plugin == actions.StartPlugin("gpu")
    assert isinstance(pod, actions.CreatePod)
    assert (pod.name, pod.node) == ("trainer", "node-a")
    assert isinstance(reboot, actions.RebootNode)
    assert (reboot.node, reboot.downtime) == ("node-a", 90 * SECOND)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            "kubeletVersions:",
            "kubeletVersion:",
            (
                'example.yaml:5:3: spec: unknown key "kubeletVersion"; '
                'did you mean "kubeletVersions"? Allowed: description, kubeletVersions, '
                "persistence, readmission, reservations, durability, addedFsync, statusCoalesce, "
                "pluginCallTimeout, choice, seed, nodes, plugins, pods, steps, expect"
            ),
        ),
        (
            "rebootNode: {name: node-a, down",
            "rebootNode: {nam: node-a, down",
            (
                'example.yaml:23:41: spec.steps[2].rebootNode: unknown key "nam"; '
                'did you mean "name"? Allowed: node, name, downtime'
            ),
        ),
        (
            '["1.24.0", "1.36.2"]',
            "[1.24, 1.36.2]",
            (
                "example.yaml:5:21: spec.kubeletVersions[0]: wants a kubelet version such as "
                "1.27.2, found the number 1.24; put it in quotes"
            ),
        ),
        (
            "at: 5s",
            "at: 5",
            (
                "example.yaml:23:24: spec.steps[2].at: wants a duration such as 250ms or 1m30s, "
                "found the number 5; add a unit"
            ),
        ),
        (
            "at: 5s",
            "at: 5x",
            (
                "example.yaml:23:24: spec.steps[2].at: '5x' is not a duration; "
                "write a number with a unit, such as 250ms or 1m30s"
            ),
        ),
        (
            "at: 5s",
            "at: -5s",
            (
                "example.yaml:23:24: spec.steps[2].at: wants a duration such as 250ms or 1m30s, "
                "found a negative one"
            ),
        ),
        (
            "[checkpoint, database]",
            "[checkpiont, database]",
            (
                'example.yaml:6:17: spec.persistence[0]: "checkpiont" is not a persistence; '
                'did you mean "checkpoint"? Allowed: checkpoint, database, dual-write, '
                "checkpoint+api, bind-resource, pod-status, binding-object"
            ),
        ),
        (
            "[checkpoint, database]",
            "[{checkpoint: {dirSync: true}}, database]",
            (
                'example.yaml:6:17: spec.persistence[0]: "dirSync" of true is no option of '
                "checkpoint; allowed: dirFsync: true|false"
            ),
        ),
        (
            "phase: Running",
            "phase: Runing",
            (
                'example.yaml:25:53: spec.expect[0].phase: "Runing" is not allowed here; '
                'did you mean "Running"? Allowed: Pending, Running, Succeeded, Failed, Deleted'
            ),
        ),
        (
            "numaNodes: 2",
            "numaNodes: two",
            'example.yaml:8:31: spec.nodes[0].numaNodes: wants a whole number, found "two"',
        ),
        (
            "count: 4",
            "count: -4",
            (
                "example.yaml:10:65: spec.plugins[0].devices.count: wants at least 0, "
                "found the number -4"
            ),
        ),
        (
            "resourceName: example.com/gpu",
            "resourceName: gpu",
            (
                'example.yaml:10:31: spec.plugins[0].resourceName: "gpu" is not an extended '
                "resource name such as example.com/gpu"
            ),
        ),
        (
            "{name: plugin-up, at: 0s, startPlugin: {name: gpu}}",
            "{name: plugin-up, at: 0s}",
            'example.yaml:21:5: spec.steps[0]: the step "plugin-up" wants one action, it has none',
        ),
        (
            "startPlugin: {name: gpu}}",
            "startPlugin: {name: gpu}, stopPlugin: {name: gpu}}",
            (
                'example.yaml:21:5: spec.steps[0]: the step "plugin-up" wants one action, '
                "it has 2: startPlugin, stopPlugin"
            ),
        ),
        (
            "{name: node-a, numaNodes: 2}",
            "{numaNodes: 2}",
            'example.yaml:8:5: spec.nodes[0]: the key "name" is missing',
        ),
        (
            "metadata: {name: example}",
            "metadata: {name: Example}",
            (
                'example.yaml:3:18: metadata.name: "Example" is not a DNS-1123 name: lower-case '
                "letters, digits, '-' and '.', at most 253 characters"
            ),
        ),
        (
            "kind: Scenario",
            "kind: ChurnProfile",
            (
                'example.yaml:2:7: kind: "ChurnProfile" is not a kind that can be replayed; '
                "write kind: Scenario"
            ),
        ),
        (
            "rebind.internal/v1alpha1",
            "rebind.internal/v1",
            (
                "example.yaml:1:13: apiVersion: wants rebind.internal/v1alpha1, "
                'found "rebind.internal/v1"'
            ),
        ),
        (
            "  - {always: true, invariants: all}\n",
            "  - {always: true, invariants: none}\n",
            (
                "example.yaml:26:32: spec.expect[1].invariants: wants all, "
                'or a map with broken: [I1, …], found "none"'
            ),
        ),
        (
            "pod: trainer, phase: Running",
            "phase: Running",
            (
                "example.yaml:25:5: spec.expect[0]: wants one subject of pod, node, plugin, "
                "record, event, invariants; found none"
            ),
        ),
        (
            "pod: trainer, phase: Running",
            "pod: trainer, capacity: {example.com/gpu: 4}",
            (
                "example.yaml:25:5: spec.expect[0]: wants one subject of pod, node, plugin, "
                "record, event, invariants; found pod, node"
            ),
        ),
        (
            "after: admit, within: 1s",
            "within: 1s",
            'example.yaml:25:5: spec.expect[0]: wants one of "after", "at" and "always: true"',
        ),
    ],
)
def test_a_fault_is_told_at_its_place_with_what_is_allowed(
    old: str, new: str, expected: str
) -> None:
    assert error(edited(old, new)) == expected


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            "startPlugin: {name: gpu}",
            "startPlugin: {name: gpus}",
            (
                'example.yaml:21:51: spec.steps[0].startPlugin.name: there is no plugin "gpus"; '
                'did you mean "gpu"? Allowed: gpu'
            ),
        ),
        (
            "createPod: {name: trainer, node: node-a}",
            "createPod: {name: trainer, node: node-b}",
            (
                'example.yaml:22:60: spec.steps[1].createPod.node: there is no node "node-b"; '
                'did you mean "node-a"? Allowed: node-a'
            ),
        ),
        (
            "after: admit",
            "after: admitted",
            (
                'example.yaml:25:13: spec.expect[0].after: there is no step "admitted"; '
                'did you mean "admit"? Allowed: plugin-up, admit, reboot'
            ),
        ),
        (
            "{name: admit, at: 1s,",
            "{name: admit, after: reboot,",
            (
                "example.yaml:22:26: spec.steps[1].after: there is no step before this one "
                '"reboot"; allowed: plugin-up'
            ),
        ),
        (
            "{name: admit,",
            "{name: plugin-up,",
            'example.yaml:22:12: spec.steps[1].name: a second one of the name "plugin-up"',
        ),
        (
            "pod: trainer, phase: Running",
            "pod: trainer, kubeletVersions: ['>=1.25 <1.30'], phase: Running",
            (
                "example.yaml:25:5: spec.expect[0]: no combination of this scenario selects the "
                "row; there are: 1.24.0 checkpoint, 1.24.0 database, "
                "1.36.2 checkpoint, 1.36.2 database"
            ),
        ),
    ],
)
def test_a_name_that_leads_nowhere_is_told_with_the_nearest_one(
    old: str, new: str, expected: str
) -> None:
    assert error(edited(old, new)) == expected


def test_with_two_nodes_a_step_must_say_which() -> None:
    text = edited("- {name: node-a, numaNodes: 2}", "- {name: node-a}\n  - {name: node-b}")

    assert error(text) == (
        'example.yaml:11:5: spec.plugins[0]: the key "node" is missing; nodes are node-a, node-b'
    )


def test_a_parameter_takes_its_setting_else_its_default() -> None:
    text = edited("count: 4", "count: ${DEVICES:-4}")

    assert (
        len(parse(text).simulation(parse(text).combinations(Narrowing())[0]).plugins[0].devices)
        == 4
    )
    loaded = parse(text, DEVICES="6")
    assert len(loaded.simulation(loaded.combinations(Narrowing())[0]).plugins[0].devices) == 6
    assert loaded.parameters == {"DEVICES"}


def test_a_parameter_without_a_value_is_an_error() -> None:
    assert error(edited("count: 4", "count: ${DEVICES}")) == (
        "example.yaml:10:65: the parameter DEVICES has no value; "
        "give --set DEVICES=VALUE or write ${DEVICES:-default}"
    )


def test_what_is_put_in_for_a_parameter_is_never_read_as_yaml() -> None:
    text = edited("metadata: {name: example}", "metadata: {name: example, labels: {a: '${A}'}}")

    assert parse(text, A="x}, b: {y").scenario.metadata.labels == {"a": "x}, b: {y"}
    assert parse(text, A="7").scenario.metadata.labels == {"a": "7"}
