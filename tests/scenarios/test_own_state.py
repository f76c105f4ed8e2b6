"""An operator's own checkpoint and pods in the events of a node's life."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from scenarios.kubernetes.node_pods import read_node_pods
from scenarios.loading.loaded import load_scenarios, parse_scenarios
from scenarios.loading.matrix import Narrowing
from scenarios.own_node.state import Event, OwnNode, OwnScenario, own_scenario
from scenarios.running.replay import replay
from scenarios.schema.variants import Persistence
from simulator.assembly.worlds import simulated
from simulator.core.behavior import CheckpointFormat
from simulator.core.checkpoint.bindings import checkpoint_of
from simulator.core.checkpoint.recognition import inspect
from simulator.core.checkpoint.render import render
from simulator.core.devices import DeviceId, NumaNode
from simulator.core.pods import ContainerName, PodUid
from simulator.core.resources import ResourceName
from simulator.core.transitions import DeviceBinding
from simulator.errors import ManifestError, ScenarioError
from simulator.reports.summary import meanings

GPU = ResourceName("example.com/gpu")
NAME = "kubelet_internal_checkpoint"


def checkpoint(
    held: Mapping[str, tuple[str, ...]],
    registered: tuple[str, ...] | None = ("g0", "g1", "g2"),
    *,
    form: CheckpointFormat = CheckpointFormat.V2,
) -> bytes:
    """Return a file in which pods hold devices on NUMA node 0."""
    bindings = [
        DeviceBinding(
            PodUid(uid),
            ContainerName("main"),
            GPU,
            {NumaNode(0): tuple(DeviceId(each) for each in ids)},
            b"",
        )
        for uid, ids in held.items()
    ]
    known = [] if registered is None else [(GPU, [DeviceId(each) for each in registered])]
    return render(checkpoint_of(bindings, known, form))


def manifest(name: str, uid: str, *lines: str, node: str = "node-a", count: int = 1) -> str:
    """Return a pod of one container, with further lines at the end."""
    return "\n".join(
        [
            "---",
            "apiVersion: v1",
            "kind: Pod",
            f"metadata: {{name: {name}, uid: {uid}}}",
            "spec:",
            f"  nodeName: {node}",
            "  containers:",
            f"  - {{name: main, resources: {{limits: {{example.com/gpu: {count}}}}}}}",
            *lines,
            "",
        ]
    )


def made(  # noqa: PLR0913 - one for each thing that is varied
    pods: str,
    event: Event = Event.RESTART,
    *,
    content: bytes = checkpoint({"u1": ("g0",)}),
    versions: tuple[str, ...] = ("1.36.2",),
    node: str | None = None,
    persistences: tuple[Persistence, ...] = (Persistence("checkpoint"),),
) -> OwnScenario:
    own = OwnNode(NAME, content, inspect(content), read_node_pods(pods.encode(), "pods.yaml"), node)
    return own_scenario(own, event, versions=versions, persistences=persistences)


def outcomes(scenario: OwnScenario, pod: str = "trainer") -> dict[str, list[str]]:
    """Return what became of a pod: by scenario, a text for each version."""
    return {
        loaded.name: [
            cell.text()
            for row in replay(loaded, Narrowing(), simulated).rows
            if row.title.endswith(f" {pod}")
            for cell in row.cells
        ]
        for loaded in scenario.loaded
    }


def test_a_running_pod_at_a_restart() -> None:
    """R01, R02, table 5.4 "KR": only 1.27.2 kills it, while the plugin is away."""
    versions = ("1.24.0", "1.27.2", "1.36.2")
    found = outcomes(made(manifest("trainer", "u1"), versions=versions))

    kept = "Running, , , same devices"
    assert found["restart-plugin-first"] == [kept, kept, kept]
    assert [text.partition(",")[0] for text in found["restart-plugin-late"]] == [
        "Running",
        "Failed",
        "Running",
    ]


def test_a_running_pod_at_a_reboot() -> None:
    """R03, table 5.4 "RB": with the plugin late it fails since 1.27.2, in the kubelet's words."""
    versions = ("1.24.0", "1.27.2", "1.36.2")
    found = outcomes(made(manifest("trainer", "u1"), Event.REBOOT, versions=versions))

    assert {text.partition(",")[0] for text in found["reboot-plugin-first"]} == {"Running"}
    assert "same devices" in found["reboot-plugin-late"][0]
    for text in found["reboot-plugin-late"][1:]:
        assert text.startswith("Failed")
        assert "Pod was rejected: Allocate failed due to no healthy devices present" in text


