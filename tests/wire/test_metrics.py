"""The metrics by their exact names, labels and buckets (S11)."""

from __future__ import annotations

import pytest
from prometheus_client.parser import text_string_to_metric_families

from simulator.core.behavior import Behavior
from simulator.core.instants import Instant
from simulator.core.machine import TopologyOptions, TopologyPolicy, TopologyScope
from simulator.core.pods import PodUid
from simulator.core.records import AdmissionDecided, EventEmitted, Stamped
from simulator.core.switches import behavior_for
from simulator.core.transitions import NodeName
from simulator.wire.metrics import KubeletMetrics, RebindMetrics
from simulator.wire.metrics_pages import MetricsPages
from tests.core.driving import GPU

N0, N1 = NodeName("n0"), NodeName("n1")
UID = PodUid("p1")
REFUSED = AdmissionDecided(UID, admitted=False, reason="TopologyAffinityError")


def metrics_of(
    policy: TopologyPolicy = TopologyPolicy.NONE, behavior: Behavior | None = None
) -> KubeletMetrics:
    return KubeletMetrics(behavior or Behavior(), TopologyOptions(policy=policy))


def page(metrics: KubeletMetrics) -> str:
    pages = MetricsPages(RebindMetrics())
    pages.put(N0, metrics)
    content = pages.of_node("n0")
    assert content is not None
    return content.decode()


def samples(text: str) -> dict[str, float]:
    """Return the samples that are no buckets, by name and labels as they are written."""
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    pairs = [line.rsplit(" ", 1) for line in lines if "_bucket" not in line]
    return {name: float(value) for name, value in pairs}


def types(text: str) -> dict[str, str]:
    words = [line.split() for line in text.splitlines() if line.startswith("# TYPE ")]
    return {name: kind for _, _, name, kind in words}


def used() -> KubeletMetrics:
    """Return metrics after one of everything."""
    metrics = metrics_of(TopologyPolicy.SINGLE_NUMA_NODE)
    metrics.registered(GPU)
    metrics.registered("nonsense")
    metrics.allocate_answered(GPU, 0.3)
    for version, method in (("v1", "List"), ("v1", "GetAllocatableResources"), ("v1", "Get")):
        metrics.pod_resources_requested(version, method)
    metrics.pod_resources_requested("v1alpha1", "List")
    metrics.pod_resources_failed("v1", "Get")
    metrics.admission_took(0.0015)
    metrics.take(REFUSED)
    metrics.take(EventEmitted("Warning", "OutOfexample.com/gpu", "", UID))
    metrics.plugin_sockets = lambda: [("/r/gpu.sock", "desired_state_of_world")]
    return metrics


def test_every_metric_has_the_kubelets_name_labels_and_type() -> None:
    api, v1 = 'server_api_version="v1alpha1"', 'server_api_version="v1"'
    calls = "kubelet_pod_resources_endpoint_requests"
    aligned = "kubelet_container_aligned_compute_resources"
    in_container = 'boundary="numa_node",scope="container"'
    in_pod = 'boundary="numa_node",scope="pod"'
    text = page(used())

    assert samples(text) == {
        'kubelet_device_plugin_registration_total{resource_name="example.com/gpu"}': 1,
        'kubelet_device_plugin_registration_total{resource_name="nonsense"}': 1,
        'kubelet_device_plugin_alloc_duration_seconds_count{resource_name="example.com/gpu"}': 1,
        'kubelet_device_plugin_alloc_duration_seconds_sum{resource_name="example.com/gpu"}': 0.3,
        f"{calls}_total{{{v1}}}": 3,
        f"{calls}_total{{{api}}}": 1,
        f"{calls}_list{{{v1}}}": 1,
        f"{calls}_get_allocatable{{{v1}}}": 1,
        f"{calls}_get{{{v1}}}": 1,
        f"kubelet_pod_resources_endpoint_errors_get{{{v1}}}": 1,
        "kubelet_topology_manager_admission_requests_total": 1,
        "kubelet_topology_manager_admission_errors_total": 1,
        "kubelet_topology_manager_admission_duration_ms_count": 1,
        "kubelet_topology_manager_admission_duration_ms_sum": 1.5,
        f"{aligned}_count{{{in_container}}}": 0,
        f"{aligned}_count{{{in_pod}}}": 0,
        f"{aligned}_failure_count{{{in_container}}}": 1,
        f"{aligned}_failure_count{{{in_pod}}}": 0,
        'kubelet_admission_rejections_total{reason="OutOfExtendedResources"}': 1,
        'plugin_manager_total_plugins{socket_path="/r/gpu.sock",state="desired_state_of_world"}': 1,
    }
    assert types(text) == {
        "kubelet_device_plugin_registration_total": "counter",
        "kubelet_device_plugin_alloc_duration_seconds": "histogram",
        f"{calls}_total": "counter",
        f"{calls}_list": "counter",
        f"{calls}_get_allocatable": "counter",
        f"{calls}_get": "counter",
        "kubelet_pod_resources_endpoint_errors_get": "counter",
        "kubelet_topology_manager_admission_requests_total": "counter",
        "kubelet_topology_manager_admission_errors_total": "counter",
        "kubelet_topology_manager_admission_duration_ms": "histogram",
        f"{aligned}_count": "counter",
        f"{aligned}_failure_count": "counter",
        "kubelet_admission_rejections_total": "counter",
        "plugin_manager_total_plugins": "gauge",
    }


