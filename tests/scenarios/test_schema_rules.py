"""Rules of scenario files that go beyond the type of a value."""

from __future__ import annotations

import pytest

from scenarios.loading.matrix import Narrowing
from simulator.core.devices import Device, DeviceId, NumaNode
from simulator.engine import actions
from simulator.engine.actions import Loss
from simulator.errors import ScenarioError
from tests.scenarios.writing import SCENARIO, edited, parse

DEVICES = "devices: {count: 4, numa: spread}"
REBOOT = "rebootNode: {name: node-a, downtime: 1m30s}"
ROW = "after: admit, within: 1s, pod: trainer, phase: Running"


def error(text: str) -> str:
    with pytest.raises(ScenarioError) as caught:
        parse(text)
    return caught.value.reason


def devices(text: str) -> tuple[Device, ...]:
    loaded = parse(edited(DEVICES, f"devices: {text}"))
    return loaded.simulation(loaded.combinations(Narrowing())[0]).plugins[0].devices


def action(text: str) -> actions.Action:
    return parse(edited(REBOOT, text)).actions[2]


def device(name: str, health: str = "Healthy", *numa: int) -> Device:
    nodes = tuple(NumaNode(node) for node in numa)
    return Device(DeviceId(name), health, nodes or None)


def test_devices_are_counted_named_or_listed_one_by_one() -> None:
    assert devices("{count: 2}") == (device("gpu-0"), device("gpu-1"))
    assert devices("{count: 1, prefix: GPU, numa: 1}") == (device("GPU0", "Healthy", 1),)
    assert devices("{ids: [b, a], unhealthy: [a]}") == (device("b"), device("a", "Unhealthy"))
    assert devices("{each: [{id: x, health: healthy, numa: [0, 1]}, {id: y}], unhealthy: [y]}") == (
        device("x", "healthy", 0, 1),
        device("y", "Unhealthy"),
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{}", 'wants one of "count", "ids" and "each", found 0 of them'),
        ("{count: 1, ids: [a]}", 'wants one of "count", "ids" and "each", found 2 of them'),
        ("{ids: [a, a]}", "one device id stands in the list twice"),
        ("{ids: ['']}", '"" is not a device id: 1 to 256 printable characters'),
        ("{ids: [7]}", "wants a device id, found the number 7; put it in quotes"),
        (
            "{count: 2, unhealthy: [gpu-1, gpu-2]}",
            'devices.unhealthy[1]: there is no device in this list named "gpu-2"; did you mean',
        ),
        ("{count: 1, numa: -1}", "wants spread, a NUMA node or a list of them"),
        ("{count: 1, numa: [a]}", "wants spread, a NUMA node or a list of them, found a list"),
        ("{count: 20001}", "wants at most 20000, found the number 20001"),
        ("4", "devices: wants a map with any of count, prefix, ids, each, unhealthy, numa, found"),
    ],
)
def test_a_list_of_devices_has_one_form(text: str, expected: str) -> None:
    assert expected in error(edited(DEVICES, f"devices: {text}"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("restartKubelet: {node: node-a, downtime: 5s}", actions.RestartKubelet),
        ("crashKubelet: {}", actions.CrashKubelet),
        ("upgradeKubelet: {version: 1.36.2}", actions.UpgradeKubelet),
        ("recreateNode: {name: node-a}", actions.RecreateNode),
        ("databaseFile: {action: replace}", actions.DatabaseFile),
        ("slowDisk: {addedFsync: 5ms}", actions.SlowDisk),
        ("apiOutage: {duration: 1m}", actions.ApiOutage),
        ("diskFull: {}", actions.DiskFull),
        ("stopPlugin: {name: gpu}", actions.StopPlugin),
        ("crashPlugin: {name: gpu, restartAfter: 5s}", actions.CrashPlugin),
        ("hangPlugin: {name: gpu}", actions.HangPlugin),
        ("breakStream: {name: gpu}", actions.BreakStream),
        ("reportDevices: {name: gpu, devices: {count: 1}}", actions.ReportDevices),
        ("deletePod: {name: trainer, force: true}", actions.DeletePod),
        ("finishPod: {name: trainer}", actions.FinishPod),
        ("restartContainer: {pod: trainer, container: main}", actions.RestartContainer),
        ("advance: {duration: 5m}", actions.Advance),
    ],
)
def test_every_action_of_the_engine_is_a_step(text: str, expected: type) -> None:
    assert isinstance(action(text), expected)