@pytest.mark.parametrize(("restarts", "phase"), [(0, "Running"), (1, "Failed")])
def test_a_container_that_was_restarted_once_is_found_by_its_old_instance(
    restarts: int, phase: str
) -> None:
    """R04: 1.33 looks at one instance, maybe the exited one; fixed in 1.36."""
    status = (
        "status:",
        "  phase: Running",
        "  containerStatuses:",
        f"  - {{name: main, restartCount: {restarts}, state: {{running: {{}}}}}}",
    )
    pods = manifest("trainer", "u1", *status)
    found = outcomes(made(pods, versions=("1.33.0", "1.36.2")))

    assert [text.partition(",")[0] for text in found["restart-plugin-late"]] == [phase, "Running"]


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
def test_a_pod_that_has_ended_stays_as_it_is(phase: str) -> None:
    """S5.9: a terminal pod is not admitted again by 1.36."""
    pods = manifest("trainer", "u1", "status:", f"  phase: {phase}")
    found = outcomes(made(pods, Event.REBOOT))

    assert {text.partition(",")[0] for one in found.values() for text in one} == {phase}


def test_a_pod_whose_container_waits_is_started_after_the_event() -> None:
    status = (
        "status:",
        "  phase: Pending",
        "  containerStatuses: [{name: main, restartCount: 0, state: {waiting: {reason: X}}}]",
    )
    found = outcomes(made(manifest("trainer", "u1", *status)))

    assert found["restart-plugin-first"] == ["Running, , , same devices"]


def test_devices_left_over_are_not_released_while_the_sources_are_not_ready() -> None:
    """S6.1: in the first batch nothing is released, so a pod without a record finds none free."""
    content = checkpoint({"gone": ("g0",)}, registered=("g0",))
    pods = manifest("second", "u2", "status: {phase: Pending}")
    scenario = made(pods, content=content)

    left = outcomes(scenario, "leftover-gone")["restart-plugin-first"]
    [text] = outcomes(scenario, "second")["restart-plugin-first"]
    assert left == ["Deleted, , , not released"]
    assert "requested number of devices unavailable for example.com/gpu" in text
    assert scenario.notes[0] == "in the checkpoint, but not among the pods: leftover-gone (gone)"


def test_devices_left_over_are_released_when_a_later_pod_asks() -> None:
    """S6.2a, shown by a scenario that the user has changed."""
    content = checkpoint({"u1": ("g0",), "gone": ("g1",)})
    text, _, _ = made(manifest("trainer", "u1"), content=content).text.rpartition("---\n")
    newcomer = "  pods: [{manifest: {apiVersion: v1, kind: Pod, metadata: {name: newcomer}, spec: {"
    newcomer += "containers: [{name: main, resources: {limits: {example.com/gpu: 1}}}]}}}]\n"
    step = "  - {name: newcomer, at: 30s, createPod: {name: newcomer, node: node-a}}\n"
    changed = text.replace("  steps:\n", f"{newcomer}  steps:\n").replace(
        "  expect:\n", f"{step}  expect:\n"
    )
    [loaded] = parse_scenarios(changed.encode(), Path("own.yaml"), {}, files={NAME: content})

    [_, left] = replay(loaded, Narrowing(), simulated).rows
    assert left.cells[0].text() == "Deleted, , , released"


def test_nothing_releases_what_is_left_over_when_nobody_asks() -> None:
    """S6.3: ids are freed lazily."""
    content = checkpoint({"u1": ("g0",), "gone": ("g1",)})
    found = outcomes(made(manifest("trainer", "u1"), content=content), "leftover-gone")

    assert found["restart-plugin-first"] == ["Deleted, , , not released"]


def test_what_is_not_released_is_explained() -> None:
    content = checkpoint({"u1": ("g0",), "gone": ("g1",)})
    text = made(manifest("trainer", "u1"), content=content).text
    loaded = parse_scenarios(text.encode(), Path("own.yaml"), {}, files={NAME: content})

    assert meanings([replay(one, Narrowing(), simulated) for one in loaded]) == (
        "not released: the pod has ended, but the records still hold its devices.",
    )


