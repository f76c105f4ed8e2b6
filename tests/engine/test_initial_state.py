"""A run that begins in the middle of a node's life, and what cannot be asked of a run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from simulator.core.behavior import CheckpointFormat
from simulator.core.checkpoint.bindings import checkpoint_of
from simulator.core.checkpoint.render import render
from simulator.core.devices import DeviceId, NumaNode
from simulator.core.pods import Container, ContainerKind, ContainerName, Pod, PodUid
from simulator.core.records import (
    ContainerChanged,
    InvariantViolated,
    KubeletStartFailed,
    PluginCalled,
)
from simulator.core.resources import ResourceName
from simulator.core.transitions import DeviceBinding, NodeName
from simulator.engine.actions import (
    Advance,
    CreatePod,
    DeletePod,
    FinishPod,
    RebootNode,
    RestartContainer,
    RestartKubelet,
    StartPlugin,
    UpgradeKubelet,
)
from simulator.engine.spec import NodeSpec, SimulationSpec
from simulator.errors import ConfigError, ScenarioError
from simulator.ports import Store
from tests.engine.runs import GPU, NODE, Run, a_spec, container, no_store, pod, seconds, with_plugin
from tests.engine.test_database import sqlite

NO_POLICY = (
    '"any" is no topology manager policy; '
    "there are: none, best-effort, restricted, single-numa-node"
)
UID = PodUid("u1")
RUNNING_POD = Pod(
    UID,
    "trainer",
    init_containers=(Container(ContainerName("setup"), ((GPU, 1),), ContainerKind.INIT),),
    containers=(Container(ContainerName("app"), ((GPU, 1),)),),
)


def binding(container_name: str, device: str) -> DeviceBinding:
    groups = {NumaNode(-1): (DeviceId(device),)}
    return DeviceBinding(UID, ContainerName(container_name), GPU, groups, b"")


def checkpoint_file() -> bytes:
    bindings = [binding("setup", "g2"), binding("app", "g2")]
    registered = [(GPU, [DeviceId("g0"), DeviceId("g2")])]
    return render(checkpoint_of(bindings, registered, CheckpointFormat.V2))


def warm_spec(persistence: str) -> SimulationSpec:
    node = NodeSpec(NODE, checkpoint=checkpoint_file(), pods=(RUNNING_POD,))
    spec = with_plugin(a_spec(persistence=persistence), reregister_after=seconds(0.01))
    return replace(spec, nodes=(node,))


@pytest.mark.parametrize(
    ("persistence", "factory"), [("checkpoint", no_store), ("database", sqlite)]
)
def test_a_node_begins_with_the_pods_and_devices_of_a_checkpoint(
    persistence: str, factory: Callable[[NodeName], Store]
) -> None:
    run = Run(warm_spec(persistence), store_factory=factory)
    run.wait(1)
    assert run.pod("trainer").phase == "Running"
    assert run.pod("trainer").device_ids == (("example.com/gpu", ("g2",)),)
    [placed] = run.records(ContainerChanged)
    assert (placed.state, placed.message) == ("running", "since before the run")
    assert placed.devices == (("example.com/gpu", ("g2",)),)
    run.do(StartPlugin("gpu"))
    run.do(RestartKubelet(NODE))
    run.wait(1)

    assert run.pod("trainer").phase == "Running"
    assert run.pod("trainer").unchanged
    assert [each.device for each in run.simulation.holdings(NODE)] == ["g2"]
    assert run.records(InvariantViolated) == []


@pytest.mark.parametrize("persistence", ["checkpoint+api", "bind-resource", "binding-object"])
def test_what_a_node_begins_with_is_in_the_api(persistence: str) -> None:
    """A kubelet that ran before has bound it; responses are not there, so the plugin is asked."""
    run = Run(warm_spec(persistence))
    run.wait(1)
    run.do(StartPlugin("gpu"))
    assert [each.device for each in run.simulation.holdings(NODE)] == ["g2"]
    run.do(RestartKubelet(NODE))
    run.wait(1)
    assert run.pod("trainer").unchanged
    run.do(RestartContainer("trainer", "app"))
    run.wait(1)

    assert run.pod("trainer").device_ids == (("example.com/gpu", ("g2",)),)
    [called] = [each.devices for each in run.records(PluginCalled)] or [()]
    assert called == (() if persistence == "checkpoint+api" else ("g2",))
    assert run.records(InvariantViolated) == []


def test_a_pod_of_the_beginning_that_is_in_no_record_has_nothing_in_the_api() -> None:
    node = NodeSpec(NODE, pods=(RUNNING_POD,))
    run = Run(replace(a_spec(persistence="binding-object"), nodes=(node,)))
    run.wait(1)

    assert run.pod("trainer").device_ids == ()
    assert run.simulation.api.devices.objects() == []


def test_the_pods_of_the_beginning_meet_a_reboot_like_others() -> None:
    run = Run(warm_spec("checkpoint"))
    run.do(StartPlugin("gpu"))
    run.do(RebootNode(NODE))
    run.wait(1)

    assert run.pod("trainer").phase == "Failed"


def test_without_a_kubelet_the_records_are_the_durable_ones() -> None:
    run = Run(warm_spec("checkpoint"))
    run.begin(RestartKubelet(NODE, seconds(100)))
    run.wait(1)

    assert run.pod("trainer").device_ids == (("example.com/gpu", ("g2",)),)
    assert not run.simulation.node(NODE).up
    assert run.simulation.node(NODE).capacity == ()


def test_a_machine_with_too_many_numa_nodes_is_refused_by_the_topology_manager() -> None:
    """S7.11."""
    node = NodeSpec(NODE, numa_nodes=9, topology_manager_policy="restricted")
    run = Run(replace(a_spec(), nodes=(node,)))

    assert run.records(KubeletStartFailed) == [
        KubeletStartFailed("unsupported on machines with more than 8 NUMA Nodes")
    ]


def test_a_pod_without_devices_runs_without_any_plugin() -> None:
    run = Run(a_spec(pod("plain", container(count=0))))
    run.do(CreatePod("plain"))

    assert run.pod("plain").phase == "Running"
    assert run.simulation.pod("nobody") is None


def test_time_can_pass_without_anything_else() -> None:
    run = Run(a_spec())
    began = run.simulation.now

    assert run.do(Advance(seconds(7))) - began == seconds(7)


def test_a_callers_own_event_happens_at_its_time() -> None:
    run = Run(a_spec())
    seen: list[int] = []
    run.simulation.call_at(type(run.simulation.now)(5), lambda: seen.append(run.simulation.now))
    run.wait(1)

    assert seen == [5]


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (CreatePod("x"), '"x" is not a pod of this run; there are: a'),
        (DeletePod("a"), 'there is no pod "a" at this time; create it in an earlier step'),
        (StartPlugin("x"), '"x" is not a plugin of this run; there are: gpu'),
        (RestartKubelet(NodeName("x")), '"x" is not a node of this run; there are: n0'),
    ],
)
def test_what_is_not_there_cannot_be_acted_on(action: CreatePod, message: str) -> None:
    run = Run(a_spec(pod("a")))

    with pytest.raises(ScenarioError) as raised:
        run.begin(action)

    assert str(raised.value) == message


def test_devices_that_a_pod_cannot_have_are_not_assigned_to_it() -> None:
    run = Run(a_spec(pod("a")))
    three = tuple(DeviceId(f"g{number}") for number in range(3))

    with pytest.raises(ScenarioError, match="but 3 device IDs are given"):
        run.begin(CreatePod("a", assigned=(((ContainerName("app"), GPU), three),)))


def test_a_container_that_does_not_run_cannot_be_restarted() -> None:
    run = Run(a_spec(pod("a")))
    run.do(CreatePod("a"))

    with pytest.raises(ScenarioError, match='pod "a" has no running container "x"'):
        run.begin(RestartContainer("a", "x"))


def test_a_pod_without_a_node_cannot_finish() -> None:
    run = Run(a_spec(replace(pod("a"), node=None)))
    run.begin(CreatePod("a"))

    with pytest.raises(ScenarioError, match='pod "a" is on no node at this time'):
        run.begin(FinishPod("a"))


def test_unknown_versions_are_refused() -> None:
    with pytest.raises(ConfigError, match="kubelet version"):
        Run(a_spec(version="latest"))
    run = Run(a_spec())
    with pytest.raises(ConfigError, match="kubelet version"):
        run.begin(UpgradeKubelet(NODE, "next"))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"persistence": "etcd"},
            (
                '"etcd" is no persistence; there are: checkpoint, database, dual-write, '
                "checkpoint+api, bind-resource, pod-status, binding-object"
            ),
        ),
        (
            {"persistence_options": (("fast", True),)},
            '"fast" is no option of checkpoint; there are: dirFsync',
        ),
        (
            {"persistence": "database", "persistence_options": (("dirFsync", True),)},
            '"dirFsync" is no option of database; there are: none',
        ),
        ({"choice": "best"}, '"best" is no choice; there are: sorted, random'),
        (
            {"nodes": (NodeSpec(NODE), NodeSpec(NODE))},
            'the node "n0" is there 2 times; names must differ',
        ),
        (
            {"nodes": (NodeSpec(NODE, topology_manager_policy="any"),)},
            NO_POLICY,
        ),
        (
            {"nodes": (NodeSpec(NodeName("n1")),)},
            '"n0" is no node of this run; there are: n1',
        ),
        ({"pods": (pod("a"), pod("a"))}, 'the pod "a" is there 2 times; names must differ'),
        (
            {"pods": (replace(pod("a"), node=NodeName("n9")),)},
            '"n9" is no node of this run; there are: n0',
        ),
    ],
)
def test_a_spec_that_no_run_can_start_from_is_refused(
    changes: dict[str, object], message: str
) -> None:
    spec = replace(a_spec(), **changes)  # type: ignore[arg-type]  # the test's own values

    with pytest.raises(ConfigError) as raised:
        Run(spec)

    assert str(raised.value) == message


def test_a_pod_cannot_be_created_on_a_node_that_is_not_there() -> None:
    run = Run(a_spec(pod("a")))

    with pytest.raises(ScenarioError, match='"n9" is not a node of this run'):
        run.begin(CreatePod("a", NodeName("n9")))


def test_closing_twice_does_no_harm() -> None:
    run = Run(a_spec(persistence="database"), store_factory=sqlite)
    run.simulation.close()
    run.simulation.close()

    assert ResourceName("example.com/gpu") == GPU
