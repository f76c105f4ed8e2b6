"""Tables, lists and metadata alone (api-facts 3; pkg/printers/internalversion)."""

from __future__ import annotations

import pytest

from simulator.api.dialect.columns import COLUMNS, human_duration
from simulator.api.dialect.documents import Json, Object, items, mapping, part
from simulator.api.dialect.kinds import (
    DEVICE_BINDINGS,
    EVENTS,
    LEASES,
    NAMESPACES,
    NODES,
    PODS,
    STORED_KINDS,
    Kind,
)
from simulator.api.dialect.negotiation import Form, Shape
from simulator.api.dialect.tables import (
    Page,
    bookmark,
    listing,
    partial_list,
    revision_of,
    table,
)
from simulator.core.instants import SECOND, Instant
from tests.api.dialect.objects import FRESH, NOW, binding_body, stored, stored_pod

LATER = Instant(NOW + 300 * SECOND)
PAGE = Page(9)


def cells(kind: Kind, found: Object) -> list[Json]:
    row = items(table(kind, [found], LATER, PAGE), "rows")[0]["cells"]
    assert isinstance(row, list)
    return row


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        # apimachinery/pkg/util/duration: TestHumanDuration.
        (0, "0s"),
        (119, "119s"),
        (120, "2m"),
        (121, "2m1s"),
        (600, "10m"),
        (10_799, "179m"),
        (10_800, "3h"),
        (3 * 3600 + 60, "3h1m"),
        (8 * 3600, "8h"),
        (47 * 3600, "47h"),
        (48 * 3600, "2d"),
        (49 * 3600, "2d1h"),
        (8 * 86_400, "8d"),
        (729 * 86_400, "729d"),
        (730 * 86_400, "2y"),
        (731 * 86_400, "2y1d"),
        (8 * 365 * 86_400, "8y"),
    ],
)
def test_an_age_has_at_most_two_units(seconds: int, text: str) -> None:
    assert human_duration(seconds) == text


def test_every_kind_that_is_kept_has_columns_that_begin_with_what_people_look_for() -> None:
    first = {kind.plural: [one.name for one in COLUMNS[kind]] for kind in STORED_KINDS}

    assert first["pods"][:5] == ["Name", "Ready", "Status", "Restarts", "Age"]
    assert first["pods"][5:] == ["IP", "Node", "Nominated Node", "Readiness Gates"]
    assert first["nodes"][:5] == ["Name", "Status", "Roles", "Age", "Version"]
    assert first["events"][:4] == ["Last Seen", "Type", "Reason", "Object"]
    assert first["devicebindings"][:4] == ["Name", "Node", "Devices", "Age"]
    assert first["namespaces"] == ["Name", "Status", "Age"]
    assert first["leases"] == ["Name", "Holder", "Age"]


def test_a_table_is_made_as_kubectl_reads_it() -> None:
    pod = stored_pod()
    made = table(PODS, [pod], LATER, Page(9, "next", 3))

    assert made["kind"] == "Table"
    assert made["apiVersion"] == "meta.k8s.io/v1"
    assert made["metadata"] == {
        "resourceVersion": "9",
        "continue": "next",
        "remainingItemCount": 3,
    }
    assert items(made, "columnDefinitions")[0] == {
        "name": "Name",
        "type": "string",
        "format": "name",
        "description": "What the object is called, unique in its namespace.",
        "priority": 0,
    }
    row = items(made, "rows")[0]
    assert row["cells"] == [
        "trainer", "0/1", "Pending", "0", "5m", "<none>", "<none>", "<none>", "<none>",
    ]  # fmt: skip
    assert row["object"] == {
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": pod["metadata"],
    }


def test_rows_carry_what_is_asked_for_and_columns_come_once_in_a_watch() -> None:
    pod = stored_pod()

    whole = table(PODS, [pod], LATER, PAGE, include="Object")
    bare = table(PODS, [pod], LATER, PAGE, include="None", columns=False)
    old = table(PODS, [pod], LATER, PAGE, form=Form(Shape.TABLE, "v1beta1"))

    assert items(whole, "rows")[0]["object"] == pod
    assert "object" not in items(bare, "rows")[0]
    assert bare["columnDefinitions"] is None
    assert old["apiVersion"] == "meta.k8s.io/v1beta1"


def container(**state: Json) -> Json:
    return {"name": "main", "ready": False, "restartCount": 2, "state": {**state}}