def test_a_held_device_that_is_not_registered_is_taken_for_unhealthy() -> None:
    """S4.4: the file lists healthy devices only."""
    content = checkpoint({"u1": ("g0",)}, registered=("g1",))
    scenario = made(manifest("trainer", "u1"), Event.REBOOT, content=content)

    assert "unhealthy: [g0]" in scenario.text
    [note] = scenario.notes
    assert note == (
        "example.com/gpu: held, but not among the healthy devices of the checkpoint, so taken "
        "for unhealthy: g0"
    )
    [text] = outcomes(scenario)["reboot-plugin-first"]
    assert text.startswith("Failed")


def test_with_no_device_registered_what_pods_hold_is_there_when_the_plugin_is_back() -> None:
    """X14: after the grace period the file has the entry and no registered device."""
    content = checkpoint({"u1": ("g0",)}, registered=())
    scenario = made(manifest("trainer", "u1"), Event.REBOOT, content=content)

    assert "the plugin was away" in scenario.notes[0]
    assert outcomes(scenario)["reboot-plugin-first"] == ["Running, , , same devices"]


def test_the_file_that_is_written_is_the_scenario_that_is_run(tmp_path: Path) -> None:
    """Quotes stand where a version, a uid or an id would be read as a number or a parameter."""
    content = checkpoint({"1e3": ("1.50", "${x}"), "0x1": ("yes",)}, registered=("1.50",))
    pods = manifest("trainer", "'1e3'", count=2)
    scenario = made(pods, content=content, versions=("1.36", "1.24.0"))
    (tmp_path / NAME).write_bytes(content)
    (tmp_path / "own.yaml").write_text(scenario.text)

    loaded = load_scenarios(tmp_path / "own.yaml", {})

    assert [one.scenario for one in loaded] == [one.scenario for one in scenario.loaded]
    assert [one.nodes for one in loaded] == [one.nodes for one in scenario.loaded]
    [plugin] = loaded[0].scenario.spec.plugins
    assert plugin.devices.ids_of("gpu") == ("${x}", "1.50", "yes")
    assert [pod.uid for pod in loaded[0].nodes[0].pods] == ["1e3", "0x1"]


def test_pods_are_gone_through_oldest_first() -> None:
    """S5.7."""
    young = manifest("young", "u1").replace("uid: u1", 'uid: u1, creationTimestamp: "2026-02-01"')
    old = manifest("old", "u2").replace("uid: u2", 'uid: u2, creationTimestamp: "2026-01-01"')

    [node] = made(young + old).loaded[0].nodes

    assert [pod.name for pod in node.pods] == ["old", "young"]


def test_a_static_pod_is_known_by_the_uid_of_its_file() -> None:
    """The API's mirror pod has another uid than the kubelet, which writes its own."""
    pod = manifest("trainer", "mirror").replace(
        "uid: mirror", "uid: mirror, annotations: {kubernetes.io/config.mirror: u1}"
    )

    [node] = made(pod).loaded[0].nodes

    assert [(known.name, known.uid) for known in node.pods] == [("trainer", "u1")]


def test_of_several_nodes_the_one_with_pods_in_the_checkpoint_is_meant() -> None:
    others = manifest("other", "u9", node="node-b")
    scenario = made(manifest("trainer", "u1") + others)

    assert scenario.loaded[0].nodes[0].name == "node-a"
    assert scenario.notes == ("1 pod of other nodes or of none left out",)


def test_pods_of_one_name_are_told_apart_by_their_namespaces() -> None:
    second = manifest("trainer", "u2").replace("uid: u2", "uid: u2, namespace: team-b")

    [node] = made(manifest("trainer", "u1") + second).loaded[0].nodes

    assert [pod.name for pod in node.pods] == ["default.trainer", "team-b.trainer"]


def test_of_many_pods_left_over_a_few_are_named() -> None:
    content = checkpoint({f"gone-{number}": (f"g{number}",) for number in range(9)})

    [note, *_] = made(manifest("trainer", "u1"), content=content).notes

    assert note.endswith("leftover-gone-5 (gone-5) and 3 more")


