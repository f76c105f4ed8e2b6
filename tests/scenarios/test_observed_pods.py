"""Reading what kubectl prints about pods and events."""

from __future__ import annotations

import pytest

from scenarios.kubernetes.observed_pods import read_event_lines, read_observed
from simulator.core.diagnosis.observed import ObservedEvent, ShownDevice
from simulator.core.pods import ContainerKind
from simulator.core.resources import ResourceName
from simulator.errors import ManifestError

LIST = b"""
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Pod
  metadata:
    name: trainer
    namespace: research
    uid: u1
    deletionTimestamp: "2026-03-02T09:14:02Z"
    futureKey: {any: thing}
    ownerReferences: [{apiVersion: batch/v1, kind: Job, name: train, uid: j1}]
  spec:
    nodeName: n0
    initContainers:
    - {name: check, resources: {limits: {example.com/gpu: 1}}, restartPolicy: Always}
    - {name: prepare, command: [sh, -c, "echo ${HOME}"]}
    containers:
    - name: app
      resources: {limits: {cpu: 500m, example.com/gpu: "2", hugepages-2Mi: 64Mi}}
  status:
    phase: Running
    startTime: 2026-03-02T08:00:00Z
    conditions:
    - {type: Ready, status: "True"}
    initContainerStatuses:
    - {name: check, containerID: "containerd://1", restartCount: 2, state: {running: {}}}
    containerStatuses:
    - name: app
      containerID: containerd://2
      restartCount: 1
      state: {terminated: {exitCode: 137, reason: OOMKilled, message: gone}}
      allocatedResourcesStatus:
      - name: example.com/gpu
        resources: [{resourceID: g0, health: Healthy}, {resourceID: g1, health: Unhealthy}]
- apiVersion: v1
  kind: Event
  type: Warning
  reason: Failed
  message: "Error: no"
  involvedObject: {kind: Pod, name: trainer, uid: u1}
- apiVersion: events.k8s.io/v1
  kind: Event
  type: Normal
  reason: Pulled
  note: pulled
  regarding: {kind: Pod, name: other}
- {apiVersion: v1, kind: Service, metadata: {name: other}}
"""


def test_a_list_of_pods_and_events_is_read() -> None:
    observed = read_observed(LIST, "list.yaml")

    (pod,) = observed.pods
    assert (pod.namespace, pod.name, pod.uid) == ("research", "trainer", "u1")
    assert (pod.node, pod.phase, pod.owner) == ("n0", "Running", "Job train")
    assert pod.deleting
    assert pod.started == "2026-03-02T08:00:00Z"
    assert [each.kind for each in pod.containers] == [
        ContainerKind.SIDECAR,
        ContainerKind.INIT,
        ContainerKind.REGULAR,
    ]
    assert observed.events == [
        ObservedEvent("Warning", "Failed", "Error: no", "u1"),
        ObservedEvent("Normal", "Pulled", "pulled", "other"),
    ]


def test_limits_are_those_of_extended_resources_and_states_those_of_the_status() -> None:
    gpu = ResourceName("example.com/gpu")
    sidecar, init, app = read_observed(LIST, "list.yaml").pods[0].containers

    assert app.limits == ((gpu, 2),)
    assert (app.state, app.reason, app.message) == ("terminated", "OOMKilled", "gone")
    assert (app.exit_code, app.restarts, app.has_begun) == (137, 1, True)
    assert app.devices == (ShownDevice(gpu, "g0", "Healthy"), ShownDevice(gpu, "g1", "Unhealthy"))
    assert (sidecar.state, sidecar.exit_code, sidecar.restarts) == ("running", None, 2)
    assert (init.state, init.has_begun, init.limits) == ("", False, ())


def test_a_pod_that_is_not_scheduled_says_what_the_scheduler_says() -> None:
    content = b"""{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"containers":[
    {"name":"c"}]},"status":{"phase":"Pending","conditions":[{"type":"PodScheduled",
    "status":"False","message":"0/1 nodes"}]}}"""
    (pod,) = read_observed(content, "pod.json").pods

    assert (pod.unscheduled, pod.owner, pod.namespace) == ("0/1 nodes", "", "default")


