"""What happens to a pod whose recorded devices are not there: the four policies (design 6)."""

from collections.abc import Sequence

import pytest

from simulator.core.behavior import Readmission, Reservations
from simulator.core.calls import CallFailed, Conflict
from simulator.core.devices import NumaNode
from simulator.core.facts import ContainerInstance
from simulator.core.machine import Machine
from simulator.core.persistence.database import DatabasePersistence
from simulator.core.records import AdmissionDecided
from simulator.core.switches import behavior_for
from simulator.core.topology import TopologyHint
from simulator.core.transitions import NodeName, NodeState, PodAdmitted, PodRejected
from tests.core.driving import GPU, MAIN, Rig, device, ids, pod

POD = pod("p1", {GPU: 2})
RUNNING = ContainerInstance(POD.uid, MAIN, "id-1", running=True)
NO_HEALTHY = "no healthy devices present; cannot allocate unhealthy devices example.com/gpu"
NOT_HEALTHY = (
    "previously allocated devices are no longer healthy; "
    "cannot allocate unhealthy devices example.com/gpu"
)


def rebooted(
    readmission: Readmission,
    version: str = "1.36.2",
    *instances: ContainerInstance,
    nodes: Sequence[int] | None = None,
) -> Rig:
    """Return a node after a reboot on which p1 held g0 and g1; its plugin is not back.

    `nodes` are the NUMA nodes of all devices.
    """
    rig = Rig(
        behavior=behavior_for(version),
        machine=Machine((NumaNode(0), NumaNode(1))),
        readmission=readmission,
        persistence=lambda _: DatabasePersistence(),
        reservations=Reservations.TRANSACTIONAL,
    )
    rig.plug(GPU, *(device(name, nodes=nodes) for name in ("g0", "g1", "g2", "g3")))
    assert rig.admit(POD).admitted
    rig.stored = NodeState(
        NodeName("n0"), 2, bindings=tuple(rig.manager.bindings_of(POD.uid)), registered=(GPU,)
    )
    rig.start(*instances, sources_ready=False)
    rig.calls.clear()
    rig.commits.clear()
    rig.manager.take_records()
    return rig


@pytest.mark.parametrize("version", ["1.24", "1.27.2", "1.36.2"])
def test_pinned_wants_the_same_devices_in_every_version(version: str) -> None:
    rig = rebooted(Readmission.PINNED, version)
    assert rig.admit(POD).message == rig.message(NO_HEALTHY)

    rig = rebooted(Readmission.PINNED, version)
    rig.plug(GPU, "g0", "x1", "x2")
    assert rig.admit(POD).message == rig.message(NOT_HEALTHY)

    rig = rebooted(Readmission.PINNED, version)
    rig.plug(GPU, "g0", "g1")
    assert rig.admit(POD).admitted
    assert rig.held("p1") == ["g0", "g1"]
    assert rig.calls == []


@pytest.mark.parametrize(
    ("readmission", "remembered"),
    [
        (Readmission.UPSTREAM, None),
        (Readmission.PINNED, (TopologyHint.over(1, preferred=True),)),
        (Readmission.REASSIGN, None),
        (Readmission.WAIT, None),
    ],
)
def test_pinned_devices_stay_on_their_numa_nodes_until_the_plugin_says_where_they_are(
    readmission: Readmission, remembered: tuple[TopologyHint, ...] | None
) -> None:
    """R60: hints before the plugin has registered; its own list counts from then on."""
    rig = rebooted(readmission, nodes=[1])

    assert rig.run(rig.manager.topology_hints(POD, MAIN)) == {GPU: remembered}
    assert rig.run(rig.manager.pod_topology_hints(POD)) == {GPU: remembered}
    assert rig.run(rig.manager.topology_hints(pod("p2", {GPU: 2}), MAIN)) == {GPU: None}

    rig.plug(GPU, device("g0", nodes=[0]), device("g1", nodes=[0]))
    assert rig.run(rig.manager.topology_hints(POD, MAIN)) == {
        GPU: (TopologyHint.over(0, preferred=True),)
    }


