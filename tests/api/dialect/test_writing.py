"""Creates and updates: what the server sets, refuses and keeps (api-facts 3, Kubernetes' texts)."""

from __future__ import annotations

import copy

import pytest

from simulator.api.dialect.documents import Object, mapping, part, text
from simulator.api.dialect.kinds import DEVICE_BINDINGS, NAMESPACES, NODES, PODS
from simulator.api.dialect.queries import Validation
from simulator.api.dialect.routes import Route
from simulator.api.dialect.statuses import StatusError
from simulator.api.dialect.writing import Fresh, created, updated
from tests.api.dialect.objects import (
    BINDING,
    FRESH,
    GPU,
    NOW,
    POD,
    binding_body,
    pod_body,
    stored,
    stored_pod,
)

PODS_HERE = Route(PODS, "default")


def test_uid_and_creation_time_are_the_servers_and_in_whole_seconds() -> None:
    body = pod_body()
    part(body, "metadata").update({"uid": "mine", "creationTimestamp": "2001-01-01T00:00:00Z"})

    metadata = mapping(created(PODS_HERE, body, FRESH).object, "metadata")

    assert metadata == {
        "name": "trainer",
        "namespace": "default",
        "uid": "11111111-2222-3333-4444-555555555555",
        "creationTimestamp": "2023-11-14T22:13:20Z",
        "generation": 1,
    }


def test_a_name_is_generated_from_its_prefix_and_five_letters() -> None:
    body = pod_body()
    body["metadata"] = {"generateName": "trainer-"}

    assert text(created(PODS_HERE, body, FRESH).object, "metadata", "name") == "trainer-x7k2q"


def test_clients_find_the_defaults_that_they_rely_on() -> None:
    made = created(PODS_HERE, pod_body(), FRESH).object

    assert mapping(made, "status") == {"phase": "Pending", "qosClass": "BestEffort"}
    spec = mapping(made, "spec")
    assert spec["restartPolicy"] == "Always"
    assert spec["terminationGracePeriodSeconds"] == 30
    assert spec["schedulerName"] == "default-scheduler"
    assert spec["containers"] == [
        {
            "name": "main",
            "image": "registry.example.com/train:1",
            "imagePullPolicy": "IfNotPresent",
            "resources": {"limits": {GPU: "2"}, "requests": {GPU: "2"}},
            "terminationMessagePath": "/dev/termination-log",
            "terminationMessagePolicy": "File",
        }
    ]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"containers": []}, "spec.containers: Required value"),
        (
            {"containers": [{"name": "a"}, {"name": "a"}]},
            'spec.containers[1].name: Duplicate value: "a"',
        ),
        (
            {"containers": [{"name": "a", "resources": {"requests": {GPU: 1}}}]},
            (
                "spec.containers[0].resources.limits: Required value: Limit must be set for non "
                "overcommitable resources"
            ),
        ),
        (
            {
                "containers": [
                    {"name": "a", "resources": {"limits": {GPU: 2}, "requests": {GPU: 1}}}
                ]
            },
            (
                'spec.containers[0].resources.requests: Invalid value: "1": must be equal to '
                "example.com/gpu limit of 2"
            ),
        ),
        (
            {"containers": [{"name": "a", "resources": {"limits": {GPU: "500m"}}}]},
            (
                "[spec.containers[0].resources.limits[example.com/gpu]: Invalid value: "
                '"500m": must be an integer, '
                "spec.containers[0].resources.requests[example.com/gpu]: Invalid value: "
                '"500m": must be an integer]'
            ),
        ),
        (
            {"restartPolicy": "Sometimes"},
            (
                'spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", '
                '"Never", "OnFailure"'
            ),
        ),
    ],
)
def test_a_pod_is_refused_in_the_api_servers_words(change: Object, message: str) -> None:
    body = pod_body()
    part(body, "spec").update(change)

    with pytest.raises(StatusError) as refused:
        created(PODS_HERE, body, FRESH)

    assert refused.value.code == 422
    assert refused.value.message == f'Pod "trainer" is invalid: {message}'
    assert refused.value.details["kind"] == "Pod"


def test_each_fault_is_a_cause_with_its_field() -> None:
    with pytest.raises(StatusError) as refused:
        created(PODS_HERE, {"metadata": {"name": "x"}}, FRESH)

    assert refused.value.details["causes"] == [
        {
            "reason": "FieldValueRequired",
            "message": "Required value",
            "field": "spec.containers",
        }
    ]


def test_a_name_must_be_a_subdomain() -> None:
    with pytest.raises(StatusError) as refused:
        created(PODS_HERE, pod_body("Trainer"), FRESH)

    assert refused.value.message == (
        'Pod "Trainer" is invalid: metadata.name: Invalid value: "Trainer": a lowercase RFC 1123 '
        "subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start "
        "and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
        r"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
    )


def test_a_typo_is_an_error_only_when_asked_for() -> None:
    body = pod_body()
    part(body, "spec")["nodeNam"] = "node-1"

    with pytest.raises(StatusError) as refused:
        created(PODS_HERE, body, FRESH, Validation.STRICT)
    warned = created(PODS_HERE, body, FRESH, Validation.WARN)
    ignored = created(PODS_HERE, body, FRESH, Validation.IGNORE)

    assert refused.value.code == 400
    assert refused.value.message == (
        'Pod in version "v1" cannot be handled as a Pod: strict decoding error: unknown field '
        '"spec.nodeNam"'
    )
    assert warned.warnings == ('unknown field "spec.nodeNam"',)
    assert ignored.warnings == ()
    assert "nodeNam" not in mapping(warned.object, "spec")


