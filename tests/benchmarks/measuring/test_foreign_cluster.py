"""A cluster that is there already is left as it was found, whatever happens to the benchmark."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from benchmarks.measuring.foreign_cluster import Abilities, abilities
from benchmarks.measuring.phases import Target
from benchmarks.results.rows import Measure
from simulator.api.client.endpoint import endpoint_at
from simulator.cli.commands.bench.running import on_cluster
from simulator.cli.failures import EnvironmentProblem
from simulator.errors import ConfigError, ServerError
from tests.api.serving.running import Document
from tests.benchmarks.measuring.runs import Written
from tests.cli.running import rebind
from tests.live.remote.strict import AT_ONCE, RESET, Key, Refuse, StrictCluster
from tests.live.remote.strict import strict_server as serving

ROOT = Path(__file__).resolve().parents[3]
DEADLINE_S = 60.0
MEASURED = Written(
    nodes=2,
    clock="real",
    persistence="checkpoint",
    load="{burst: {pods: 10}}",
    lifetime="1h",
    phases="- {name: churn, load: load, pods: pod, drain: 60s}",
    matrix="statuses: apiServer\n    existing: 2",
)


@pytest.fixture
def cluster() -> StrictCluster:
    """Return a cluster that other people use."""
    found = StrictCluster()
    for name in ("pod-1", "n0-existing-0"):
        found.put(("pods", "default", name), {"spec": {"nodeName": "w1"}, "status": {}})
    runtime = {"kubeletVersion": "v1.32.1", "containerRuntimeVersion": "containerd://2.0"}
    found.put(("nodes", "", "w1"), {"status": {"nodeInfo": runtime}})
    return found


@pytest.fixture
def url(cluster: StrictCluster) -> Iterator[str]:
    with serving(cluster) as found:
        yield found


def present(cluster: StrictCluster) -> dict[Key, Document]:
    """Return what is there, but for events, which go by themselves."""
    with cluster.changed:
        return {key: each for key, each in cluster.objects.items() if key[0] != "events"}


def daemon(target: Target, cluster: StrictCluster) -> Key:
    """Have a pod of somebody else on a node of the benchmark, as a DaemonSet makes them."""
    del target
    key = ("pods", "default", "proxy-x")
    cluster.put(key, {"spec": {"nodeName": "n0", "containers": []}, "status": {}})
    return key


def test_what_was_made_is_deleted_and_nothing_else(cluster: StrictCluster, url: str) -> None:
    """Nodes are tainted while they are there, so that nobody's pods come to them."""
    before = present(cluster)
    taints: list[Document] = []
    others: list[Key] = []

    def watch(target: Target) -> None:
        node = cluster.get("nodes", "n0")
        assert node is not None
        taints.extend(node["spec"]["taints"])
        others.append(daemon(target, cluster))

    row = MEASURED.row(watch, cluster=endpoint_at(url))

    assert (row.served, row.errors) == (10, 0)
    assert taints == [{"key": "rebind.internal/simulated", "value": "true", "effect": "NoSchedule"}]
    left = present(cluster)
    assert {key for key in left if key not in others} == before.keys()
    assert {key: left[key] for key in before} == before
    assert others[0] in left


def test_a_failure_in_the_middle_leaves_nothing_behind(cluster: StrictCluster, url: str) -> None:
    """Nor do answers that come late, or never, while it is cleared up."""
    before = present(cluster)

    def fail(_: Target) -> None:
        cluster.then("list pods", Refuse(429, headers=AT_ONCE))
        cluster.then("delete pods", RESET, Refuse(503), Refuse(500))
        cluster.then("delete nodes", Refuse(504))
        cluster.then("delete namespaces", Refuse(429, headers=AT_ONCE))
        reason = "the machine is on fire"
        raise ServerError(reason)

    with pytest.raises(ServerError, match="on fire"):
        MEASURED.row(fail, cluster=endpoint_at(url))
    assert present(cluster) == before


def test_a_pod_that_is_refused_at_the_beginning_leaves_nothing_behind(
    cluster: StrictCluster, url: str
) -> None:
    before = present(cluster)
    cluster.then("create pods", Refuse(403, "Forbidden", "exceeded quota"))

    with pytest.raises(ServerError, match="exceeded quota"):
        MEASURED.row(cluster=endpoint_at(url))
    assert present(cluster) == before


def test_pods_that_are_not_created_are_errors_and_leave_their_room_to_others(
    cluster: StrictCluster, url: str
) -> None:
    """Two nodes with a device each; of four pods the first two are refused."""
    written = replace(
        MEASURED,
        devices=1,
        load="{burst: {pods: 4}}",
        phases="- {name: churn, load: load, pods: pod, drain: 60s}",
    )

    def refuse(_: Target) -> None:
        quota = Refuse(403, "Forbidden", "exceeded quota")
        cluster.then("create pods", quota, quota)

    row = written.row(refuse, cluster=endpoint_at(url))

    assert (row.served, row.errors, row.skipped) == (2, 2, 0)
    assert row.unreached[Measure.ADMISSION] == 2


