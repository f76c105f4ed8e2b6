"""Label and field selectors (api-facts 2; apimachinery/pkg/labels and fields)."""

from __future__ import annotations

import pytest

from simulator.api.dialect.documents import Object
from simulator.api.dialect.kinds import DEVICE_BINDINGS, EVENTS, LEASES, NODES, PODS, Kind
from simulator.api.dialect.label_selectors import parse_labels
from simulator.api.dialect.selectors import read_selection
from simulator.api.dialect.statuses import StatusError

LABELS: dict[str, object] = {"app": "a", "tier": "gpu", "example.com/size": "10", "empty": ""}
POD: Object = {
    "metadata": {"name": "t", "namespace": "team", "labels": {"app": "a"}},
    "spec": {"nodeName": "node-1"},
    "status": {"phase": "Running"},
}


@pytest.mark.parametrize(
    ("selector", "holds"),
    [
        ("", True),
        ("app", True),
        ("other", False),
        ("!other", True),
        ("!app", False),
        ("app=a", True),
        ("app==a", True),
        ("app=b", False),
        ("app!=b", True),
        ("other!=b", True),
        ("app = a , tier = gpu", True),
        ("app=a,tier=cpu", False),
        ("app in (a,b)", True),
        ("app in (b, c)", False),
        ("app notin (b)", True),
        ("other notin (b)", True),
        ("other in (b)", False),
        ("empty=", True),
        ("empty in ()", True),
        ("other=", False),
        ("example.com/size>9", True),
        ("example.com/size<9", False),
        ("app>1", False),
        ("other>1", False),
        ("in=a", False),
        ("app in (a),!other,tier", True),
    ],
)
def test_labels_are_selected_as_kubernetes_does(selector: str, *, holds: bool) -> None:
    assert parse_labels(selector).matches(LABELS) is holds


@pytest.mark.parametrize(
    "selector",
    [
        ",",
        "app=a,",
        "app in",
        "app in a",
        "app in (a",
        "app in (a b)",
        "app in (a,(b))",
        "=a",
        "!",
        "!app=a",
        "app~a",
        "app=a=b",
        "app>x",
        "-app=a",
        "app=-a",
        "app in (-a)",
        "a/b/c=d",
        "app=" + "a" * 64,
    ],
)
def test_what_is_no_selector_is_a_bad_request(selector: str) -> None:
    with pytest.raises(StatusError, match="unable to parse requirement") as refused:
        read_selection(PODS, selector, "")

    assert refused.value.code == 400


@pytest.mark.parametrize(
    ("fields", "holds"),
    [
        ("metadata.name=t", True),
        ("metadata.name==t", True),
        ("metadata.name!=t", False),
        ("metadata.namespace=team", True),
        ("spec.nodeName=node-1", True),
        ("spec.nodeName=node-2", False),
        ("spec.nodeName=", False),
        ("status.phase!=Failed,status.phase!=Succeeded,spec.nodeName=node-1", True),
        ("spec.hostNetwork=false", True),
        ("status.nominatedNodeName=", True),
        ("", True),
    ],
)
def test_pods_are_selected_by_the_fields_that_kubernetes_has(fields: str, *, holds: bool) -> None:
    assert read_selection(PODS, "", fields).matches(POD) is holds


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        (PODS, "spec.foo=a"),
        (NODES, "metadata.namespace=a"),
        (LEASES, "spec.holderIdentity=a"),
        (EVENTS, "message=a"),
    ],
)
def test_an_unsupported_field_is_named(kind: Kind, fields: str) -> None:
    with pytest.raises(StatusError) as refused:
        read_selection(kind, "", fields)

    assert refused.value.code == 400
    assert refused.value.message == f"field label not supported: {fields.partition('=')[0]}"


def test_a_field_selector_without_a_sign_is_a_bad_request() -> None:
    with pytest.raises(StatusError, match="invalid selector"):
        read_selection(PODS, "", "spec.nodeName")


def test_commas_and_signs_in_a_value_are_escaped() -> None:
    event: Object = {"metadata": {}, "reason": "a,b=c\\d"}

    assert read_selection(EVENTS, "", r"reason=a\,b\=c\\d").matches(event)


def test_events_are_selected_by_what_they_are_about() -> None:
    # api-facts 2: kubectl describe.
    event: Object = {
        "metadata": {"name": "e", "namespace": "team"},
        "involvedObject": {"kind": "Pod", "name": "t", "namespace": "team", "uid": "u"},
        "source": {"component": "kubelet", "host": "node-1"},
        "reason": "FailedMount",
        "type": "Warning",
    }
    wanted = "involvedObject.name=t,involvedObject.namespace=team,involvedObject.uid=u"

    assert read_selection(EVENTS, "", wanted).matches(event)
    assert read_selection(EVENTS, "", "source=kubelet,type=Warning").matches(event)
    assert not read_selection(EVENTS, "", "reason=Pulled").matches(event)


def test_a_selection_says_what_an_index_can_use() -> None:
    selection = read_selection(
        DEVICE_BINDINGS, "", "metadata.name=t,metadata.namespace=n,spec.nodeName=node-1"
    )
    negative = read_selection(PODS, "a", "metadata.name!=t")

    assert (selection.name, selection.namespace, selection.node) == ("t", "n", "node-1")
    assert (negative.name, negative.namespace, negative.node) == ("", "", "")
    assert read_selection(PODS, "", "").is_all
    assert not negative.is_all