@pytest.mark.parametrize(
    ("pods", "node", "expected"),
    [
        (
            "",
            None,
            "there is no pod; give what `kubectl get pods -A -o yaml` prints with --pods",
        ),
        (
            manifest("trainer", "u1").replace(", uid: u1", ""),
            None,
            (
                'pods.yaml:4:11: the pod "trainer" has no metadata.uid, by which a checkpoint '
                "names pods; give what `kubectl get pods -A -o yaml` prints"
            ),
        ),
        (
            manifest("a", "u8") + manifest("b", "u9", node="node-b"),
            None,
            (
                "there are pods, none in the checkpoint, of several nodes: node-a, node-b; "
                "say which with --node-name"
            ),
        ),
        (
            manifest("a", "u1"),
            "node-c",
            'no pod is bound to a node "node-c"; there are: node-a',
        ),
        (
            manifest("a", "u1") + manifest("b", "u1"),
            None,
            'two pods have the uid "u1"; give every pod once',
        ),
        (
            manifest("a", "u1", "status: {phase: Done}"),
            None,
            (
                'pods.yaml:9:17: status.phase: "Done" is no phase; there are Pending, Running, '
                "Succeeded, Failed, Unknown"
            ),
        ),
    ],
)
def test_what_cannot_be_used_is_told(pods: str, node: str | None, expected: str) -> None:
    with pytest.raises(ManifestError) as caught:
        made(pods, node=node)

    assert str(caught.value) == expected


def test_a_checkpoint_without_any_resource_is_told() -> None:
    content = b'{"Data":{"PodDeviceEntries":null,"RegisteredDevices":{}},"Checksum":4200095123}'

    with pytest.raises(ScenarioError, match="names no resource, so there is nothing to replay"):
        made(manifest("trainer", "u1"), content=content)


def test_what_cannot_stand_in_a_scenario_is_told_with_the_checkpoint() -> None:
    content = checkpoint({"u1": ("x" * 300,)})

    with pytest.raises(ScenarioError, match=f"^{NAME}: its state cannot stand in a scenario: "):
        made(manifest("trainer", "u1"), content=content)


def test_a_damaged_file_is_replayed_as_the_kubelet_takes_it() -> None:
    """S4.12: it starts with nothing; the pod's devices count as free."""
    content = checkpoint({"u1": ("g0",)})
    content = content[: content.rindex(b":")] + b":1}"
    scenario = made(manifest("trainer", "u1"), Event.REBOOT, content=content)

    assert scenario.notes == (
        "the checksum is wrong: a kubelet starts without any record from this file",
    )
    assert outcomes(scenario)["reboot-plugin-first"] == ["Running, , , new devices"]


KEPT = "Running, , , same devices"
WITHOUT = "Running, , , no devices"


@pytest.mark.parametrize("event", list(Event))
def test_a_file_of_another_format_is_lost_at_the_next_start(event: Event) -> None:
    """Table 5.4, row 1.20.0 to 1.22 "upgrade", and S4.15: admitted without records, plugin late."""
    content = checkpoint({"u1": ("g0",)}, form=CheckpointFormat.V1)
    versions = ("1.19.0", "1.20.2", "1.24.0", "1.36.2")
    scenario = made(manifest("trainer", "u1"), event, content=content, versions=versions)

    assert outcomes(scenario)[f"{event.value}-plugin-late"] == [KEPT, WITHOUT, KEPT, WITHOUT]
    [note] = scenario.notes
    assert note == (
        "the file has the format V1, which 1.20.2, 1.36.2 cannot read: "
        "that kubelet starts without any record from it"
    )


@pytest.mark.parametrize("event", list(Event))
@pytest.mark.parametrize("version", ["1.20.2", "1.27.2", "1.36.2"])
def test_after_a_damaged_file_nothing_is_refused(event: Event, version: str) -> None:
    """Table 5.3, last row, S3.7: the resource is unknown, so pods are admitted without devices."""
    content = checkpoint({"u1": ("g0",)})
    content = content[: content.rindex(b":")] + b":1}"
    scenario = made(manifest("trainer", "u1"), event, content=content, versions=(version,))

    assert outcomes(scenario)[f"{event.value}-plugin-late"] == [WITHOUT]


