"""Static pods: files on the node that the kubelet reads without the API server (S5.3)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from simulator.core.records import AdmissionDecided
from simulator.engine.actions import (
    ApiOutage,
    CreatePod,
    DeletePod,
    RebootNode,
    RestartKubelet,
    StartPlugin,
)
from simulator.engine.spec import PodSpec
from simulator.errors import ConfigError
from tests.engine.runs import NODE, Run, a_spec, pod, seconds, with_plugin


def static(name: str) -> PodSpec:
    return replace(pod(name), static=True)


def running(*pods: PodSpec, version: str = "1.36.2", quick: bool = True) -> Run:
    """Return a node whose pods run; a quick plugin registers before the static pods are read."""
    spec = with_plugin(
        a_spec(*pods, version=version), reregister_after=seconds(0.02) if quick else None
    )
    run = Run(spec)
    run.do(StartPlugin("gpu"))
    for each in pods:
        run.do(CreatePod(each.name))
    return run


def decided(run: Run) -> list[str]:
    names = {each.uid: each.name for each in run.simulation.pods()}
    return [names[record.pod] for record in run.records(AdmissionDecided)]


def test_static_pods_come_before_older_pods_of_the_api() -> None:
    run = running(pod("older"), static("file"))
    run.do(RestartKubelet(NODE))

    assert decided(run) == ["older", "file", "file", "older"]


def test_a_static_pod_needs_no_api_server() -> None:
    """S5.3; the pods of the API wait for it, and the config sources are not ready (S5.4)."""
    run = running(static("file"), pod("web"))
    run.do(ApiOutage(NODE, seconds(30)))
    run.begin(RestartKubelet(NODE))
    run.wait(10)
    assert decided(run) == ["file", "web", "file"]
    run.wait(30)

    assert decided(run) == ["file", "web", "file", "web"]
    assert run.pod("file").unchanged
    assert run.pod("web").unchanged


def test_a_static_pod_can_be_added_while_the_api_server_is_away() -> None:
    run = Run(a_spec(static("file"), pod("web")))
    run.do(StartPlugin("gpu"))
    run.do(ApiOutage(NODE, seconds(30)))
    run.begin(CreatePod("web"))
    run.begin(CreatePod("file"))
    run.wait(10)
    assert decided(run) == ["file"]
    run.wait(30)

    assert decided(run) == ["file", "web"]
    assert run.pod("file").phase == "Running"


def test_a_static_pod_added_before_a_kubelet_reads_its_files_is_admitted_once() -> None:
    run = Run(a_spec(static("late")))
    run.do(StartPlugin("gpu"))
    run.begin(RestartKubelet(NODE, seconds(2)))
    run.wait(2.05)
    run.do(CreatePod("late"))
    run.wait(1)

    assert decided(run) == ["late"]


@pytest.mark.parametrize("version", ["1.27.2", "1.31.4", "1.36.2"])
def test_a_refused_static_pod_is_admitted_by_the_next_kubelet_process(version: str) -> None:
    """A file has no status; for a pod of the API the rejection is final (S5.9)."""
    run = running(static("file"), pod("web"), version=version)
    before = run.pod("file").device_ids
    run.do(RebootNode(NODE, seconds(5)))
    run.wait(1)
    assert [run.pod("file").phase, run.pod("web").phase] == ["Failed", "Failed"]
    run.do(StartPlugin("gpu"))
    run.do(RestartKubelet(NODE))
    run.wait(1)

    assert run.pod("file").phase == "Running"
    assert run.pod("file").device_ids == before
    assert run.pod("web").phase == "Failed"


def test_a_static_pod_ends_when_its_file_is_removed() -> None:
    run = running(static("file"))
    run.do(DeletePod("file"))

    assert run.pod("file").phase == "Deleted"
    assert run.simulation.pods() == []


def test_a_static_pod_without_a_node_is_refused() -> None:
    homeless = replace(static("file"), node=None)

    with pytest.raises(ConfigError, match='the static pod "file" stands in a file of a node'):
        Run(a_spec(homeless))
