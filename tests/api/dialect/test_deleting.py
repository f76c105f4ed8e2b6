"""Deletions: at once, after a grace period, after finalizers (api-facts 3)."""

from __future__ import annotations

import pytest

from simulator.api.dialect.bodies import DeleteOptions, read_delete_options
from simulator.api.dialect.deleting import (
    check_namespace,
    deleted,
    deletion_answer,
    namespace_emptied,
)
from simulator.api.dialect.documents import Object, mapping, part, text, whole
from simulator.api.dialect.kinds import DEVICE_BINDINGS, NAMESPACES, PODS
from simulator.api.dialect.routes import Route
from simulator.api.dialect.statuses import StatusError
from simulator.api.dialect.writing import Fresh
from simulator.core.instants import SECOND, Instant
from tests.api.dialect.objects import BINDING, FRESH, NOW, POD, binding_body, stored, stored_pod

LATER = Fresh(Instant(NOW + 10 * SECOND))
BOUND: Object = {"nodeName": "node-1"}


def test_a_pod_on_a_node_is_marked_and_goes_when_it_is_deleted_again_with_grace_0() -> None:
    marked = deleted(POD, stored_pod(spec=BOUND), DeleteOptions(), FRESH)

    assert not marked.removed
    assert text(marked.object, "metadata", "deletionTimestamp") == "2023-11-14T22:13:50Z"
    assert whole(marked.object, "metadata", "deletionGracePeriodSeconds") == 30
    assert deletion_answer(POD, marked) == marked.object
    gone = deleted(POD, marked.object, DeleteOptions(grace_seconds=0), LATER)
    assert gone.removed
    assert text(gone.object, "metadata", "deletionTimestamp") == "2023-11-14T22:13:20Z"


def test_a_grace_period_is_shortened_and_never_lengthened() -> None:
    marked = deleted(POD, stored_pod(spec=BOUND), DeleteOptions(), FRESH)

    shorter = deleted(POD, marked.object, DeleteOptions(grace_seconds=5), LATER)
    longer = deleted(POD, marked.object, DeleteOptions(grace_seconds=60), LATER)

    assert text(shorter.object, "metadata", "deletionTimestamp") == "2023-11-14T22:13:25Z"
    assert not longer.changed


def test_a_pod_on_no_node_and_one_that_has_ended_go_at_once() -> None:
    ended = stored_pod(spec=BOUND)
    part(ended, "status")["phase"] = "Failed"

    assert deleted(POD, stored_pod(), DeleteOptions(), FRESH).removed
    assert deleted(POD, ended, DeleteOptions(grace_seconds=30), FRESH).removed


def test_a_negative_grace_period_is_one_second() -> None:
    marked = deleted(POD, stored_pod(spec=BOUND), DeleteOptions(grace_seconds=-1), FRESH)

    assert whole(marked.object, "metadata", "deletionGracePeriodSeconds") == 1


def test_another_pod_of_the_name_is_not_deleted() -> None:
    # S12.4: the kubelet deletes with grace 0 and a UID precondition.
    with pytest.raises(StatusError, match="UID in precondition: other") as refused:
        deleted(POD, stored_pod(), DeleteOptions(uid="other"), FRESH)
    assert refused.value.code == 409
    with pytest.raises(StatusError, match="ResourceVersion in precondition: 6"):
        deleted(POD, stored_pod(), DeleteOptions(resource_version="6"), FRESH)


def test_a_custom_object_goes_at_once_and_its_answer_is_a_status() -> None:
    made = stored(DEVICE_BINDINGS, binding_body())

    gone = deleted(BINDING, made, DeleteOptions(), FRESH)

    assert gone.removed
    assert deletion_answer(BINDING, gone) == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": {
            "name": "trainer",
            "group": "rebind.internal",
            "kind": "devicebindings",
            "uid": FRESH.uid,
        },
    }


def test_an_object_with_finalizers_waits() -> None:
    body = binding_body()
    part(body, "metadata")["finalizers"] = ["example.com/keep"]
    made = stored(DEVICE_BINDINGS, body)

    marked = deleted(BINDING, made, DeleteOptions(), FRESH)

    assert not marked.removed
    assert marked.changed
    assert text(marked.object, "metadata", "deletionTimestamp") == "2023-11-14T22:13:20Z"


def test_a_namespace_goes_with_what_is_in_it() -> None:
    route = Route(NAMESPACES, name="team")
    made = stored(NAMESPACES, {"metadata": {"name": "team"}})
    marked = deleted(route, made, DeleteOptions(), FRESH)
    waiting = Route(PODS, "team", "trainer")
    contents = [(waiting, stored_pod()), (Route(PODS, "team", "on-node"), stored_pod(spec=BOUND))]

    emptied = namespace_emptied(marked.object, contents, FRESH)

    assert text(marked.object, "status", "phase") == "Terminating"
    assert not marked.removed
    assert [written.removed for _, written in emptied.objects] == [True, False]
    assert not emptied.namespace.removed
    assert namespace_emptied(marked.object, [], FRESH).namespace.removed


def test_a_namespace_that_ends_takes_nothing_new() -> None:
    route = Route(PODS, "team")
    made = stored(NAMESPACES, {"metadata": {"name": "team"}})
    check_namespace(route, made)
    ending = deleted(Route(NAMESPACES, name="team"), made, DeleteOptions(), FRESH).object

    with pytest.raises(StatusError) as refused:
        check_namespace(route, ending)
    assert refused.value.code == 403
    assert refused.value.message == (
        "pods is forbidden: unable to create new content in namespace team because it is being "
        "terminated"
    )
    with pytest.raises(StatusError, match='namespaces "team" not found'):
        check_namespace(route, None)


@pytest.mark.parametrize("name", ["default", "kube-system", "kube-public"])
def test_the_namespaces_that_must_be_are_not_deleted(name: str) -> None:
    made = stored(NAMESPACES, {"metadata": {"name": name}})

    with pytest.raises(StatusError) as refused:
        deleted(Route(NAMESPACES, name=name), made, DeleteOptions(), FRESH)

    assert refused.value.message == (
        f'namespaces "{name}" is forbidden: this namespace may not be deleted'
    )


def test_options_come_in_the_body_or_in_the_query() -> None:
    # api-facts 2: kubectl sends a body; 4: Python's client has none, grace is in the query.
    body = b'{"propagationPolicy":"Background","gracePeriodSeconds":0,"preconditions":{"uid":"u"}}'

    of_kubectl = read_delete_options("application/json", body, {})
    of_python = read_delete_options("", b"", {"gracePeriodSeconds": "5", "dryRun": "All"})

    assert (of_kubectl.grace_seconds, of_kubectl.uid) == (0, "u")
    assert (of_python.grace_seconds, of_python.dry_run) == (5, True)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b'{"propagationPolicy":"Sometimes"}', 422),
        (b'{"dryRun":["some"]}', 422),
        (b'{"gracePeriodSeconds":"5"}', 400),
        (b"{", 400),
    ],
)
def test_options_that_are_none_are_refused(body: bytes, code: int) -> None:
    with pytest.raises(StatusError) as refused:
        read_delete_options("application/json", body, {})

    assert refused.value.code == code


def test_the_answer_to_a_pod_that_is_gone_shows_it() -> None:
    gone = deleted(POD, stored_pod(), DeleteOptions(), FRESH)

    assert text(deletion_answer(POD, gone), "kind") == "Pod"
    assert mapping(gone.object, "metadata")["deletionGracePeriodSeconds"] == 0
