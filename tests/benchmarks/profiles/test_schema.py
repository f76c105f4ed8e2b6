"""Faults of churn profiles: path, line, column, the nearest name and what is allowed."""

from __future__ import annotations

import pytest

from benchmarks.profiles.loading import parse_profiles
from benchmarks.profiles.loads import SteppedLoad
from benchmarks.profiles.profile import LatencyRange, LatencyStart, Share
from benchmarks.results.rows import Measure
from simulator.core.instants import MILLISECOND, MINUTE, SECOND, Duration
from simulator.core.pods import Container, ContainerKind, ContainerName
from simulator.core.resources import ResourceName
from simulator.errors import InputError, ProfileError
from tests.benchmarks.profiles.writing import PROFILE, edited, parse, phase

GPU = ResourceName("example.com/gpu")
MANY = list(range(200))
CONVENTIONS = """\
apiVersion: rebind.internal/v1alpha1
kind: ChurnProfile
metadata: {name: gpu-fill-then-churn}
spec:
  seed: 7
  repetitions: 3
  nodes: {count: 1000, numaNodes: 2}
  plugins: [{name: gpu, resourceName: example.com/gpu, devices: {count: 8}, latency: {allocate: {p50: 2ms, p99: 15ms}}}]
  loads:
    fast-fill: {qpsLoad: {qps: 200}}
    steady: {poissonLoad: {expectedActionsPerSecond: 50}}
    burst: {steppedLoad: {burstSize: 40, stepDelay: 2s}}
  podTemplates:
    long: {limits: {example.com/gpu: 1}, lifetime: {constant: 1h}}
    short: {limits: {example.com/gpu: 1}, lifetime: {lognormal: {median: 30s, sigma: 0.8}, max: 5m}}
  phases:
  - {name: fill, load: fast-fill, pods: long, until: {utilization: 90%}, measure: false}
  - {name: churn, load: steady, pods: short, duration: 5m, warmup: 30s}
  - {name: storm, load: burst, pods: short, duration: 1m}
  matrix:
    persistence: [checkpoint, database, bind-resource, checkpoint+api]
    store: [sqlite, postgresql]
    durability: [full, normal]
    commitBatch: [1, 8, 64, 512]
    flushPeriod: [0ms, 1s, 10s]                 # checkpoint+api only
    bulkBind: [1, 16]                           # bind-resource only; not Kubernetes
    kubeAPI: [{qps: 5, burst: 10}, {qps: 50, burst: 100}]
    addedFsync: [0ms, 1ms]
  measure: {from: scheduledStart, percentiles: [50, 90, 99, 99.9]}
"""  # noqa: E501 - as the conventions have it


def error(text: str) -> str:
    with pytest.raises(InputError) as caught:
        parse(text)
    return str(caught.value)


def test_the_example_of_the_conventions_is_read_as_it_stands() -> None:
    """conventions.md §1."""
    loaded = parse(CONVENTIONS)
    profile, churn = loaded.profile, phase(loaded, "churn")
    [gpu] = profile.plugins

    assert (profile.seed, profile.repetitions, profile.nodes.count) == (7, 3, 1_000)
    assert gpu.allocate == LatencyRange(Duration(2 * MILLISECOND), Duration(15 * MILLISECOND))
    assert (churn.duration, churn.warmup) == (5 * MINUTE, 30 * SECOND)
    assert churn.pods == (Share("short", 1),)
    assert not phase(loaded, "fill").measured
    assert phase(loaded, "storm").load == SteppedLoad(40, Duration(2 * SECOND))
    assert profile.measuring.start is LatencyStart.SCHEDULED_START
    assert profile.measuring.percentiles == (50, 90, 99, 99.9)
    assert profile.measuring.shown == (Measure.ADMISSION,)
    assert len(profile.combinations(postgresql=True)) == 12


def test_a_file_may_hold_several_profiles() -> None:
    text = f"{PROFILE}---\n{PROFILE.replace('name: example', 'name: other')}"
    loaded = parse_profiles(text.encode(), "example.yaml", {})

    assert [one.profile.name for one in loaded] == ["example", "other"]


def test_two_profiles_of_a_file_cannot_have_the_same_name() -> None:
    with pytest.raises(ProfileError) as caught:
        parse_profiles(f"{PROFILE}---\n{PROFILE}".encode(), "example.yaml", {})

    line = PROFILE.count("\n") + 4
    expected = f'example.yaml:{line}:18: metadata.name: a second profile of the name "example"'
    assert str(caught.value) == f"{expected} in this file"


def test_an_empty_file_is_refused() -> None:
    assert error("# nothing\n") == "example.yaml: the file holds no document"


def test_parameters_are_filled_in() -> None:
    text = edited("count: 100, numaNodes: 2", "count: ${NODES:-5}, numaNodes: 2")

    assert parse(text).profile.nodes.count == 5
    assert parse(text, NODES="9").profile.nodes.count == 9
    assert parse(text).parameters == {"NODES"}


