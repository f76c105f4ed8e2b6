"""What every store promises, stated as facts; memory and SQL are held to the same ones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from simulator.core.devices import DeviceId, NumaNode
from simulator.core.pods import PodUid
from simulator.core.transitions import NodeName, NodeState, PodIdentity
from simulator.ports import Committed, ImportedCheckpoint, Refused, Standing, Store
from store.memory.store import MemoryStore
from store.sql_store import SqlStore
from tests.store.world import (
    GPU,
    NODE,
    admits_one,
    admitted,
    binding,
    booted,
    device,
    identity,
    imported,
    rejected,
    released,
    removed,
    reported,
)


@pytest.fixture(params=["memory", "sql in memory", "sql in a file", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    opened: Store
    if request.param == "memory":
        opened = MemoryStore()
    elif request.param == "sql in memory":
        opened = SqlStore("sqlite://")
    elif request.param == "postgresql":
        opened = SqlStore(request.getfixturevalue("postgres_url"))
    else:
        opened = SqlStore(f"sqlite:///{tmp_path}/rebind.db")
    yield opened
    opened.close()


def _held(store: Store) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for holding in store.holders():
        found.setdefault(holding.device, []).append(holding.pod.uid)
    return found


def test_an_unknown_node_has_revision_zero_and_nothing_else(store: Store) -> None:
    assert store.load(NODE) == NodeState(NODE, 0, (), ())
    assert store.nodes() == []
    assert store.imported_checkpoint(NODE) is None


def test_revisions_rise_by_one_over_all_nodes(store: Store) -> None:
    outcomes = store.apply(
        [booted("b1"), admits_one("a", "g0"), admits_one("b", "g0", node=NodeName("n1"))]
    )

    assert outcomes == [Committed(1), Committed(2), Committed(3)]
    assert store.load(NODE).revision == 2
    assert store.load(NodeName("n1")).revision == 3


def test_what_is_bound_is_loaded_as_it_was(store: Store) -> None:
    kept = binding("a", {-1: ("g9", "g2"), 0: ("g2",), 3: ()}, response=None)
    store.apply([admitted("a", kept, binding("a", {1: ("g1",)}, container="side"))])

    state = store.load(NODE)

    assert state.bindings == (kept, binding("a", {1: ("g1",)}, container="side"))
    assert list(state.bindings[0].devices) == [-1, 0, 3]


def test_a_null_and_an_empty_response_are_kept_apart(store: Store) -> None:
    """S4.8."""
    store.apply(
        [
            admitted("a", binding("a", {0: ("g0",)}, response=None)),
            admitted("b", binding("b", {0: ("g1",)}, response=b"")),
        ]
    )

    assert [each.response for each in store.load(NODE).bindings] == [None, b""]


def test_a_second_holder_is_refused_by_name_and_its_neighbors_are_not(store: Store) -> None:
    outcomes = store.apply([admits_one("a", "g0"), admits_one("b", "g0"), admits_one("c", "g1")])

    assert outcomes == [
        Committed(1),
        Refused("device g0 of example.com/gpu is held by pod uid-a"),
        Committed(2),
    ]
    assert _held(store) == {"g0": ["uid-a"], "g1": ["uid-c"]}
    assert [each.pod.name for each in store.pods()] == ["a", "c"]


def test_a_refused_admission_leaves_nothing_of_its_other_devices(store: Store) -> None:
    store.apply([admits_one("a", "g1")])
    store.apply([admitted("b", binding("b", {0: ("g0", "g1")}))])

    assert _held(store) == {"g1": ["uid-a"]}
    assert len(store.history()) == 1


def test_containers_of_one_pod_may_share_a_device(store: Store) -> None:
    """Init container reuse, S3.2."""
    outcomes = store.apply(
        [
            admitted(
                "a",
                binding("a", {0: ("g0",)}, container="init"),
                binding("a", {0: ("g0",)}, container="main"),
            )
        ]
    )
    (holding,) = store.holders()

    assert outcomes == [Committed(1)]
    assert holding.containers == ("init", "main")


def test_the_same_device_id_of_another_node_is_another_device(store: Store) -> None:
    outcomes = store.apply([admits_one("a", "g0"), admits_one("a", "g0", node=NodeName("n1"))])

    assert outcomes == [Committed(1), Committed(2)]


def test_a_released_device_can_be_given_to_another_pod(store: Store) -> None:
    store.apply([admits_one("a", "g0"), released("a"), admits_one("b", "g0", at=11)])
    before, now = store.holders(past=True)

    assert _held(store) == {"g0": ["uid-b"]}
    assert (before.pod, before.since_revision, before.until_revision) == (identity("a"), 1, 2)
    assert (before.until, now.since, now.until) == (9, 11, None)
    assert before.containers == ("main",)


def test_releasing_what_holds_nothing_changes_nothing(store: Store) -> None:
    store.apply([admits_one("a", "g0")])

    assert store.apply([released("b"), released()]) == [Committed(1), Committed(1)]
    assert store.apply([released("b", node=NodeName("n1"))]) == [Committed(0)]
    assert len(store.history()) == 1
    assert [each.node for each in store.nodes()] == [NODE]


def test_a_binding_of_the_same_container_and_resource_takes_the_old_ones_place(
    store: Store,
) -> None:
    store.apply([admits_one("a", "g0"), admits_one("b", "g1")])
    store.apply([admits_one("a", "g2")])

    assert _held(store) == {"g1": ["uid-b"], "g2": ["uid-a"]}
    assert [each.pod for each in store.load(NODE).bindings] == ["uid-b", "uid-a"]


def test_a_shared_device_stays_held_while_one_container_has_it(store: Store) -> None:
    init = binding("a", {0: ("g0",)}, container="init")
    store.apply([admitted("a", init, binding("a", {0: ("g0",)}))])
    store.apply([admits_one("a", "g1")])

    assert {each.device: each.containers for each in store.holders()} == {
        "g0": ("init",),
        "g1": ("main",),
    }


def test_a_report_of_the_same_devices_changes_nothing(store: Store) -> None:
    devices = (device("g1", topology=(0, 1)), device("g0", "Unhealthy", ()))

    assert store.apply([reported(*devices)]) == [Committed(1)]
    assert store.apply([reported(*reversed(devices))]) == [Committed(1)]
    assert store.apply([reported(devices[0])]) == [Committed(2)]


def test_devices_are_known_in_the_order_in_which_they_were_listed(store: Store) -> None:
    store.apply([reported(device("g5"), device("g1", "Sick", (1,)), device("g3", topology=()))])
    store.apply([reported(device("g3", topology=()), device("g4"), device("g5"))])

    found = [(each.device, each.listed, each.health, each.numa_nodes) for each in store.devices()]

    assert found == [
        ("g5", True, "Healthy", None),
        ("g3", True, "Healthy", ()),
        ("g4", True, "Healthy", None),
        ("g1", False, "Sick", (NumaNode(1),)),
    ]


def test_a_removed_resource_is_not_registered_and_its_devices_stay_held(store: Store) -> None:
    """S2.10: what is allocated is not touched."""
    store.apply([reported(device("g0")), admits_one("a", "g0")])

    assert store.load(NODE).registered == (GPU,)
    assert store.apply([removed(), removed()]) == [Committed(3), Committed(3)]
    assert store.load(NODE).registered == ()
    assert _held(store) == {"g0": ["uid-a"]}


def test_a_node_is_counted_by_resource(store: Store) -> None:
    store.apply(
        [
            booted("b1"),
            reported(device("g0"), device("g1"), device("g2", "Unhealthy")),
            admits_one("a", "g0"),
            booted("b2"),
        ]
    )
    (summary,) = store.nodes()
    (resource,) = summary.resources

    assert (summary.revision, summary.boot_id, summary.pods) == (4, "b2", 1)
    assert (resource.devices, resource.healthy, resource.held) == (3, 2, 1)
    assert resource.registered


def test_a_holding_remembers_the_boot_in_which_it_began(store: Store) -> None:
    store.apply([admits_one("a", "g0"), booted("b1"), admits_one("b", "g1"), booted("b2")])

    assert [each.boot_id for each in store.holders()] == ["", "b1"]


def test_the_same_boot_again_changes_nothing(store: Store) -> None:
    assert store.apply([booted("b1"), booted("b1")]) == [Committed(1), Committed(1)]


def test_a_rejected_pod_keeps_what_it_held_until_it_is_released(store: Store) -> None:
    """S6.3."""
    store.apply([admits_one("a", "g0"), rejected("a"), rejected("b")])

    assert _held(store) == {"g0": ["uid-a"]}
    assert [each.standing for each in store.pods()] == [Standing.REJECTED, Standing.REJECTED]
    store.apply([released("a", "b")])

    assert _held(store) == {}
    assert [(each.standing, each.reason) for each in store.pods()] == [
        (Standing.REJECTED, "UnexpectedAdmissionError"),
        (Standing.REJECTED, "UnexpectedAdmissionError"),
    ]


def test_a_pod_that_comes_back_is_the_same_pod(store: Store) -> None:
    store.apply([rejected("a"), admits_one("a", "g0"), released("a")])
    store.apply([admits_one("a", "g1")])
    (pod,) = store.pods()

    assert (pod.standing, pod.reason, pod.devices) == (Standing.ADMITTED, "", ((GPU, 1),))


def test_the_history_has_one_line_for_each_change_and_names_its_pods(store: Store) -> None:
    store.apply(
        [
            booted("b1"),
            reported(device("g0"), device("g1", "Unhealthy")),
            admitted("a", binding("a", {0: ("g0",), 1: ("g1",)})),
            admits_one("b", "g2"),
            rejected("c", message="too late"),
            released("a", "b"),
            removed(),
        ]
    )

    assert [(each.kind, each.pod, each.detail) for each in store.history()] == [
        ("NodeBooted", None, "boot b1"),
        ("DevicesReported", None, "example.com/gpu: 2 devices, 1 healthy"),
        ("PodAdmitted", "uid-a", "main example.com/gpu=g0,g1"),
        ("PodAdmitted", "uid-b", "main example.com/gpu=g2"),
        ("PodRejected", "uid-c", "UnexpectedAdmissionError: too late"),
        ("PodsReleased", None, "uid-a uid-b"),
        ("ResourceRemoved", None, "example.com/gpu"),
    ]
    assert [each.revision for each in store.history(pod=PodUid("uid-a"))] == [3, 6]
    assert [each.revision for each in store.history(until_revision=2)] == [1, 2]
    assert store.history(node=NodeName("n1")) == []


def test_holders_can_be_asked_for_one_device_or_one_node(store: Store) -> None:
    store.apply([admits_one("a", "g0"), admits_one("b", "g1")])
    store.apply([admits_one("c", "g0", node=NodeName("n1"))])

    assert [each.pod.name for each in store.holders(device=DeviceId("g0"))] == ["a", "c"]
    assert [each.pod.name for each in store.holders(node=NODE)] == ["a", "b"]
    assert [each.node for each in store.devices(node=NodeName("n1"))] == ["n1"]
    assert [each.node for each in store.pods(node=NodeName("n1"))] == ["n1"]


def test_an_import_is_the_nodes_state_and_keeps_the_file(store: Store) -> None:
    bound = (binding("b", {0: ("g1",)}), binding("a", {-1: ("g0",)}))

    assert store.apply([imported(*bound)]) == [Committed(1)]
    assert store.load(NODE) == NodeState(NODE, 1, bound, (GPU,))
    assert store.imported_checkpoint(NODE) == ImportedCheckpoint(b"file", 1)
    assert [(each.device, each.health) for each in store.devices()] == [
        ("g0", "Healthy"),
        ("g1", "Healthy"),
    ]


def test_the_same_file_again_changes_nothing(store: Store) -> None:
    file = imported(binding("a", {0: ("g0",)}))

    assert store.apply([file, file]) == [Committed(1), Committed(1)]
    assert len(store.history()) == 1


def test_another_file_of_the_same_state_only_takes_the_files_place(store: Store) -> None:
    bound = binding("a", {0: ("g0",)})
    store.apply([imported(bound), imported(bound, content=b"other bytes")])

    assert store.imported_checkpoint(NODE) == ImportedCheckpoint(b"other bytes", 2)
    assert [each.since_revision for each in store.holders(past=True)] == [1]


def test_an_import_over_other_state_is_refused_unless_it_may_replace(store: Store) -> None:
    store.apply([admits_one("a", "g0")])
    other = binding("b", {0: ("g0",)})

    assert store.apply([imported(other)]) == [
        Refused(
            "node n0 already has other state (1 pod, 0 resources); import with --replace to drop it"
        )
    ]
    assert _held(store) == {"g0": ["uid-a"]}
    assert store.apply([imported(other, replace=True)]) == [Committed(2)]
    assert _held(store) == {"g0": ["uid-b"]}
    assert store.pods()[0].standing is Standing.RELEASED


def test_a_file_with_one_device_under_two_pods_is_refused(store: Store) -> None:
    file = imported(binding("a", {0: ("g0",)}), binding("b", {0: ("g0",)}))

    assert store.apply([file]) == [
        Refused(
            "device g0 of example.com/gpu stands under pods uid-a and uid-b; "
            "import with --on-conflict keep to keep both"
        )
    ]
    assert store.nodes() == []


def test_a_kept_dispute_holds_the_device_until_the_last_pod_is_gone(store: Store) -> None:
    bound = (binding("a", {0: ("g0",)}), binding("b", {0: ("g0",)}), binding("c", {0: ("g0",)}))
    store.apply([imported(*bound, keep=True)])

    assert [(each.pod.uid, each.disputed) for each in store.holders()] == [
        ("uid-a", False),
        ("uid-b", True),
        ("uid-c", True),
    ]
    store.apply([released("a")])

    assert [(each.pod.uid, each.disputed) for each in store.holders()] == [
        ("uid-b", False),
        ("uid-c", True),
    ]
    assert store.apply([admits_one("d", "g0")]) == [
        Refused("device g0 of example.com/gpu is held by pod uid-b")
    ]
    store.apply([released("b", "c")])

    assert store.apply([admits_one("d", "g0")]) == [Committed(4)]


def test_an_import_gives_names_to_uids(store: Store) -> None:
    file = imported(binding("a", {0: ("g0",)}))
    named = type(file)(
        node=file.node,
        at=file.at,
        content=file.content,
        bindings=file.bindings,
        registered=file.registered,
        pods=(identity("a"), identity("z")),
    )
    store.apply([file])

    assert [each.pod for each in store.pods()] == [PodIdentity(PodUid("uid-a"))]
    assert store.apply([named, named]) == [Committed(2), Committed(2)]
    assert [each.pod for each in store.pods()] == [identity("a")]


def test_a_change_after_the_import_shows_in_the_revision(store: Store) -> None:
    store.apply([imported(binding("a", {0: ("g0",)})), admits_one("b", "g1")])

    kept = store.imported_checkpoint(NODE)

    assert kept == ImportedCheckpoint(b"file", 1)
    assert store.load(NODE).revision == 2
    assert [each.pod for each in store.load(NODE).bindings] == ["uid-a", "uid-b"]


def test_of_entries_with_one_key_the_last_counts(store: Store) -> None:
    store.apply([imported(binding("a", {0: ("g0",)}), binding("a", {0: ("g1",)}))])

    assert _held(store) == {"g1": ["uid-a"]}