def test_the_buckets_are_the_kubelets() -> None:
    bounds: dict[str, list[float]] = {}
    for family in text_string_to_metric_families(page(used())):
        for sample in family.samples:
            if sample.name.endswith("_bucket"):
                bounds.setdefault(family.name, []).append(float(sample.labels["le"]))

    assert bounds["kubelet_device_plugin_alloc_duration_seconds"][:-1] == [
        0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
    ]  # fmt: skip
    assert bounds["kubelet_topology_manager_admission_duration_ms"][:-1] == [
        0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8, 409.6, 819.2,
    ]  # fmt: skip


def test_nothing_has_a_series_before_its_first_use() -> None:
    """S11.1: but those without labels, and the aligned ones under a policy."""
    nothing = {
        "kubelet_topology_manager_admission_requests_total",
        "kubelet_topology_manager_admission_errors_total",
        "kubelet_topology_manager_admission_duration_ms",
    }
    aligned = {
        "kubelet_container_aligned_compute_resources_count",
        "kubelet_container_aligned_compute_resources_failure_count",
    }

    assert types(page(metrics_of())).keys() == nothing
    assert types(page(metrics_of(TopologyPolicy.BEST_EFFORT))).keys() == nothing | aligned


def test_rejections_are_counted_from_1_32_on() -> None:
    names = []
    for version in ("1.31.9", "1.32.0"):
        metrics = metrics_of(behavior=behavior_for(version))
        metrics.take(EventEmitted("Warning", "UnexpectedAdmissionError", "", UID))
        names.append("kubelet_admission_rejections_total" in types(page(metrics)))

    assert names == [False, True]


def test_no_series_tells_when_it_was_made() -> None:
    pages = MetricsPages(RebindMetrics())
    pages.put(N0, used())

    assert b"_created" not in pages.everything()


def test_the_page_of_one_node_is_the_kubelets_with_rebinds_own_beside_it() -> None:
    own = RebindMetrics()
    own.committed(3, 0.002)
    own.take(Stamped(Instant(0), N0, AdmissionDecided(UID, admitted=True)))
    own.take(Stamped(Instant(0), N0, AdmissionDecided(UID, admitted=False, waiting=True)))
    own.take(Stamped(Instant(0), N1, REFUSED))
    own.take(Stamped(Instant(0), N1, EventEmitted("Normal", "Killing", "")))
    own.bound_devices = lambda: {(N0, GPU): 4}
    own.queue_depth = lambda: 7
    pages = MetricsPages(own)
    pages.put(N0, metrics_of())
    found = samples(pages.everything().decode())

    assert {name: value for name, value in found.items() if name.startswith("rebind_")} == {
        "rebind_store_commits_total": 1,
        "rebind_store_commit_batch_size_count": 1,
        "rebind_store_commit_batch_size_sum": 3,
        "rebind_store_commit_seconds_count": 1,
        "rebind_store_commit_seconds_sum": 0.002,
        'rebind_admissions_total{node="n0",result="admitted"}': 1,
        'rebind_admissions_total{node="n0",result="waiting"}': 1,
        'rebind_admissions_total{node="n1",result="refused"}': 1,
        'rebind_bound_devices{node="n0",resource_name="example.com/gpu"}': 4,
        "rebind_event_queue_depth": 7,
    }
    assert found["kubelet_topology_manager_admission_requests_total"] == 0


def test_of_several_nodes_a_label_tells_whose_a_value_is() -> None:
    pages = MetricsPages(RebindMetrics())
    for node in (N0, N1):
        metrics = metrics_of()
        metrics.take(REFUSED)
        pages.put(node, metrics)
    text = pages.everything().decode()
    name = "kubelet_topology_manager_admission_requests_total"

    assert samples(text)[f'{name}{{node="n0"}}'] == samples(text)[f'{name}{{node="n1"}}'] == 1
    assert text.count(f"# TYPE {name} ") == 1
    assert samples((pages.of_node("n1") or b"").decode())[name] == 1

    pages.remove(N1)
    assert pages.of_node("n1") is None
    assert samples(pages.everything().decode())[name] == 1


@pytest.mark.parametrize("scope", list(TopologyScope))
def test_a_restarted_kubelet_begins_at_0(scope: TopologyScope) -> None:
    pages = MetricsPages(RebindMetrics())
    options = TopologyOptions(policy=TopologyPolicy.SINGLE_NUMA_NODE, scope=scope)
    for _ in range(2):
        metrics = KubeletMetrics(Behavior(), options)
        pages.put(N0, metrics)
        before = samples(pages.everything().decode())
        metrics.take(REFUSED)

        name = "kubelet_container_aligned_compute_resources_failure_count"
        label = f'{{boundary="numa_node",scope="{scope.value}"}}'
        assert before[f"{name}{label}"] == 0
        assert samples(pages.everything().decode())[f"{name}{label}"] == 1