def test_containers_are_those_of_a_manifest() -> None:
    text = edited(
        "long: {limits: {example.com/gpu: 1}, lifetime: {constant: 1h}}",
        "long: {containers: [{name: a, resources: {limits: {example.com/gpu: 2, cpu: 500m}}}, "
        "{name: b}], initContainers: [{name: i, resources: {limits: {example.com/gpu: 3}}}, "
        "{name: s, restartPolicy: Always, resources: {limits: {example.com/gpu: 1}}}]}",
    )
    template = parse(text).profile.templates["long"]

    assert template.containers == (
        Container(ContainerName("a"), ((GPU, 2),)),
        Container(ContainerName("b")),
    )
    assert [one.kind for one in template.init_containers] == [
        ContainerKind.INIT,
        ContainerKind.SIDECAR,
    ]
    assert template.devices(GPU) == 1 + 3


def test_several_faults_are_told_in_the_order_of_the_text() -> None:
    text = edited("seed: 7", "sede: 7").replace("qps: 200", "qps: 0")
    with pytest.raises(ProfileError) as caught:
        parse(text)

    assert str(caught.value).startswith('example.yaml:5:3: spec: unknown key "sede"; did you mean')
    [other] = caught.value.others
    assert str(other) == (
        "example.yaml:9:32: spec.loads.fast-fill.qpsLoad.qps: "
        "wants a number above 0 and at most 1000000, found the number 0"
    )


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            "kind: ChurnProfile",
            "kind: Scenario",
            '2:7: kind: "Scenario" is not a kind that can be measured; write kind: ChurnProfile',
        ),
        (
            "{qpsLoad: {qps: 200}}",
            "{}",
            "9:16: spec.loads.fast-fill: wants one of qpsLoad, poissonLoad,",
        ),
        (
            "{qpsLoad: {qps: 200}}",
            "{qpsLoad: {qps: 200}, burst: {pods: 1}}",
            "steppedLoad, burst, rampLoad, saturationLoad, closedLoop, found 2 of them",
        ),
        (
            "{qpsLoad: {qps: 200}}",
            "{qpsLod: {qps: 200}}",
            'unknown key "qpsLod"; did you mean "qpsLoad"?',
        ),
        (
            "{qpsLoad: {qps: 200}}",
            "{rampLoad: {from: 9, to: 3, stepDuration: 1s}}",
            'spec.loads.fast-fill.rampLoad: "to" cannot be lower than "from"',
        ),
        (
            "{qpsLoad: {qps: 200}}",
            "{rampLoad: {from: 1, to: 3, factor: 1, stepDuration: 1s}}",
            "spec.loads.fast-fill.rampLoad.factor",
        ),
        (
            "until: {utilization: 90%}",
            "until: {utilization: 0.9}",
            "wants a share above 0% and up to 100%, such as 90%, found the number 0.9",
        ),
        (
            "until: {utilization: 90%}",
            "until: {}",
            "wants one of utilization, pods, podsPerNode, found none",
        ),
        (
            "{lognormal: {median: 30s, sigma: 0.8}, max: 5m}",
            "{max: 5m}",
            "spec.podTemplates.short.lifetime: wants one of constant, exponential, uniform",
        ),
        (
            "{lognormal: {median: 30s, sigma: 0.8}, max: 5m}",
            "{uniform: {from: 9s, to: 3s}}",
            'lifetime.uniform: "to" cannot be shorter than "from"',
        ),
        (
            "load: burst",
            "load: brust",
            '18:25: spec.phases[2].load: there is no load "brust"; did you mean "burst"?',
        ),
        (
            "pods: long",
            "pods: longer",
            'spec.phases[0].pods: there is no pod template "longer"; did you mean "long"?',
        ),
        (
            "name: storm",
            "name: churn",
            '18:12: spec.phases[2].name: a second phase of the name "churn"',
        ),
        (
            "warmup: 30s",
            "warmup: 5m",
            "17:68: spec.phases[1].warmup: nothing is left to measure of 5m0s",
        ),
        (
            "duration: 5m, warmup: 30s",
            "warmup: 30s",
            '17:5: spec.phases[1]: the key "duration" is missing; nothing else ends this phase',
        ),
        (
            "load: burst, pods: short, ",
            "",
            "spec.phases[2]: wants one of load, restartKubelet, rebootNodes, chaos",
        ),
        (
            "load: burst, pods: short",
            "load: burst",
            'spec.phases[2]: the key "pods" is missing beside "load"',
        ),
        (
            "load: burst, pods: short",
            "load: burst, pods: short, apiCalls: true",
            'spec.phases[2]: wants "pods" or "apiCalls", found both of them',
        ),
        (
            "pods: short, duration: 1m",
            "pods: short, duration: 1m, gate: {measure: start}",
            '18:65: spec.phases[2].gate: wants either "measure", "percentile" and "below", or',
        ),
        (
            "pods: short, duration: 1m",
            "pods: short, duration: 1m, gate: {achieved: 5, flat: {rate: 5%}}",
            'or "achieved", or "flat"',
        ),
        (
            "pods: short, duration: 1m",
            "pods: short, duration: 29s, gate: {flat: {rate: 5%}}",
            "spec.phases[2].gate: what is flat is told of loads that are measured for 30s at least",
        ),
        (
            "{poissonLoad: {expectedActionsPerSecond: 50}}",
            "{saturationLoad: {share: 80%}}",
            "spec.phases[1].load: a share of the saturation rate wants a phase with a rampLoad",
        ),
        (
            "pods: short, duration: 1m",
            "pods: short, duration: 1m, apiOutage: {nodes: 10%}",
            '18:70: spec.phases[2].apiOutage: the key "duration" is missing',
        ),
        (
            "{name: storm, load: burst, pods: short, duration: 1m}",
            "{name: storm, restartKubelet: {}, apiOutage: {duration: 1s, every: 1m}}",
            'spec.phases[2]: the key "duration" is missing; nodes are cut off again and again',
        ),
        (
            "{name: storm, load: burst, pods: short, duration: 1m}",
            "{name: storm, lostReplies: {share: 5%}}",
            "spec.phases[2]: wants one of load, restartKubelet, rebootNodes, chaos",
        ),
        (
            "pods: short, duration: 1m",
            "pods: short, duration: 1m, lostReplies: {share: 5}",
            "spec.phases[2].lostReplies.share: wants a share above 0% and up to 100%",
        ),
        (
            "[checkpoint, database]",
            "[checkpoint, database]\n    statusCoalesce: false",
            "spec.matrix.statusCoalesce: turns nothing here: only where bindings or statuses go to",
        ),
        (
            "[checkpoint, database]",
            "[checkpoint]\n    clock: virtual\n    statusCoalesce: sometimes",
            '22:21: spec.matrix.statusCoalesce: wants true or false, found "sometimes"',
        ),
        (
            "resourceName: example.com/gpu",
            "resourceName: example.com/nic",
            'spec.podTemplates.long: no plugin serves "example.com/gpu"',
        ),
        (
            "long: {limits: {example.com/gpu: 1}",
            "long: {limits: {example.com/gpu: 500m}",
            'limits[example.com/gpu]: Invalid value: "500m": must be an integer',
        ),
        (
            "long: {limits: {example.com/gpu: 1}",
            "long: {containers: [{name: a}], limits: {example.com/gpu: 1}",
            'spec.podTemplates.long: wants "limits" or "containers", found both of them',
        ),
        (
            "long: {limits: {example.com/gpu: 1}",
            "long: {containers: [{nam: a}]",
            'unknown key "nam"; did you mean "name"?',
        ),
        (
            "long: {limits: {example.com/gpu: 1}",
            "long: {limits: {}",
            "no pod of this phase holds devices",
        ),
        (
            "numaNodes: 2}",
            "numaNodes: 2, existingPods: lnog}",
            'spec.nodes.existingPods: there is no pod template "lnog"; did you mean "long"?',
        ),
        (
            "[checkpoint, database]",
            "[checkpoints]",
            'persistence[0]: "checkpoints" is not a persistence; did you mean "checkpoint"?',
        ),
        (
            "[checkpoint, database]",
            "[{bind-resource: {perContaner: true}}]",
            '"perContaner" of true is no option of bind-resource; allowed: perContainer: ',
        ),
        (
            "[checkpoint, database]",
            "[checkpoint]\n    flushPeriod: 1s",
            "spec.matrix.flushPeriod: turns nothing here: only under checkpoint+api",
        ),
        (
            "[checkpoint, database]",
            "[checkpoint]\n    kubeAPI: {qps: 5, burst: 10}",
            "spec.matrix.kubeAPI: turns nothing here: only where bindings or statuses go to an API",
        ),
        (
            "[checkpoint, database]",
            "[checkpoint, database]\n  combinations: [{persistence: checkpoint, commitBatch: 8}]",
            "spec.combinations[0].commitBatch: turns nothing here: only where a database or an API",
        ),
        (
            "[checkpoint, database]",
            "[checkpoint, database]\n  combinations: [{persistance: checkpoint}]",
            'spec.combinations[0]: unknown key "persistance"; did you mean "persistence"?',
        ),
        (
            "[checkpoint, database]",
            "[checkpoint, database]\n  combinations: many",
            'spec.combinations: wants a whole number, found "many"',
        ),
        (
            "[checkpoint, database]",
            f"[checkpoint, database]\n    existing: {MANY}\n    nodes: {MANY[1:]}",
            "spec.matrix: has 79600 products, at most 20000 are made",
        ),
        (
            "{count: 8}",
            "{count: 8}, latency: {allocate: {p50: 2ms, p99: 1ms}}",
            'latency.allocate: "p99" cannot be shorter than "p50"',
        ),
    ],
)
def test_a_fault_is_told_with_its_place_and_what_is_allowed(
    old: str, new: str, expected: str
) -> None:
    assert expected in error(edited(old, new))


def test_no_two_plugins_serve_one_resource() -> None:
    text = edited(
        "devices: {count: 8}}]",
        "devices: {count: 8}}, {name: gpu2, resourceName: example.com/gpu, devices: {count: 1}}]",
    )

    assert 'spec.plugins[1].resourceName: "example.com/gpu" has a plugin already' in error(text)