@pytest.mark.parametrize("runtime", ["containerd://2.0", "rebind://simulated"])
def test_a_node_that_is_there_already_is_not_touched(
    cluster: StrictCluster, url: str, runtime: str
) -> None:
    info = {"kubeletVersion": "v1.32.1", "containerRuntimeVersion": runtime}
    cluster.put(("nodes", "", "n1"), {"status": {"nodeInfo": info}})
    before = present(cluster)

    with pytest.raises(ConfigError, match="has a node n1"):
        MEASURED.row(cluster=endpoint_at(url))
    assert present(cluster) == before


def test_where_nodes_cannot_be_looked_for_nothing_is_begun(
    cluster: StrictCluster, url: str
) -> None:
    cluster.may_not = {"get nodes"}
    before = present(cluster)

    with pytest.raises(ServerError, match='cannot get resource "nodes"'):
        MEASURED.row(cluster=endpoint_at(url))
    assert present(cluster) == before


def test_what_cannot_be_deleted_is_named(
    cluster: StrictCluster, url: str, caplog: pytest.LogCaptureFixture
) -> None:
    cluster.may_not = {"delete namespaces"}

    def fail(_: Target) -> None:
        reason = "the machine is on fire"
        raise ServerError(reason)

    with pytest.raises(ServerError, match="on fire"):
        MEASURED.row(fail, cluster=endpoint_at(url))

    [said] = [each.getMessage() for each in caplog.records if "as it was found" in each.message]
    assert "these could not be deleted: /api/v1/namespaces/rebind-bench-" in said


def kubeconfig(folder: Path, url: str, **user: str) -> Path:
    content = {
        "clusters": [{"name": "c", "cluster": {"server": url}}],
        "users": [{"name": "u", "user": user}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "c",
    }
    path = folder / "config"
    path.write_text(yaml.safe_dump(content))
    return path


def test_ctrl_c_leaves_nothing_behind(cluster: StrictCluster, url: str, tmp_path: Path) -> None:
    """With a token, which it has from the kubeconfig."""
    cluster.token = "secret"  # noqa: S105 - of a test
    before = present(cluster)
    config = kubeconfig(tmp_path, url, token="secret")  # noqa: S106 - of a test
    arguments = [
        "bench",
        "run",
        "quick",
        "--kubeconfig",
        str(config),
        "--nodes",
        "2",
        "--set",
        "RATE=20",
    ]
    command = [sys.executable, "-m", "simulator.cli", *arguments]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    with subprocess.Popen(  # noqa: S603 - our own program
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        end = time.monotonic() + DEADLINE_S
        while not any(name.startswith("short-") for name in cluster.names("pods")):
            assert running.poll() is None, running.communicate()
            assert time.monotonic() < end
            time.sleep(0.02)
        running.send_signal(signal.SIGINT)
        _, stderr = running.communicate(timeout=DEADLINE_S)

    assert running.returncode == 130, stderr
    assert present(cluster) == before


def test_what_a_cluster_can_do_is_asked_before(cluster: StrictCluster, url: str) -> None:
    assert asyncio.run(abilities(endpoint_at(url))) == Abilities(
        binds_devices=False, has_objects=False
    )
    definition = ("customresourcedefinitions", "", "devicebindings.rebind.internal")
    cluster.put(definition, {"spec": {}})
    assert asyncio.run(abilities(endpoint_at(url))) == Abilities(
        binds_devices=False, has_objects=True
    )
    cluster.may_not = {"list devicebindings"}
    assert not asyncio.run(abilities(endpoint_at(url))).has_objects


def test_combinations_that_need_more_than_kubernetes_are_left_out(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """All others write their statuses to the cluster, whatever the profile says."""
    names = ("checkpoint", "database", "bind-resource", "binding-object")
    written = Written(clock="real", persistence=f"[{', '.join(names)}]")

    plain = on_cluster(written.combinations(), Abilities(binds_devices=False, has_objects=False))
    assert [(each.persistence.name, each.has_api_server) for each in plain] == [
        ("checkpoint", True),
        ("database", True),
    ]
    assert capsys.readouterr().err == (
        "warning: left out on this cluster, which does not bind devices to pods: bind-resource\n"
        "warning: left out on this cluster, which has no DeviceBindings (rebind api install-crd "
        "makes them known): binding-object\n"
    )
    able = on_cluster(written.combinations(), Abilities(binds_devices=True, has_objects=True))
    assert [each.persistence.name for each in able] == list(names)
    bound = Written(clock="real", persistence="bind-resource").combinations()
    with pytest.raises(EnvironmentProblem, match="none of the combinations can be measured"):
        on_cluster(bound, Abilities(binds_devices=False, has_objects=True))


def test_a_cluster_that_is_away_is_said_so_in_one_line(tmp_path: Path) -> None:
    config = kubeconfig(tmp_path, "http://127.0.0.1:1")
    result = rebind("bench", "run", "quick", "--kubeconfig", str(config))

    assert result.code != 0
    [line] = result.stderr.splitlines()
    assert line.startswith("error: the API server http://127.0.0.1:1 cannot be reached")
