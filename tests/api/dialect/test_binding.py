"""Bindings to nodes and to devices (details 28, persistence-designs 1.1), and evictions."""

from __future__ import annotations

import copy

import pytest

from simulator.api.dialect.binding import (
    binding_answer,
    bound,
    bulk_answer,
    bulk_items,
    devices_bound,
    evicted,
)
from simulator.api.dialect.documents import Json, Object, items, mapping, part, text
from simulator.api.dialect.kinds import PODS
from simulator.api.dialect.queries import Validation
from simulator.api.dialect.routes import Route
from simulator.api.dialect.statuses import StatusError
from simulator.api.dialect.writing import created, updated
from tests.api.dialect.objects import FRESH, GPU, POD, pod_body, stored, stored_pod

TO_NODE = Route(PODS, "default", "trainer", "binding")
TO_DEVICES = Route(PODS, "default", "trainer", "resourcebinding")


def node_binding(node: str = "node-1", **metadata: Json) -> Object:
    return {"metadata": {"name": "trainer", **metadata}, "target": {"kind": "Node", "name": node}}


def resource_binding(*ids: str, uid: str = FRESH.uid, **container: Json) -> Object:
    return {
        "metadata": {"name": "trainer"},
        "target": {"name": "trainer", "uid": uid},
        "containers": [
            {
                "containerName": "main",
                "computeDevices": [{"resourceName": GPU, "deviceIDs": [*ids]}],
                **container,
            }
        ],
    }


def refusal(pod: Object, body: Object) -> StatusError:
    before = copy.deepcopy(pod)
    with pytest.raises(StatusError) as refused:
        devices_bound(TO_DEVICES, pod, body)
    assert pod == before
    return refused.value


def test_a_pod_is_bound_to_a_node_once() -> None:
    there = bound(TO_NODE, stored_pod(), node_binding(), FRESH).object

    assert text(there, "spec", "nodeName") == "node-1"
    assert items(there, "status", "conditions") == [
        {
            "type": "PodScheduled",
            "status": "True",
            "lastTransitionTime": "2023-11-14T22:13:20Z",
        }
    ]
    with pytest.raises(StatusError) as refused:
        bound(TO_NODE, there, node_binding("node-2"), FRESH)
    assert refused.value.code == 409
    assert refused.value.message == (
        'Operation cannot be fulfilled on pods/binding "trainer": pod trainer is already '
        'assigned to node "node-1"'
    )


def test_a_pod_that_goes_away_or_is_another_is_not_bound() -> None:
    leaving = stored_pod()
    part(leaving, "metadata")["deletionTimestamp"] = "2023-11-14T22:13:20Z"

    with pytest.raises(StatusError, match="is being deleted, cannot be assigned to a host"):
        bound(TO_NODE, leaving, node_binding(), FRESH)
    with pytest.raises(StatusError, match="UID in precondition: other"):
        bound(TO_NODE, stored_pod(), node_binding(uid="other"), FRESH)
    with pytest.raises(StatusError, match=r"target\.name: Required value"):
        bound(TO_NODE, stored_pod(), node_binding(""), FRESH)
    wrong = node_binding()
    part(wrong, "target")["kind"] = "Pod"
    with pytest.raises(StatusError, match=r'target\.kind: Unsupported value: "Pod"'):
        bound(TO_NODE, stored_pod(), wrong, FRESH)


def test_devices_are_copied_into_the_container() -> None:
    pod = stored_pod()
    written = devices_bound(TO_DEVICES, pod, resource_binding("gpu-1", "gpu-0"))

    assert items(written.object, "spec", "containers")[0]["computeDevices"] == [
        {"resourceName": GPU, "deviceIDs": ["gpu-0", "gpu-1"]}
    ]
    assert written.changed
    assert mapping(written.object, "metadata")["generation"] == 2


def test_the_same_content_again_is_done_already() -> None:
    there = devices_bound(TO_DEVICES, stored_pod(), resource_binding("gpu-0", "gpu-1")).object

    again = devices_bound(TO_DEVICES, there, resource_binding("gpu-1", "gpu-0"))

    assert not again.changed
    assert again.object is there


def test_devices_are_never_exchanged() -> None:
    there = devices_bound(TO_DEVICES, stored_pod(), resource_binding("gpu-0", "gpu-1")).object

    error = refusal(there, resource_binding("gpu-0", "gpu-2"))

    assert error.code == 409
    assert error.message == (
        'Operation cannot be fulfilled on pods/resourcebinding "trainer": container "main" has '
        "example.com/gpu gpu-0, gpu-1; devices are never taken away or exchanged"
    )


def test_devices_do_not_leave_the_spec_by_an_update_either() -> None:
    there = devices_bound(TO_DEVICES, stored_pod(), resource_binding("gpu-0", "gpu-1")).object
    without = copy.deepcopy(there)
    del items(without, "spec", "containers")[0]["computeDevices"]

    with pytest.raises(StatusError, match="pod updates may not change fields other than"):
        updated(POD, there, without)