def test_a_resource_that_the_file_does_not_register_stays_unregistered() -> None:
    """X14, table 5.3 "same after 5 min without plugin": not even known when pods are admitted."""
    content = checkpoint({"u1": ("g0",)}, registered=None)
    [text] = outcomes(made(manifest("trainer", "u1"), Event.REBOOT, content=content))[
        "reboot-plugin-late"
    ]

    assert "Allocate failed due to cannot allocate unregistered device example.com/gpu" in text


@pytest.mark.parametrize(
    "state",
    ["waiting: {reason: CrashLoopBackOff}", "terminated: {exitCode: 0}"],
)
@pytest.mark.parametrize("version", ["1.27.6", "1.32.0", "1.36.2"])
def test_a_container_that_does_not_run_is_refused_while_the_plugin_is_away(
    version: str, state: str
) -> None:
    """Table 5.3, "container exited", whatever else the version does (a health update, S9.6)."""
    status = (
        "status:",
        "  phase: Running",
        f"  containerStatuses: [{{name: main, restartCount: 4, state: {{{state}}}}}]",
    )
    found = outcomes(made(manifest("trainer", "u1", *status), versions=(version,)))

    assert found["restart-plugin-first"] == [KEPT]
    assert found["restart-plugin-late"][0].startswith("Failed")
    assert "no healthy devices present" in found["restart-plugin-late"][0]


def test_a_database_starts_as_the_import_of_a_file_of_any_format() -> None:
    """details.md 17 and 18: V1 is imported whichever version runs; S4.15 is the kubelet's gap."""
    content = checkpoint({"u1": ("g0",)}, form=CheckpointFormat.V1)
    scenario = made(
        manifest("trainer", "u1"), content=content, persistences=(Persistence("database"),)
    )

    assert outcomes(scenario)["restart-plugin-late"] == [KEPT]
    assert scenario.notes == ()


def test_a_damaged_file_is_not_imported_into_a_database() -> None:
    content = checkpoint({"u1": ("g0",)})
    content = content[: content.rindex(b":")] + b":1}"
    scenario = made(
        manifest("trainer", "u1"), content=content, persistences=(Persistence("database"),)
    )

    with pytest.raises(ScenarioError) as caught:
        outcomes(scenario)

    assert str(caught.value) == (
        'the checkpoint of node "node-a" cannot be imported into a database: its checksum is '
        "wrong; run it with the persistence checkpoint"
    )


def test_a_node_too_large_for_a_scenario_is_told() -> None:
    held = {f"u{number}": (f"g{number}",) for number in range(4000)}
    pods = "".join(manifest(f"p{number}", f"u{number}") + "\n" for number in range(4000))

    with pytest.raises(ScenarioError) as caught:
        made(pods, content=checkpoint(held))

    assert re.fullmatch(
        f"{NAME}: a scenario of this node would have [0-9]+ bytes, and at most 1048576 are read; "
        "give fewer pods, or a file with fewer devices",
        str(caught.value),
    )


def test_pods_that_no_namespace_tells_apart_are_numbered() -> None:
    """A name with the namespace may be another pod's, twice the same, or too long."""
    content = checkpoint({"u1": ("g0",), "u2": ("g1",), "u3": ("g2",)})
    pods = (
        manifest("b", "u1").replace("name: b,", "name: b, namespace: a,")
        + "\n"
        + manifest("b", "u2").replace("name: b,", "name: b, namespace: a,")
        + "\n"
        + manifest("a.b", "u3")
    )
    [first, _] = made(pods, content=content).loaded

    assert [pod.name for pod in first.nodes[0].pods] == ["a.b-2", "a.b-3", "a.b"]


def test_a_name_that_is_too_long_with_its_namespace_is_cut() -> None:
    name = "b" * 253
    content = checkpoint({"u1": ("g0",), "u2": ("g1",)})
    pods = (
        manifest(name, "u1")
        + "\n"
        + manifest(name, "u2").replace(f"name: {name},", f"name: {name}, namespace: x,")
    )
    [first, _] = made(pods, content=content).loaded

    names = [pod.name for pod in first.nodes[0].pods]
    assert names == [f"default.{'b' * 243}-2", f"x.{'b' * 249}-2"]