@pytest.mark.parametrize(
    ("status", "deleted", "word"),
    [
        ({"phase": "Running", "containerStatuses": [container(running={})]}, False, "Running"),
        (
            {"containerStatuses": [container(waiting={"reason": "CrashLoopBackOff"})]},
            False,
            "CrashLoopBackOff",
        ),
        (
            {"containerStatuses": [container(terminated={"exitCode": 1, "reason": "Error"})]},
            False,
            "Error",
        ),
        ({"containerStatuses": [container(terminated={"exitCode": 3})]}, False, "ExitCode:3"),
        ({"containerStatuses": [container(terminated={"signal": 9})]}, False, "Signal:9"),
        (
            {"phase": "Failed", "reason": "UnexpectedAdmissionError"},
            False,
            "UnexpectedAdmissionError",
        ),
        ({"phase": "Running"}, True, "Terminating"),
        ({"phase": "Running", "reason": "NodeLost"}, True, "Unknown"),
        ({"phase": "Pending", "initContainerStatuses": [container(running={})]}, False, "Init:0/0"),
        (
            {"initContainerStatuses": [container(waiting={"reason": "ImagePullBackOff"})]},
            False,
            "Init:ImagePullBackOff",
        ),
        (
            {"initContainerStatuses": [container(terminated={"exitCode": 1})]},
            False,
            "Init:ExitCode:1",
        ),
        (
            {"phase": "Running", "initContainerStatuses": [container(terminated={"exitCode": 0})]},
            False,
            "Running",
        ),
        ({}, False, "Unknown"),
    ],
)
def test_the_status_of_a_pod_is_the_word_of_kubectl(
    status: Object, word: str, *, deleted: bool
) -> None:
    pod = stored_pod()
    pod["status"] = status
    if deleted:
        part(pod, "metadata")["deletionTimestamp"] = "2023-11-14T22:13:50Z"

    assert cells(PODS, pod)[2] == word


def test_restarts_say_when_the_last_was() -> None:
    pod = stored_pod()
    ended: Json = {"terminated": {"finishedAt": "2023-11-14T22:14:20Z"}}
    one: Object = {"name": "main", "ready": True, "restartCount": 2, "lastState": ended}
    pod["status"] = {"containerStatuses": [one]}

    assert cells(PODS, pod)[1:4:2] == ["1/1", "2 (4m ago)"]


def test_a_node_is_ready_and_cordoned() -> None:
    node = stored(
        NODES,
        {
            "metadata": {"name": "n", "labels": {"node-role.kubernetes.io/gpu": ""}},
            "spec": {"unschedulable": True},
            "status": {
                "conditions": [{"type": "Ready", "status": "True"}],
                "addresses": [{"type": "InternalIP", "address": "192.0.2.1"}],
                "nodeInfo": {"kubeletVersion": "v1.36.2"},
            },
        },
    )

    assert cells(NODES, node)[:6] == [
        "n", "Ready,SchedulingDisabled", "gpu", "5m", "v1.36.2", "192.0.2.1",
    ]  # fmt: skip
    assert cells(NODES, stored(NODES, {"metadata": {"name": "n"}}))[1:3] == ["Unknown", "<none>"]


def test_an_event_says_how_often_it_happened() -> None:
    event: Object = {
        "metadata": {"name": "e"},
        "involvedObject": {"kind": "Pod", "name": "t"},
        "firstTimestamp": "2023-11-14T22:13:20Z",
        "lastTimestamp": "2023-11-14T22:17:20Z",
        "count": 3,
        "type": "Warning",
        "reason": "BackOff",
        "message": "again \n",
        "source": {"component": "kubelet", "host": "node-1"},
    }

    assert cells(EVENTS, event) == [
        "60s (x3 over 5m)", "Warning", "BackOff", "pod/t", "", "kubelet, node-1", "again", "5m",
        3, "e",
    ]  # fmt: skip


def test_a_device_binding_says_how_many_devices_of_what() -> None:
    made = stored(DEVICE_BINDINGS, binding_body())

    assert cells(DEVICE_BINDINGS, made) == [
        "trainer", "node-1", "example.com/gpu=2", "5m", "gpu-0,gpu-1", FRESH.uid,
    ]  # fmt: skip


def test_a_lease_and_a_namespace_have_their_columns() -> None:
    lease: Object = {"metadata": {"name": "node-1"}, "spec": {"holderIdentity": "node-1"}}

    assert cells(LEASES, stored(LEASES, lease)) == ["node-1", "node-1", "5m"]
    namespace = stored(NAMESPACES, {"metadata": {"name": "team"}})
    assert cells(NAMESPACES, namespace) == ["team", "Active", "5m"]


def test_lists_and_bookmarks_say_their_revision() -> None:
    pod = stored_pod()

    assert listing(PODS, [pod], PAGE) == {
        "kind": "PodList",
        "apiVersion": "v1",
        "metadata": {"resourceVersion": "9"},
        "items": [pod],
    }
    alone = partial_list([pod], PAGE, Form(Shape.PARTIAL))
    assert alone["kind"] == "PartialObjectMetadataList"
    assert [one["metadata"] for one in items(alone, "items")] == [pod["metadata"]]
    assert revision_of(pod) == 7
    assert revision_of({}) == 0
    end = bookmark(PODS, 9, initial=True)
    assert mapping(end, "metadata", "annotations") == {"k8s.io/initial-events-end": "true"}
    assert mapping(bookmark(PODS, 9), "metadata")["resourceVersion"] == "9"