def test_another_pod_of_the_name_is_refused_with_the_field_that_differs() -> None:
    error = refusal(stored_pod(), resource_binding("gpu-0", "gpu-1", uid="before"))

    assert error.code == 409
    assert error.message == (
        'Operation cannot be fulfilled on pods "trainer": Precondition failed: UID in '
        f"precondition: before, UID in object meta: {FRESH.uid}"
    )
    assert [cause["field"] for cause in items(error.details, "causes")] == ["metadata.uid"]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (resource_binding("gpu-0"), "1 devices, must be equal to example.com/gpu limit of 2"),
        (resource_binding("gpu-0", "gpu-0"), 'deviceIDs[1]: Duplicate value: "gpu-0"'),
        (
            resource_binding("gpu-0", "gpu-1", containerName="other"),
            'containerName: Invalid value: "other": pod trainer has no such container',
        ),
        (
            resource_binding(
                computeDevices=[{"resourceName": "example.com/nic", "deviceIDs": ["a"]}]
            ),
            'container "main" has no limit of example.com/nic',
        ),
        ({"target": {"name": "trainer"}, "containers": []}, "target.uid: Required value"),
        (
            {"target": {"name": "trainer", "uid": FRESH.uid}, "containers": []},
            "containers: Required value",
        ),
        (
            {"target": {"name": "x", "uid": FRESH.uid}, "containers": []},
            'target.name: Invalid value: "x": must be trainer',
        ),
    ],
)
def test_what_the_pod_did_not_ask_for_is_refused(body: Object, message: str) -> None:
    error = refusal(stored_pod(), body)

    assert error.code == 422
    assert message in error.message


def test_a_binding_may_come_container_by_container() -> None:
    body = pod_body()
    containers = part(body, "spec")["containers"]
    assert isinstance(containers, list)
    containers.append({"name": "side", "resources": {"limits": {GPU: 1}}})
    pod = stored(PODS, body)

    first = devices_bound(TO_DEVICES, pod, resource_binding("gpu-0", "gpu-1")).object
    second = resource_binding("gpu-2", containerName="side")
    both = devices_bound(TO_DEVICES, first, second).object

    assert [one.get("computeDevices") for one in items(both, "spec", "containers")] == [
        [{"resourceName": GPU, "deviceIDs": ["gpu-0", "gpu-1"]}],
        [{"resourceName": GPU, "deviceIDs": ["gpu-2"]}],
    ]
    error = refusal(first, resource_binding("gpu-1", containerName="side"))
    assert 'Duplicate value: "gpu-1"' in error.message


def test_an_init_container_leaves_its_devices_to_those_after_it() -> None:
    # S3.2: devices of an init container are reused by the pod's other containers.
    body = pod_body()
    init: Json = {"name": "init", "resources": {"limits": {GPU: 2}}}
    part(body, "spec")["initContainers"] = [init]
    pod = stored(PODS, body)

    first = devices_bound(
        TO_DEVICES, pod, resource_binding("gpu-0", "gpu-1", containerName="init")
    ).object

    assert devices_bound(TO_DEVICES, first, resource_binding("gpu-0", "gpu-1")).changed


def test_devices_asked_for_at_creation_obey_the_same_rules() -> None:
    body = pod_body()
    asked: Json = [{"resourceName": GPU, "deviceIDs": ["gpu-7"]}]
    items(body, "spec", "containers")[0]["computeDevices"] = asked

    with pytest.raises(StatusError, match="1 devices, must be equal to"):
        created(Route(PODS, "default"), body, FRESH)


def test_a_device_of_another_pod_is_refused_where_that_is_checked() -> None:
    pod = stored_pod(spec={"nodeName": "node-1"})
    holders = {
        ("node-1", GPU, "gpu-0"): "default/other",
        ("node-1", GPU, "gpu-1"): "default/trainer",
    }

    def holder(node: str, resource: str, device: str) -> str | None:
        return holders.get((node, resource, device))

    with pytest.raises(StatusError) as refused:
        devices_bound(TO_DEVICES, pod, resource_binding("gpu-0", "gpu-1"), holder=holder)
    free = devices_bound(TO_DEVICES, pod, resource_binding("gpu-1", "gpu-2"), holder=holder)

    assert refused.value.code == 409
    assert refused.value.message.endswith(
        'example.com/gpu "gpu-0" on node "node-1" is held by pod default/other'
    )
    assert free.changed


def test_many_bindings_come_in_one_request_each_for_its_pod() -> None:
    one, two = resource_binding("gpu-0", "gpu-1"), resource_binding("gpu-2", "gpu-3")
    two["metadata"], two["target"] = {"namespace": "team"}, {"name": "other", "uid": "u"}

    found = bulk_items({"items": [one, two]})

    assert [(each.route.namespace, each.route.name) for each in found] == [
        ("default", "trainer"),
        ("team", "other"),
    ]
    assert {each.route.subresource for each in found} == {"resourcebinding"}
    with pytest.raises(StatusError, match=r"items\[0\].target.name: Required value"):
        bulk_items({"items": [{"target": {}}]})
    with pytest.raises(StatusError) as refused:
        bulk_items({"items": [one] * 1001})
    assert refused.value.code == 413


def test_an_answer_says_the_revision_that_the_pod_has_now() -> None:
    assert mapping(binding_answer(12), "metadata") == {"resourceVersion": "12"}
    assert items(bulk_answer([binding_answer(12)]), "results") == [binding_answer(12)]


def test_an_unknown_field_of_a_binding_is_an_error_only_when_asked_for() -> None:
    body = resource_binding("gpu-0", "gpu-1", contaner="x")

    with pytest.raises(StatusError, match=r'unknown field "containers\[0\].contaner"'):
        devices_bound(TO_DEVICES, stored_pod(), body, validation=Validation.STRICT)
    assert devices_bound(TO_DEVICES, stored_pod(), body).changed


def test_an_eviction_is_a_deletion_with_its_options() -> None:
    body: Object = {
        "metadata": {"name": "trainer"},
        "deleteOptions": {"gracePeriodSeconds": 5, "preconditions": {"uid": "u"}},
    }

    options = evicted(Route(PODS, "default", "trainer", "eviction"), body)

    assert (options.grace_seconds, options.uid) == (5, "u")