def test_a_power_cut_may_wait_for_an_effect() -> None:
    now = action("powerCut: {downtime: 1s, loss: random}")
    later = action("powerCut: {when: {op: rename, phase: before}}")

    assert isinstance(now, actions.PowerCut)
    assert (now.effect, now.loss) == (None, Loss.RANDOM)
    assert isinstance(later, actions.PowerCut)
    assert (later.effect, later.when, later.loss) == ("rename", actions.When.BEFORE, Loss.ALL)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            REBOOT,
            "restartKubelet: {node: node-a, name: node-a}",
            'spec.steps[2].restartKubelet: "node" and "name" both name the node; leave one out',
        ),
        (
            "{name: reboot, at: 5s,",
            "{name: reboot, at: 5s, after: admit,",
            'the step "reboot" has both "at" and "after"; leave one out',
        ),
        (
            ROW,
            "after: admit, pod: trainer, show: [phase, allocatable]",
            '"allocatable" is no key of a pod to show; allowed: phase, reason, message, devices',
        ),
        (
            ROW,
            "after: admit, pod: trainer",
            (
                "says nothing about its pod; give one of phase, reason, message, devices, "
                "deviceIDs, unchanged, sameDevices, pluginCalls"
            ),
        ),
        (
            ROW,
            "after: admit, phase: Running, node: node-a",
            '"phase" needs "pod: NAME" in the same row',
        ),
        (
            ROW,
            "after: admit, record: {type: PodDelete}",
            '"PodDelete" is not a type of record; did you mean "PodDeleted"? Allowed: Adm',
        ),
        (
            ROW,
            "after: admit, record: {type: PodDeleted, where: {nam: trainer}}",
            'a PodDeleted has no field "nam"; did you mean "name"? Allowed: pod, name',
        ),
        (
            ROW,
            "after: admit, pod: trainer, kubeletVersions: [latest], phase: Running",
            '"latest" is neither a kubelet version nor a range',
        ),
        (
            ROW,
            "after: admit, pod: trainer, kubeletVersions: [], phase: Running",
            "spec.expect[0].kubeletVersions: wants at least 1 item, found 0",
        ),
        (
            ROW,
            "after: admit, pod: trainer, persistence: [7], phase: Running",
            "wants a persistence or a map of one persistence to options, found the number 7",
        ),
        (
            ROW,
            "after: admit, plugin: gpu, calls: {Alocate: 1}",
            '"Alocate" is not allowed here; did you mean "Allocate"? Allowed: Allocate, Get',
        ),
        (
            "createPod: {name: trainer, node: node-a}",
            "restartContainer: {pod: trainer, container: mian}",
            'there is no container of pod "trainer" named "mian"; did you mean "main"?',
        ),
        (
            '["1.24.0", "1.36.2"]',
            '["1.24.0", "1.9"]',
            "spec.kubeletVersions[1]: kubelet 1.9 is older than 1.10, the oldest that can be re",
        ),
        (
            "createPod: {name: trainer, node: node-a}",
            "upgradeKubelet: {version: 1.9.0}",
            "spec.steps[1].upgradeKubelet.version: kubelet 1.9.0 is older than 1.10",
        ),
        (
            ROW,
            f"after: admit, pod: trainer, phase: Running, kubeletVersions: ['{'1.24 ' * 100}']",
            "is neither a kubelet version nor a range",
        ),
        ("at: 5s", "at: 5s, delay: 1s", 'the step "reboot" has both "at" and "delay"'),
        ("at: 5s", "at: 721h", 'wants a duration of at most 720h0m0s, found "721h"'),
        (
            '["1.24.0", "1.36.2"]',
            '["1.24.0", "2.0"]',
            "'2.0' is not a kubelet version; write one such as",
        ),
        (
            "resourceName: example.com/gpu",
            "resourceName: [a]",
            "wants an extended resource name, found a list",
        ),
        ("metadata: {name: example}", "metadata: {name: ~}", "wants a name, found nothing"),
        ("startPlugin: {name: gpu}", "hangPlugin: {name: gpu, duration: true}", "found true"),
        (
            "  - {always: true, invariants: all}\n",
            "  - {always: true, invariants: {broken: all}}\n",
            "spec.expect[1].invariants: wants all, or a map with broken: [I1, …], found a map",
        ),
    ],
)
def test_a_rule_that_is_broken_is_told(old: str, new: str, expected: str) -> None:
    assert expected in error(edited(old, new))


def test_a_text_in_place_of_a_map_is_told_the_keys_that_it_must_have() -> None:
    told = error(edited("startPlugin: {name: gpu}", "startPlugin: gpu"))

    assert told.endswith('.startPlugin: wants a map with name, found "gpu"')


def test_a_misspelt_key_is_told_as_such_and_not_as_missing() -> None:
    told = error(edited("devices: {count", "device: {count"))

    assert 'spec.plugins[0]: unknown key "device"; did you mean "devices"?' in told


def test_a_document_that_is_no_map_is_told() -> None:
    wanted = "wants a map with apiVersion, kind, metadata, spec, found a list"
    assert error("[1, 2]\n") == wanted
    assert 'the key "apiVersion" is missing' in error("kind: Scenario\n")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("${A B}", "${A B} is not a parameter; write ${NAME} or ${NAME:-default}"),
        ("\ue000${A:-x}", "a file with parameters cannot hold the private-use character U+E000"),
        (" ".join(["${A:-x}"] * 4001), "the file has 4001 parameters, at most 4000 are read"),
    ],
)
def test_what_is_no_parameter_is_told(text: str, expected: str) -> None:
    labels = f"metadata: {{name: example, labels: {{a: '{text}'}}}}"

    assert error(edited("metadata: {name: example}", labels)) == expected


def test_two_dollars_stand_for_one() -> None:
    labels = "metadata: {name: example, labels: {a: '$${A} ${A:-x} ${B:-}'}}"

    loaded = parse(edited("metadata: {name: example}", labels))
    assert loaded.scenario.metadata.labels == {"a": "${A} x "}
    assert loaded.parameters == {"A", "B"}


def test_a_scenario_says_little_to_begin_with() -> None:
    loaded = parse(SCENARIO.replace('  kubeletVersions: ["1.24.0", "1.36.2"]\n', "").replace(
        "  persistence: [checkpoint, database]\n", ""))  # fmt: skip

    assert [run.label for run in loaded.combinations(Narrowing())] == ["1.36.2 database"]
