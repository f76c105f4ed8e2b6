"""Files that a scenario refers to: manifests and checkpoints."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scenarios.loading.loaded import LoadedScenario, load_scenarios
from scenarios.loading.matrix import Narrowing
from simulator.engine import actions
from simulator.errors import InputError, ManifestError, ScenarioError
from tests.scenarios.writing import SCENARIO, edited

MANIFEST = """\
apiVersion: v1
kind: Pod
metadata: {name: trainer}
spec:
  nodeName: ${NODE:-node-a}
  containers:
  - {name: main, resources: {limits: {example.com/gpu: 2}}}
"""
CHECKPOINT = (
    '{"Data":{"PodDeviceEntries":[{"PodUID":"u1","ContainerName":"c",'
    '"ResourceName":"example.com/gpu","DeviceIDs":{"0":["g0","g2"],"1":["g1"],"10":["g10"]},'
    '"AllocResp":"Cg0KB1ZJU0lCTEUSAmcwGhYKBy9kZXYvZzASBy9kZXYvZzAaAnJ3"}],'
    '"RegisteredDevices":{"example.com/gpu":["g0","g1"]}},"Checksum":1380764232}'
)
"""Golden vector A6."""

INLINE = SCENARIO[SCENARIO.index("  - manifest:") : SCENARIO.index("  steps:")]


def with_pod(text: str) -> str:
    return edited(INLINE, text)


def load(folder: Path, text: str, **settings: str) -> LoadedScenario:
    path = folder / "scenario.yaml"
    path.write_text(text, encoding="utf-8")
    [loaded] = load_scenarios(path, settings)
    return loaded


def error(folder: Path, text: str) -> str:
    with pytest.raises(InputError) as caught:
        load(folder, text)
    return caught.value.reason


def test_a_manifest_may_stand_in_a_file_beside_the_scenario(tmp_path: Path) -> None:
    (tmp_path / "pods").mkdir()
    (tmp_path / "pods" / "trainer.yaml").write_text(MANIFEST)

    loaded = load(tmp_path, with_pod("  - manifest: {path: pods/trainer.yaml}\n"))
    other = load(tmp_path, with_pod("  - manifest: {path: pods/trainer.yaml}\n"), NODE="node-b")
    assert [(pod.name, pod.node) for pod in loaded.pods] == [("trainer", "node-a")]
    assert loaded.parameters == {"NODE"}
    assert other.pods[0].node == "node-b"


def test_a_fault_in_a_manifest_file_has_its_place_there(tmp_path: Path) -> None:
    (tmp_path / "pod.yaml").write_text(MANIFEST.replace("limits", "limit"))

    with pytest.raises(ManifestError) as caught:
        load(tmp_path, with_pod("  - manifest: {path: pod.yaml}\n"))
    assert (Path(caught.value.path).name, caught.value.line) == ("pod.yaml", 7)


def test_a_file_that_is_not_there_is_told_at_its_place(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError) as caught:
        load(tmp_path, with_pod("  - manifest: {path: none.yaml}\n"))

    assert "cannot read the file" in caught.value.reason
    assert (caught.value.line, caught.value.column) == (12, 22)


def test_a_folder_or_a_name_with_a_zero_byte_is_no_file(tmp_path: Path) -> None:
    assert "cannot read" in error(tmp_path, with_pod("  - manifest: {path: .}\n"))
    assert "cannot read" in error(tmp_path, with_pod('  - manifest: {path: "a\\0b"}\n'))


def test_two_pods_of_one_name_are_refused(tmp_path: Path) -> None:
    (tmp_path / "pod.yaml").write_text(MANIFEST)
    twice = "  - manifest: {path: pod.yaml}\n  - manifest: {path: pod.yaml}\n"

    assert 'a second pod of the name "trainer"' in error(tmp_path, with_pod(twice))


def test_a_node_starts_from_a_checkpoint_with_the_pods_that_it_implies(tmp_path: Path) -> None:
    (tmp_path / "checkpoint").write_text(CHECKPOINT)
    node = "{name: node-a, checkpoint: {path: checkpoint}, pods: [{uid: u1, name: old}]}"

    loaded = load(tmp_path, edited("{name: node-a, numaNodes: 2}", node))
    [old] = loaded.nodes[0].pods
    assert loaded.nodes[0].checkpoint == CHECKPOINT.encode()
    assert (old.uid, old.name) == ("u1", "old")
    assert [(one.name, one.limits) for one in old.containers] == [("c", (("example.com/gpu", 4),))]


def test_a_known_pod_may_have_its_own_manifest(tmp_path: Path) -> None:
    (tmp_path / "checkpoint").write_text(CHECKPOINT)
    (tmp_path / "pod.yaml").write_text(MANIFEST)
    pod = "{uid: u1, name: old, manifest: {path: pod.yaml}}"
    node = f"{{name: node-a, checkpoint: {{path: checkpoint}}, pods: [{pod}]}}"

    [old] = load(tmp_path, edited("{name: node-a, numaNodes: 2}", node)).nodes[0].pods
    assert (old.uid, old.name) == ("u1", "old")
    assert old.containers[0].limits == (("example.com/gpu", 2),)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (CHECKPOINT, 'the checkpoint has no pod "u2", it has: u1'),
        ("{", "wants a manifest, because the checkpoint cannot be read"),
    ],
)
def test_a_pod_that_a_checkpoint_does_not_show_needs_a_manifest(
    tmp_path: Path, content: str, expected: str
) -> None:
    (tmp_path / "checkpoint").write_text(content)
    node = "{name: node-a, checkpoint: {path: checkpoint}, pods: [{uid: u2, name: old}]}"

    assert expected in error(tmp_path, edited("{name: node-a, numaNodes: 2}", node))


@pytest.mark.parametrize(
    ("pods", "expected"),
    [
        (
            "{uid: u1, name: old}, {uid: u1, name: other}",
            'spec.nodes[0].pods[1].uid: a second pod of the uid "u1"',
        ),
        (
            "{uid: u1, name: old}, {uid: u2, name: old, manifest: {path: pod.yaml}}",
            'spec.nodes[0].pods[1].name: a second pod of the name "old"',
        ),
        (
            "{uid: u1, name: trainer}",
            'spec.nodes[0].pods[0].name: a second pod of the name "trainer"',
        ),
    ],
)
def test_known_pods_have_names_and_uids_of_their_own(
    tmp_path: Path, pods: str, expected: str
) -> None:
    (tmp_path / "checkpoint").write_text(CHECKPOINT)
    (tmp_path / "pod.yaml").write_text(MANIFEST)
    node = f"{{name: node-a, checkpoint: {{path: checkpoint}}, pods: [{pods}]}}"

    assert error(tmp_path, edited("{name: node-a, numaNodes: 2}", node)) == expected


def test_a_step_may_put_another_checkpoint_in_place(tmp_path: Path) -> None:
    (tmp_path / "other").write_text(CHECKPOINT)
    step = "checkpointFile: {node: node-a, action: replace, path: other}"
    text = edited("rebootNode: {name: node-a, downtime: 1m30s}", step)

    action = load(tmp_path, text).actions[2]
    assert isinstance(action, actions.CheckpointFile)
    assert action.content == CHECKPOINT.encode()


def test_a_path_belongs_to_replacing_and_to_nothing_else(tmp_path: Path) -> None:
    for given in ("action: replace", "action: delete, path: other"):
        step = f"checkpointFile: {{node: node-a, {given}}}"
        text = edited("rebootNode: {name: node-a, downtime: 1m30s}", step)

        assert '"path" belongs to "action: replace"' in error(tmp_path, text)


def test_a_file_may_hold_several_scenarios_of_different_names(tmp_path: Path) -> None:
    path = tmp_path / "scenarios.yaml"
    path.write_text(f"{SCENARIO}---\n{SCENARIO.replace('name: example}', 'name: other}')}")

    assert [loaded.name for loaded in load_scenarios(path, {})] == ["example", "other"]
    path.write_text(f"{SCENARIO}---\n{SCENARIO}")
    with pytest.raises(ScenarioError, match='a second scenario of the name "example"'):
        load_scenarios(path, {})


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    assert error(tmp_path, "# nothing\n") == "the file holds no document"


def test_a_scenario_may_be_written_in_json(tmp_path: Path) -> None:
    plain = {
        "apiVersion": "rebind.internal/v1alpha1",
        "kind": "Scenario",
        "metadata": {"name": "example"},
        "spec": {
            "nodes": [{"name": "node-a"}],
            "steps": [{"name": "wait", "advance": {"duration": "1s"}}],
        },
    }

    loaded = load(tmp_path, json.dumps(plain, indent="\t"))
    assert [run.label for run in loaded.combinations(Narrowing())] == ["1.36.2 database"]


def test_a_scenario_says_whether_statuses_are_gathered(tmp_path: Path) -> None:
    """S12.3: one patch for several changes is a kubelet's way."""
    usual = load(tmp_path, SCENARIO)
    each = load(tmp_path, edited("  nodes:\n", "  statusCoalesce: false\n  nodes:\n"))
    found = [
        one.simulation(one.combinations(Narrowing())[0]).api.status_coalesce
        for one in (usual, each)
    ]

    assert found == [True, False]
    assert 'wants true or false, found "no"' in error(
        tmp_path, edited("  nodes:\n", '  statusCoalesce: "no"\n  nodes:\n')
    )
