"""Ways through the device manager that few kubelets and few plugins ever take."""

import pytest

from simulator.core.behavior import Behavior, Readmission, Reservations
from simulator.core.calls import AllocateCall, CallFailed, PluginReply, Stored
from simulator.core.device_pool import DevicePool
from simulator.core.endpoints import PluginOptions
from simulator.core.instants import MINUTE, Duration
from simulator.core.machine import Machine, TopologyOptions, TopologyPolicy
from simulator.core.persistence.database import DatabasePersistence
from simulator.core.refusals import StateNotCommitted
from simulator.core.transitions import DevicesReported, NodeName, ResourceRemoved
from tests.core.driving import GPU, NIC, Rig, device, ids, pod


def test_devices_without_an_endpoint_cannot_be_preferred_nor_allocated() -> None:
    """S3.18, S3.10: which of the two is met first depends on whether the plugin is to be asked."""
    asked, unasked = (
        Rig(),
        Rig(
            machine=Machine.with_nodes(2),
            topology=TopologyOptions(policy=TopologyPolicy.BEST_EFFORT),
        ),
    )
    for rig in (asked, unasked):
        rig.report(GPU, device("g0", nodes=[0]))

    preferring, allocating = (rig.admit(pod("p1", {GPU: 1})) for rig in (asked, unasked))

    assert preferring.message == asked.message(
        "endpoint not found in cache for a registered resource: example.com/gpu"
    )
    assert allocating.message == unasked.message("unknown Device Plugin example.com/gpu")
    assert unasked.allocated() is None


def test_unhealthy_devices_were_once_allocatable() -> None:
    """S8.10."""
    listed = [device("g0"), device("g1", "Unhealthy")]
    old, new = Rig(behavior=Behavior(unhealthy_devices_allocatable=True)), Rig()
    for rig in (old, new):
        rig.plug(GPU, *listed)

    assert list(old.manager.allocatable_devices()[GPU]) == ["g0", "g1"]
    assert list(new.manager.allocatable_devices()[GPU]) == ["g0"]


def test_a_trusting_kubelet_does_not_look_until_the_plugin_has_reported() -> None:
    """S5.16, a variant that is no release: the record counts, whatever runs."""
    rig = Rig(behavior=Behavior(trusts_checkpoint=True))
    rig.plug(GPU, "g0")
    recorded, unrecorded = pod("p1", {GPU: 1}), pod("p2", {GPU: 1})
    rig.admit(recorded)
    rig.start(sources_ready=True)

    assert rig.admit(recorded).admitted
    assert not rig.admit(unrecorded).admitted
    rig.plug(GPU, "g1")
    assert rig.admit(recorded).message == rig.message(
        "previously allocated devices are no longer healthy; "
        "cannot allocate unhealthy devices example.com/gpu"
    )


def test_hints_are_refused_when_the_release_before_them_cannot_be_durable() -> None:
    """S7.2 with a database: nothing may be given that is not free there."""
    rig = Rig(persistence=lambda _: DatabasePersistence())
    rig.plug(GPU, "g0")
    rig.admit(pod("p1", {GPU: 1}))
    rig.end("p1")
    rig.write_error = "database or disk is full"
    asked = pod("p2", {GPU: 1})

    of_pod = rig.run(rig.manager.pod_topology_hints(asked))

    assert isinstance(of_pod, StateNotCommitted)
    assert rig.run(rig.manager.topology_hints(asked, asked.containers[0].name)) == of_pod
    assert rig.run(rig.manager.release_inactive()) == ()
    assert rig.held("p1") == ["g0"]


def test_a_reassignment_that_fails_gives_the_old_devices_back() -> None:
    """Under `transactional` also what it had replaced already."""
    rig = Rig(readmission=Readmission.REASSIGN, reservations=Reservations.TRANSACTIONAL)
    rig.plug(GPU, "g0", "g1")
    rig.plug(NIC, "n0", "n1")
    created = pod("p1", {GPU: 1, NIC: 1})
    rig.admit(created)
    rig.report(GPU, "g1")
    rig.report(NIC, "n1")

    def fail_second(call: AllocateCall) -> PluginReply:
        del call
        return CallFailed("rpc error: code = Unknown desc = no")

    answer, rig.on_allocate = (
        rig.on_allocate,
        lambda call: fail_second(call) if call.resource == NIC else answer(call),
    )
    admission = rig.admit(created)

    assert not admission.admitted
    assert rig.held("p1", resource=GPU) == ["g0"]
    assert rig.held("p1", resource=NIC) == ["n0"]
    assert rig.manager.violations() == []