def test_pinned_devices_without_a_numa_node_have_no_preference() -> None:
    rig = rebooted(Readmission.PINNED)

    assert rig.run(rig.manager.topology_hints(POD, MAIN)) == {GPU: None}


@pytest.mark.parametrize(
    "readmission", [Readmission.PINNED, Readmission.REASSIGN, Readmission.WAIT]
)
def test_a_running_container_keeps_what_it_has_under_every_policy(readmission: Readmission) -> None:
    rig = rebooted(readmission, "1.27.2", RUNNING)

    assert rig.admit(POD).admitted
    assert rig.held("p1") == ["g0", "g1"]


def test_reassign_keeps_what_is_healthy_and_chooses_the_rest_again() -> None:
    rig = rebooted(Readmission.REASSIGN)
    rig.plug(GPU, "g1", "x0", device("x1", "Unhealthy"))
    rig.commits.clear()

    assert rig.admit(POD).admitted

    assert rig.held("p1") == ["g1", "x0"]
    assert rig.allocated() == ["g1", "x0"]
    assert len(rig.calls) == 1
    assert [
        [type(each) for each in commit if isinstance(each, PodAdmitted)] for commit in rig.commits
    ] == [[PodAdmitted]]
    assert rig.manager.violations() == []


def test_reassign_without_any_healthy_device_refuses_like_the_kubelet() -> None:
    rig = rebooted(Readmission.REASSIGN)

    assert rig.admit(POD).message == rig.message(NO_HEALTHY)


def test_reassign_with_too_few_devices_leaves_the_record_until_the_pod_is_released() -> None:
    rig = rebooted(Readmission.REASSIGN)
    rig.plug(GPU, "g1", device("x0", "Unhealthy"))

    assert rig.admit(POD).message == rig.message(
        "requested number of devices unavailable for example.com/gpu. Requested: 1, Available: 0"
    )
    assert rig.held("p1") == ["g0", "g1"]
    assert rig.manager.violations() == []


@pytest.mark.parametrize("failing", ["plugin", "database"])
def test_a_failed_reassignment_gives_the_old_record_back(failing: str) -> None:
    rig = rebooted(Readmission.REASSIGN)
    rig.plug(GPU, "g1", "x0")
    if failing == "plugin":
        rig.on_allocate = lambda _: CallFailed("rpc error")
    else:
        rig.refuse_commit = lambda _: Conflict("device x0 of example.com/gpu is held by pod p9")

    assert not rig.admit(POD).admitted
    assert rig.held("p1") == ["g0", "g1"]
    assert rig.manager.violations() == []


def test_wait_asks_again_and_admits_once_the_plugin_is_back() -> None:
    rig = rebooted(Readmission.WAIT, "1.24")

    waiting = rig.admit(POD)

    assert (waiting.admitted, waiting.retry) == (False, True)
    assert waiting.message == rig.message(NO_HEALTHY)
    assert rig.manager.take_records() == [
        AdmissionDecided(
            POD.uid,
            admitted=False,
            reason="UnexpectedAdmissionError",
            message=rig.message(NO_HEALTHY),
            waiting=True,
            held=((POD.uid, MAIN, GPU, ids("g0", "g1")),),
        )
    ]
    assert rig.commits == []

    rig.plug(GPU, "g0", "g1")
    assert rig.admit(POD).admitted


def test_wait_is_for_recorded_devices_that_are_away_and_for_nothing_else() -> None:
    rig = rebooted(Readmission.WAIT)

    assert not rig.admit(pod("new", {GPU: 1})).retry
    assert isinstance(rig.commits[-1][-1], PodRejected)
    assert not rig.admit(pod("p1", {GPU: 3})).retry


def test_trust_checkpoint_trusts_a_record_until_the_plugin_reports() -> None:
    """S5.16: the idea of PR 137919; a container without a record is judged as ever."""
    rig = rebooted(Readmission.UPSTREAM, "trust-checkpoint")

    assert rig.admit(POD).admitted
    assert rig.admit(pod("new", {GPU: 1})).message == rig.message(NO_HEALTHY)

    rig.plug(GPU, "x0", "x1")
    assert rig.admit(POD).message == rig.message(NOT_HEALTHY)
