"""What is said about a kubelet's next start, against what the simulated kubelet does."""

from __future__ import annotations

from dataclasses import replace

import pytest

from simulator.core.behavior import CheckpointFormat
from simulator.core.checkpoint.bindings import checkpoint_of
from simulator.core.checkpoint.outlook import Outlook, outlook
from simulator.core.checkpoint.recognition import inspect
from simulator.core.checkpoint.render import render
from simulator.core.checkpoint.values import Checkpoint
from simulator.core.devices import DeviceId, NumaNode
from simulator.core.pods import Container, ContainerName, Pod, PodUid
from simulator.core.records import ManagerStarted, StateWritten
from simulator.core.switches import behavior_for
from simulator.core.transitions import DeviceBinding
from simulator.engine.actions import (
    CreatePod,
    RebootNode,
    RestartKubelet,
    StartPlugin,
    UpgradeKubelet,
)
from simulator.engine.spec import NodeSpec, PodStart
from simulator.errors import CheckpointError
from tests.engine.runs import GPU, NODE, Run, a_spec, container, pod, with_plugin

UIDS = (PodUid("u0"), PodUid("u1"))
PODS = tuple(
    Pod(uid, f"pod-{uid}", containers=(Container(ContainerName("app"), ((GPU, 1),)),))
    for uid in UIDS
)
VERSIONS = (
    *("1.10", "1.14", "1.19", "1.20.2", "1.20.14", "1.25.12"),
    *("1.27.1", "1.27.6", "1.29", "1.30", "1.36.2", "trust-checkpoint"),
)
FIELD_FIVE_UNREADABLE = b"\xff"


def binding(uid: PodUid, device: str, response: bytes = b"") -> DeviceBinding:
    groups = {NumaNode(0): (DeviceId(device),)}
    return DeviceBinding(uid, ContainerName("app"), GPU, groups, response)


def written(form: CheckpointFormat, *bindings: DeviceBinding) -> bytes:
    registered = [(GPU, [DeviceId(f"g{number}") for number in range(4)])]
    return render(checkpoint_of(bindings, registered, form))


TWO = (binding(UIDS[0], "g0"), binding(UIDS[1], "g1"))
V1 = written(CheckpointFormat.V1, *TWO)
V2 = written(CheckpointFormat.V2, *TWO)
FILES = {
    "v1": V1,
    "v2": V2,
    "cut": V2[:60],
    "empty": b"",
    "checksum": V2.replace(b'"g1"', b'"g2"', 1),
    "undecodable": written(
        CheckpointFormat.V2, TWO[0], binding(UIDS[1], "g1", FIELD_FIVE_UNREADABLE)
    ),
    "no entries": written(CheckpointFormat.V2),
}


def said_of(content: bytes, version: str) -> Outlook:
    return outlook(content, content_of(content), behavior_for(version))


def content_of(content: bytes) -> Checkpoint | None:
    try:
        return inspect(content).checkpoint
    except CheckpointError:
        return None


def a_node(content: bytes, version: str) -> Run:
    """Return a node with the file and two running pods; its plugin does not come by itself."""
    spec = with_plugin(a_spec(pod("late"), version=version), reregister_after=None)
    node = NodeSpec(NODE, checkpoint=content, pods=PODS)
    return Run(replace(spec, nodes=(node,)))


def phases(run: Run) -> list[str]:
    return [run.pod(each.name).phase for each in PODS]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("file", FILES)
def test_what_is_restored_left_out_and_not_read_is_what_was_said(file: str, version: str) -> None:
    said = said_of(FILES[file], version)
    run = a_node(FILES[file], version)
    run.wait(1)
    (started,) = run.records(ManagerStarted)

    assert started.source == ("checkpoint" if said.is_read else "nothing")
    assert started.error == said.error
    assert started.bindings == len(said.restored)
    assert started.skipped == len(said.skipped)
    assert started.registered == said.registered


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("file", ["v1", "v2", "cut"])
def test_running_pods_are_refused_at_a_restart_where_it_was_said(file: str, version: str) -> None:
    run = a_node(FILES[file], version)
    run.do(RestartKubelet(NODE))
    run.wait(5)

    refused = said_of(FILES[file], version).refuses_running_pods
    assert phases(run) == ["Failed" if refused else "Running"] * 2


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("file", ["v1", "v2", "cut"])
def test_pods_are_refused_after_a_reboot_where_it_was_said(file: str, version: str) -> None:
    run = a_node(FILES[file], version)
    run.do(RebootNode(NODE))
    run.wait(5)

    refused = said_of(FILES[file], version).refuses_after_reboot
    assert ("Failed" in phases(run)) is refused


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("file", ["v1", "v2", "cut"])
def test_devices_of_lost_records_are_given_again_and_of_others_are_not(
    file: str, version: str
) -> None:
    """S4.14: the first device is free again only for a kubelet that has no record."""
    run = a_node(FILES[file], version)
    run.do(StartPlugin("gpu"))
    run.do(CreatePod("late"))

    free_again = not said_of(FILES[file], version).is_read
    (held,) = run.pod("late").device_ids
    assert held == (GPU, ("g0",) if free_again else ("g2",))


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("file", ["v1", "v2", "cut"])
def test_the_next_file_comes_with_the_first_devices_and_in_the_format_that_was_said(
    file: str, version: str
) -> None:
    run = a_node(FILES[file], version)
    run.wait(5)
    assert run.records(StateWritten) == []
    run.do(StartPlugin("gpu"))
    assert [each.cause for each in run.records(StateWritten)][:1] == ["devices"]

    run.do(CreatePod("late"))
    form = behavior_for(version).checkpoint_written
    run.do(UpgradeKubelet(NODE, "1.19"))
    run.wait(1)
    assert (run.records(ManagerStarted)[-1].error == "") is (form is CheckpointFormat.V1)


@pytest.mark.parametrize(
    ("version", "is_read", "assumed"),
    [
        ("1.19", True, False),
        ("1.20.2", False, False),
        ("1.20.14", True, True),
        ("1.22.4", False, False),
        ("1.22.5", True, True),
        ("1.29", True, True),
        ("1.30", False, False),
        ("1.36.2", False, False),
    ],
)
def test_v1_files_are_read_by_these_kubelets_under_numa_node_0(
    version: str, *, is_read: bool, assumed: bool
) -> None:
    """S4.15: the gap of 1.20 to 1.22, and 1.30."""
    said = said_of(V1, version)

    assert said.is_read is is_read
    assert said.numa_is_assumed is assumed
    assert len(said.lost) == (0 if is_read else 2)


def test_an_entry_of_a_pod_that_is_gone_is_held_until_the_next_admission() -> None:
    """S6.1, S4.10: the file still names it, then its device is given to the next pod."""
    gone = PodStart(gone=True)
    spec = with_plugin(a_spec(pod("late"), pod("later", container(count=3))))
    node = NodeSpec(NODE, checkpoint=V2, pods=PODS, pod_starts={UIDS[0]: gone})
    run = Run(replace(spec, nodes=(node,)))
    run.do(StartPlugin("gpu"))
    run.wait(5)
    assert run.simulation.checkpoint(NODE).entries == 2
    run.do(CreatePod("later"))

    assert run.pod("later").phase == "Running"
    assert dict(run.pod("later").device_ids)[GPU] == ("g0", "g2", "g3")
    assert run.simulation.checkpoint(NODE).entries == 2