def test_a_reassignment_keeps_what_is_healthy() -> None:
    """Only the devices that are gone are chosen again."""
    rig = Rig(readmission=Readmission.REASSIGN)
    rig.plug(GPU, "g0", "g1", "g2")
    created = pod("p1", {GPU: 2})
    rig.admit(created)
    rig.report(GPU, "g1", "g2", "g3")

    assert rig.admit(created).admitted
    assert rig.held("p1") == ["g1", "g2"]


def test_a_stream_that_ends_before_its_first_list_leaves_capacity_0_and_no_resource() -> None:
    """S2.6: a pod that is forced onto the node is admitted without devices."""
    rig = Rig()
    rig.manager.register(GPU, PluginOptions())
    rig.manager.disconnect(GPU)

    capacity = rig.manager.capacity()

    assert dict(capacity.total) == {GPU: 0}
    assert dict(capacity.allocatable) == {}
    assert rig.admit(pod("p1", {GPU: 1})).admitted
    assert rig.calls == []


def test_the_end_of_a_grace_period_is_committed() -> None:
    """S2.10 with a database."""
    rig = Rig(persistence=lambda _: DatabasePersistence())
    rig.plug(GPU, "g0")
    rig.manager.disconnect(GPU)
    rig.pass_time(Duration(5 * MINUTE + 1))

    assert rig.run(rig.manager.expire_endpoints()) == (GPU,)
    assert rig.commits[-1] == (ResourceRemoved(NodeName("n0"), rig.facts.now, GPU),)
    rig.plug(GPU, "g0")
    assert isinstance(rig.commits[-1][0], DevicesReported)


def test_a_release_that_was_overtaken_by_another_frees_nothing_twice() -> None:
    """Both were asked while the pod was recorded; the second commit comes first."""
    rig = Rig(persistence=lambda _: DatabasePersistence())
    rig.plug(GPU, "g0")
    rig.admit(pod("p1", {GPU: 1}))
    rig.end("p1")
    first, second = rig.manager.release_inactive(), rig.manager.release_inactive()
    next(first)

    assert rig.run(second) == ("p1",)
    with pytest.raises(StopIteration) as end:
        first.send(Stored())
    assert end.value.value == ()
    assert rig.manager.violations() == []


def test_reservations_of_two_calls_in_flight_are_dropped_one_by_one() -> None:
    """S3.11: a restart of one container runs beside the admission of another pod."""
    pool = DevicePool()
    pool.fold([device("g0"), device("g1"), device("g2")], Behavior())
    for one in ("g0", "g1", "g2"):
        pool.reserve(ids(one))

    pool.unreserve(ids("g0"))
    pool.hold(ids("g1"))

    assert list(pool.reserved or ()) == ["g2"]
    assert pool.allocated() == ("g1", "g2")
    pool.unreserve(ids("g2"))
    assert pool.reserved is None
    assert pool.allocated() == ("g1",)


def test_a_list_that_overtakes_the_commit_of_an_earlier_one_is_the_one_that_counts() -> None:
    """The second list is told while the first is on its way; only the second is known after."""
    rig = Rig(persistence=lambda _: DatabasePersistence())
    rig.manager.register(GPU, PluginOptions())
    lists = [[device("g0")], [device("g0"), device("g1")]]
    first, second = (rig.manager.report_devices(GPU, listed) for listed in lists)
    next(first)
    next(second)

    for reporting in (first, second):
        with pytest.raises(StopIteration) as end:
            reporting.send(Stored())
        assert end.value.value == ""

    rig.report(GPU, "g0", "g1")
    assert rig.commits == []
    rig.report(GPU, "g0")
    assert len(rig.commits) == 1