def test_a_static_pod_has_the_uid_by_which_its_kubelet_knows_it() -> None:
    content = b"""kind: Pod
metadata: {name: a, uid: mirror, annotations: {kubernetes.io/config.mirror: own}}
spec: {containers: [{name: c}]}
"""

    assert read_observed(content, "pod.yaml").pods[0].uid == "own"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"kind: Service\n", "s.yaml:1:7: Service is not a pod; Pod, Event and List are read"),
        (b"a: 1\n", 's.yaml:1:1: the key "kind" is missing'),
        (b"[]\n", "s.yaml:1:1: the document wants a map, found a list"),
        (
            (
                b"kind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: c, resources: "
                b"{limits: {a.io/b: many}}}]}\n"
            ),
            "s.yaml:3:60: a.io/b: quantities must match",
        ),
        (b"kind: Pod\nmetadata: {name: a}\n", 's.yaml:1:1: the key "spec" is missing'),
        (
            b"kind: Pod\nmetadata: {name: a}\nspec: {}\nstatus: {phase: [1]}\n",
            "s.yaml:4:17: status.phase wants text, found a list",
        ),
    ],
)
def test_what_is_no_pod_is_refused_with_its_place(content: bytes, message: str) -> None:
    with pytest.raises(ManifestError) as error:
        read_observed(content, "s.yaml")

    assert message in str(error.value)


def test_the_columns_of_kubectl_describe_are_read() -> None:
    text = """Status:           Failed
Reason:           UnexpectedAdmissionError
Message:          Pod was rejected: no
Events:
  Type     Reason                    Age                From     Message
  ----     ------                    ----               ----     -------
  Normal   Scheduled                 3m12s              sched    Successfully assigned a to n0
  Warning  UnexpectedAdmissionError  3m (x2 over 4m)    kubelet  Allocate failed due to x, which
"""

    assert read_event_lines(text) == [
        ObservedEvent("", "", "Pod was rejected: no"),
        ObservedEvent("Normal", "Scheduled", "Successfully assigned a to n0"),
        ObservedEvent("Warning", "UnexpectedAdmissionError", "Allocate failed due to x, which"),
    ]


def test_the_columns_of_kubectl_get_events_are_read() -> None:
    text = """LAST SEEN   TYPE      REASON    OBJECT    MESSAGE
3m12s       Warning   Failed    pod/a     Error: no
"""

    assert read_event_lines(text) == [ObservedEvent("Warning", "Failed", "Error: no", "a")]


def test_the_object_of_an_event_is_kept_by_name_or_with_its_kind() -> None:
    text = """
NAMESPACE   LAST SEEN            TYPE      REASON   OBJECT            MESSAGE
research    3m (x5 over 10m)     Warning   Failed   Pod/a             Error:  two  blanks
research    <unknown>            Normal    Scaled   replicaset/a      scaled
"""

    assert read_event_lines(text) == [
        ObservedEvent("Warning", "Failed", "Error:  two  blanks", "a"),
        ObservedEvent("Normal", "Scaled", "scaled", "replicaset/a"),
    ]


def test_a_word_inside_a_log_line_makes_no_event_of_it() -> None:
    text = "I1130 kubelet.go:1] one\nI1130 kubelet.go:2] got a Warning from gpu plugin\n"

    assert [event.message for event in read_event_lines(text)] == text.splitlines()


def test_an_event_about_another_kind_of_the_same_name_is_told_apart() -> None:
    content = b"""
kind: List
items:
- {kind: Event, type: Warning, message: one, involvedObject: {kind: ReplicaSet, name: a}}
- {kind: Event, type: Warning, message: two, involvedObject: {kind: Pod, name: a}}
- {kind: Event, type: Warning, message: three, involvedObject: {kind: Pod, name: a, uid: u}}
"""

    assert [event.subject for event in read_observed(content, "x").events] == [
        "ReplicaSet/a",
        "a",
        "u",
    ]


def test_how_the_instance_before_ended_is_read() -> None:
    content = b"""
kind: Pod
metadata: {name: a}
spec: {containers: [{name: app}]}
status:
  containerStatuses:
  - name: app
    state: {waiting: {reason: CrashLoopBackOff}}
    lastState: {terminated: {exitCode: 128, reason: StartError, message: no}}
"""
    (pod,) = read_observed(content, "x").pods
    (container,) = pod.containers

    assert (container.last_reason, container.last_message) == ("StartError", "no")


def test_why_a_resize_waits_is_read() -> None:
    """S13.6."""
    content = b"""
kind: Pod
metadata: {name: a}
spec: {containers: []}
status:
  conditions:
  - {type: PodScheduled, status: "True", message: no}
  - {type: PodResizePending, status: "True", reason: Deferred, message: too few}
"""
    (pod,) = read_observed(content, "x").pods

    assert (pod.resize_pending, pod.unscheduled) == ("too few", "")


def test_other_lines_are_messages_as_they_stand() -> None:
    assert read_event_lines("one\n\n  two\n") == [
        ObservedEvent("", "", "one"),
        ObservedEvent("", "", "two"),
    ]