def test_a_value_of_another_type_is_a_bad_request_in_gos_words() -> None:
    body = pod_body()
    part(body, "spec")["terminationGracePeriodSeconds"] = "long"

    with pytest.raises(StatusError) as refused:
        created(PODS_HERE, body, FRESH)

    assert refused.value.message == (
        'Pod in version "v1" cannot be handled as a Pod: json: cannot unmarshal string into Go '
        "struct field PodSpec.spec.terminationGracePeriodSeconds of type int64"
    )


def test_a_custom_object_of_another_type_is_invalid() -> None:
    with pytest.raises(StatusError) as refused:
        created(Route(DEVICE_BINDINGS, "default"), binding_body(podUID=7), FRESH)

    assert refused.value.message == (
        'DeviceBinding.rebind.internal "trainer" is invalid: spec.podUID: Invalid value: '
        '"integer": spec.podUID in body must be of type string: "integer"'
    )


def test_a_status_is_written_under_its_own_path_alone() -> None:
    body = pod_body()
    body["status"] = {"phase": "Running"}
    made = stored(PODS, body)
    changed = copy.deepcopy(made)
    part(changed, "status")["phase"] = "Running"

    assert text(made, "status", "phase") == "Pending"
    assert not updated(POD, made, changed).changed
    status = updated(Route(PODS, "default", "trainer", "status"), made, changed)
    assert status.changed
    assert text(status.object, "status", "phase") == "Running"
    assert mapping(status.object, "metadata")["generation"] == 1


def test_a_node_keeps_the_status_that_its_kubelet_registers_it_with() -> None:
    node: Object = {"metadata": {"name": "node-1"}, "status": {"capacity": {GPU: 4}}}

    made = created(Route(NODES), node, FRESH).object

    assert mapping(made, "status") == {"capacity": {GPU: "4"}}


def test_an_update_based_on_an_older_revision_is_a_conflict() -> None:
    made = stored_pod()
    stale = copy.deepcopy(made)
    part(stale, "metadata")["resourceVersion"] = "6"

    with pytest.raises(StatusError) as refused:
        updated(POD, made, stale)

    assert (refused.value.code, refused.value.reason) == (409, "Conflict")
    assert refused.value.message == (
        'Operation cannot be fulfilled on pods "trainer": the object has been modified; please '
        "apply your changes to the latest version and try again"
    )


def test_an_update_that_means_another_object_is_a_conflict() -> None:
    made = stored_pod()
    other = copy.deepcopy(made)
    part(other, "metadata")["uid"] = "another"

    with pytest.raises(StatusError) as refused:
        updated(POD, made, other)

    assert refused.value.message == (
        'Operation cannot be fulfilled on pods "trainer": Precondition failed: UID in '
        "precondition: another, UID in object meta: 11111111-2222-3333-4444-555555555555"
    )


def test_a_custom_object_is_updated_from_a_revision_only() -> None:
    made = stored(DEVICE_BINDINGS, binding_body())

    with pytest.raises(StatusError) as refused:
        updated(BINDING, made, binding_body(nodeName="node-2"))

    assert refused.value.message == (
        'DeviceBinding.rebind.internal "trainer" is invalid: metadata.resourceVersion: Invalid '
        "value: 0: must be specified for an update"
    )


def test_the_generation_counts_changes_of_what_is_wanted() -> None:
    made = stored(DEVICE_BINDINGS, binding_body())
    labelled, moved = copy.deepcopy(made), copy.deepcopy(made)
    part(labelled, "metadata")["labels"] = {"a": "b"}
    part(moved, "spec")["nodeName"] = "node-2"

    assert mapping(updated(BINDING, made, labelled).object, "metadata")["generation"] == 1
    assert mapping(updated(BINDING, made, moved).object, "metadata")["generation"] == 2


def test_the_spec_of_a_pod_does_not_change_but_for_its_images() -> None:
    made = stored_pod()
    moved, newer = copy.deepcopy(made), copy.deepcopy(made)
    part(moved, "spec")["nodeName"] = "node-1"
    containers = part(newer, "spec")["containers"]
    assert isinstance(containers, list)
    assert isinstance(containers[0], dict)
    containers[0]["image"] = "registry.example.com/train:2"

    with pytest.raises(StatusError) as refused:
        updated(POD, made, moved)

    assert "spec: Forbidden: pod updates may not change fields other than" in refused.value.message
    assert updated(POD, made, newer).changed


def test_an_object_that_waits_for_a_finalizer_goes_when_it_is_taken_off() -> None:
    body = binding_body()
    part(body, "metadata")["finalizers"] = ["example.com/keep"]
    made = stored(DEVICE_BINDINGS, body)
    part(made, "metadata")["deletionTimestamp"] = "2023-11-14T22:13:20Z"
    part(made, "metadata")["deletionGracePeriodSeconds"] = 0
    free, more = copy.deepcopy(made), copy.deepcopy(made)
    del part(free, "metadata")["finalizers"]
    part(more, "metadata")["finalizers"] = ["example.com/keep", "example.com/more"]

    with pytest.raises(StatusError, match="no new finalizers can be added"):
        updated(BINDING, made, more)

    assert updated(BINDING, made, free).removed


def test_a_namespace_is_active_and_kept_until_it_is_empty() -> None:
    made = created(Route(NAMESPACES), {"metadata": {"name": "team-a"}}, Fresh(NOW, "u")).object

    assert mapping(made, "status") == {"phase": "Active"}
    assert mapping(made, "spec") == {"finalizers": ["kubernetes"]}
    assert mapping(made, "metadata", "labels") == {"kubernetes.io/metadata.name": "team-a"}


def test_what_was_sent_before_is_sent_again_without_an_effect() -> None:
    # kubectl replace: the file has none of the defaults.
    assert not updated(POD, stored_pod(), pod_body()).changed
